#!/bin/sh
# Every test that docs/threat-model.md names is there; its attacks are numbered
# in order, at least 25, and each names a test or says "-".
set -eu
source=${SOTTO_SOURCE_DIR:-.}
page=$source/docs/threat-model.md

status=0
named=$(grep -oE 'tests/[a-z_]+/test_[a-z0-9_]+\.(c|sh|py)' "$page" | sort -u)
for test in $named; do
    [ ! -f "$source/$test" ] || continue
    echo "docs/threat-model.md: there is no $test" >&2
    status=1
done

awk -F'|' '
    $2 ~ /^ [0-9]+ $/ {
        if ($2 + 0 != ++rows) { print "row" $2 "is out of order"; bad = 1 }
        if ($4 !~ /tests\// && $4 !~ /^ - /) {
            print "row" $2 "names no test and does not say so"; bad = 1
        }
    }
    END {
        if (rows < 25) { print "only " rows + 0 " attacks"; bad = 1 }
        exit bad
    }' "$page" >&2 || status=1
exit "$status"
