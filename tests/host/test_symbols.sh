#!/bin/sh
# The installed libraries show what include/sotto declares and nothing else, a
# program links and runs with each of them, libsotto.so has its soname, and
# sotto-collector needs no library for learning.
set -eu
source=${SOTTO_SOURCE_DIR:-.}
build=${SOTTO_BUILD_DIR:-build}
[ -z "${SOTTO_SANITIZE:-}" ] || exit 77

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1" >&2; exit 1; }

grep -hoE '\bsotto_[a-z0-9_]+\(' "$source"/include/sotto/*.h | tr -d '(' |
    sort -u >"$work/declared"
nm -g --defined-only "$build/libsotto.a" >"$work/libsotto.a"
nm -g --defined-only "$build/libsotto-client.a" >"$work/libsotto-client.a"
nm -D --defined-only "$build/libsotto.so" | grep -v ' A SOTTO_' \
    >"$work/libsotto.so"
for library in libsotto.a libsotto-client.a libsotto.so; do
    awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' "$work/$library" |
        sort -u >"$work/shown"
    unprefixed=$(grep -vc '^sotto_' "$work/shown" || true)
    echo "$library: $(wc -l <"$work/shown") symbols, $unprefixed unprefixed"
    [ "$unprefixed" = 0 ] || fail "$library shows what is not sotto_*"
    strange=$(comm -23 "$work/shown" "$work/declared")
    [ -z "$strange" ] || fail "no header declares $strange"
done
comm -13 "$work/shown" "$work/declared" >"$work/missing"
[ ! -s "$work/missing" ] || fail "libsotto.so lacks $(xargs <"$work/missing")"

cat >"$work/device.c" <<'C'
#include "sotto/client.h"
#include <stdio.h>
#ifdef BARE
int sotto_entropy(void *buffer, size_t size) { (void)buffer; return size > 0; }
#endif
int main(void)
{
    puts(sotto_status_message(SOTTO_STATUS_PIN));
    return sotto_client_size(NULL, 0, NULL, NULL) == SOTTO_STATUS_OK;
}
C
# An archive brings all of its one object: what libsotto.a wants is in the .pc.
cc="${CC:-cc} -std=c11 -I$source/include $work/device.c -o $work/device"
$cc -DBARE "$build/libsotto-client.a"
"$work/device" >"$work/said"
$cc "$build/libsotto.so"
LD_LIBRARY_PATH=$build "$work/device" | cmp - "$work/said"
# shellcheck disable=SC2046
$cc "$build/libsotto.a" $(sed -n 's/^Libs.private: //p' "$build/sotto.pc") \
    -lsodium -lutf8proc -ljansson -lsqlite3 -lpq -lcurl -larchive -lmicrohttpd -lgnutls -lmpfr -lgmp -lpng -lz
"$work/device" | cmp - "$work/said"

readelf -d "$build/libsotto.so" | grep -qE 'SONAME.*\[libsotto\.so\.[0-9.]+\]' ||
    fail "libsotto.so has no soname"
if readelf -d "$build/sotto-collector" | grep -E 'NEEDED.*(blas|dnnl|png)'; then
    fail "sotto-collector needs a library for learning"
fi
"$build/sotto-collector" serve --help >/dev/null
