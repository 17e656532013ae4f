#!/bin/sh
# From the encoder's output to the finished report, the instructions executed
# depend on neither the record nor the noise (invariant 7): callgrind counts
# them for records at the domain's centre, edges and vertices, for NaN and
# infinities, for every symbol, and over 1,000 draws of noise, for each channel
# of timing_probe.c; and from a category's text to its symbol, and of networks
# over images with each activation, whatever the floats that go in, and the
# weights, hostile ones too. All counts
# of a setting must be equal. Prints a table: setting, record, reports counted,
# least and most instructions.
set -eu
source=${SOTTO_SOURCE_DIR:-.}
build=${SOTTO_BUILD_DIR:-build}
[ -z "${SOTTO_SANITIZE:-}" ] || exit 77
for tool in valgrind "${CC:-cc}"; do
    command -v "$tool" >/dev/null || { echo "no $tool" >&2; exit 77; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The two archives name each other, hence the first one twice.
"${CC:-cc}" -std=c11 -O2 -D_GNU_SOURCE -I"$source/include" -I"$source/src" \
    -I"$source/tests" "$source/tests/client/timing_probe.c" -s -o "$work/probe" \
    "$build/libsotto_host.a" "$build/libsotto_trusted.a" \
    "$build/libsotto_host.a" \
    -lsodium -ljansson -lpng -lz -lmpfr -lgmp -lm -lpthread

setting=0
while :; do
    status=0
    valgrind --quiet --tool=callgrind --collect-atstart=no \
        --combine-dumps=yes --callgrind-out-file="$work/out" \
        "$work/probe" "$setting" || status=$?
    [ "$status" != 2 ] || break
    [ "$status" = 0 ] || exit 1
    sed -n 's/^desc: Trigger: Client Request: //p; s/^totals: //p' \
        "$work/out" >>"$work/counts"
    rm -f "$work/out"
    setting=$((setting + 1))
done

# Lines alternate: "setting record", then its count. What follows the last
# request of a program (its end) has no name, and counts nothing.
awk '
    /^[^ ]+ [^ ]+$/ { setting = $1; record = $2; next }
    NF == 1 && record != "" && record != "warm" {
        key = sprintf("%-14s %-14s", setting, record)
        if (!(key in n)) { order[++keys] = key; least[key] = $1; most[key] = $1 }
        n[key]++
        if ($1 < least[key]) least[key] = $1
        if ($1 > most[key]) most[key] = $1
        if (!(setting in first)) { first[setting] = $1; settings++ }
        if ($1 != first[setting]) different[setting]++
        total++
    }
    { record = "" }
    END {
        printf "%-14s %-14s %6s %10s %10s\n", "setting", "record", "n",
            "least", "most"
        for (i = 1; i <= keys; i++) {
            key = order[i]
            printf "%s %6d %10d %10d\n", key, n[key], least[key], most[key]
        }
        for (setting in different) {
            printf "%s: %d counts differ\n", setting, different[setting]
            failed = 1
        }
        printf "%d reports in %d settings\n", total, settings
        if (settings < 20 || total < 10000) failed = 1
        exit failed
    }' "$work/counts"
