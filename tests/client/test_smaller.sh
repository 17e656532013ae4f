#!/bin/sh
# A device built without the channel gaussian and without layers over images
# opens other mechanisms, and refuses those with a sentence: compiles the
# trusted sources as -DSOTTO_DEVICE_GAUSSIAN=OFF and -DSOTTO_DEVICE_IMAGES=OFF
# would, and all of them.
set -eu
source=${SOTTO_SOURCE_DIR:-.}
corpus=$source/fuzz/corpus/mechanism
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# open_with LEFT_OUT FLAGS...: what a device without these sources says
open_with() {
    left_out=$1
    shift
    sources=$(find "$source"/src/base "$source"/src/random \
        "$source"/src/channel "$source"/src/report "$source"/src/encode \
        "$source"/src/client -name '*.c' |
        grep -vE "/(entropy_os|permute|seeded|$left_out)\.c\$")
    # shellcheck disable=SC2086
    "${CC:-cc}" -std=c11 -O1 -ffp-contract=off "$@" -I"$source/include" \
        -I"$source/src" $sources "$source/tests/client/smaller_probe.c" \
        -o "$work/probe"
    "$work/probe" "$corpus/flip-2" "$corpus/laplace-8" "$corpus/gaussian-4" \
        "$corpus/image"
}

unknown='the mechanism uses a channel this device does not know'
images='this device was built without layers over images'
check() {
    expected=$1
    shift
    printf '%b\n' "$expected" >"$work/expected"
    open_with "$@" >"$work/said"
    diff "$work/expected" "$work/said"
}
check 'opened\nopened\nopened\nopened' nothing
check "opened\nopened\n$unknown\nopened" 'gaussian|dgauss' \
    -DSOTTO_WITHOUT_GAUSSIAN
check "opened\nopened\nopened\n$images" 'image' -DSOTTO_WITHOUT_IMAGES
