#!/bin/sh
# The encoder rounds every product before it adds it, on every machine: what
# src/encode/flush.h says of subnormal numbers rests on that (invariant 7).
# Compiles its sources for processors that have a fused multiply-add and fails
# if one is used; then lets the compiler contract, to see that it would be.
set -eu
source=${SOTTO_SOURCE_DIR:-.}
fused='\<(v?fn?m(add|sub|la|ls)[0-9]*[a-z]*|f32x4\.relaxed_n?madd)\>'

# compile TARGET CONTRACT FLAGS...: assembler of the encoder's sources
compile() {
    target=$1 contract=$2
    shift 2
    for file in base/maths encode/forward encode/image encode/schema; do
        clang "--target=$target" "$@" -std=c11 -O2 -ffreestanding \
            "-ffp-contract=$contract" -fno-math-errno -I"$source/include" \
            -I"$source/src" -S -o - "$source/src/$file.c"
    done
}

# check TARGET FLAGS...
check() {
    target=$1
    shift
    found=$(compile "$target" off "$@" | grep -cE "$fused") || true
    would=$(compile "$target" fast "$@" | grep -cE "$fused") || true
    echo "$target: $found fused instructions; $would if the compiler might"
    [ "$found" -eq 0 ] || exit 1
    case $target in wasm32) ;; *) [ "$would" -gt 0 ] || exit 1 ;; esac
}

check x86_64-linux-gnu -mavx2 -mfma
check aarch64-linux-gnu
check wasm32 -mrelaxed-simd
