#!/bin/sh
# test_channels.sh: mixed columns, a regression target and every channel, from
# train to decode.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# Numbers, categories between them, and y, which depends on them.
awk 'BEGIN {
    print "age,colour,height,weight,size,y"
    for (i = 0; i < 3000; i++)
        printf "%d,%s,%.2f,%d,%s,%.1f\n", 20 + i % 60,
            i % 3 ? "red" : "blue", 1.5 + (i % 50) / 100, 50 + i % 70,
            i % 2 ? "S" : "L", 10 + (i % 60) / 10
}' >mixed.csv

# truth FILE: every mean lies in its interval, in the column's own units.
cat >truth.py <<'END'
import csv, json, sys
rows = list(csv.DictReader(open("mixed.csv")))
found = [json.loads(line) for line in open(sys.argv[1])]
names = {row["name"] for row in found}
assert names == {"age", "colour", "height", "weight", "size", "y"}, names
for row in found:
    values = [r[row["name"]] for r in rows]
    if row["kind"] == "mean":
        values = [float(v) for v in values]
        spread = max(values) - min(values)
        truth = sum(values) / len(values)
        assert row["high"] - row["low"] < 2 * spread, row
    else:
        truth = values.count(row["category"]) / len(values)
    assert row["low"] <= truth <= row["high"], (truth, row)
    assert row["delta"] == float(sys.argv[2]), row
END

for numbers in laplace window duchi gaussian; do
    for categories in flip subset; do
        m=$numbers-$categories.sotto delta=0
        set -- --data mixed.csv --label y --eps 12 --numbers $numbers \
            --categories $categories
        if [ $numbers = gaussian ]; then
            delta=0.000001
            set -- "$@" --delta $delta
        fi
        run 0 train direct "$@" -o $m
        if [ $numbers = gaussian ]; then
            grep -q "epsilon 12 and delta 0.000001 per report" out ||
                fail "train does not say the delta"
        else
            grep -q delta out && fail "$numbers: train speaks of a delta"
        fi
        run 0 inspect $m
        grep -q -E "^ +1  features  $numbers " out || fail "not by $numbers"
        grep -q -E "  label     window " out || fail "y is not by window"
        grep -q -E "  features  $categories " out || fail "not by $categories"
        awk 'length > 80 { exit 1 }' out || fail "inspect is too wide"
        run 0 inspect $m --json
        json out
        run 0 privatise $m mixed.csv --seed 3 -o r.reports --json
        json out
        grep -q "\"delta\": $([ $delta = 0 ] && echo 0 || echo 1e-06)," out ||
            fail "privatise --json: $(cat out)"
        run 0 privatise $m mixed.csv --seed 3 -o r.jsonl
        grep -q "simulates epsilon 12\( and delta 0.000001\)\?\.$" out ||
            fail "privatise: $(cat out)"
        run 0 decode $m r.reports -o a.csv --confidence 0.9999 --json
        python3 truth.py out $delta || fail "$m: estimates"
        cp out a.out
        run 0 decode $m r.jsonl -o b.csv --confidence 0.9999 --json
        cmp -s out a.out || fail "$m: the forms give different estimates"
        cmp -s a.csv b.csv || fail "$m: the forms decode differently"
        run 0 privatise $m mixed.csv --force -o real.reports
    done
done

# The promise is the one that is kept.
run 0 inspect gaussian-flip.sotto
tr '\n' ' ' <out | grep -q "plus delta, which is 0.000001" || fail "no delta"
grep -q "pure local" out && fail "gaussian is not pure"
run 0 inspect duchi-flip.sotto
tr '\n' ' ' <out | grep -q "This is pure local differential" || fail "not pure"
run 0 privatise gaussian-flip.sotto mixed.csv --seed 1 -o g.reports
run 0 decode gaussian-flip.sotto g.reports
grep -q "^3000 reports, epsilon 12 and delta 0.000001 each" out ||
    fail "decode does not say the delta"

# The label's channel; a label that is a category.
run 0 train direct --force --data mixed.csv --label y --label-channel laplace --eps 1 \
    -o x.sotto
run 0 inspect x.sotto
grep -q -E "  label     laplace " out || fail "y is not by laplace"
run 0 train direct --force --data mixed.csv --label colour --label-channel subset \
    --eps 1 -o x.sotto
run 0 inspect x.sotto
grep -q -E "  label     subset " out || fail "colour is not by subset"
run 0 train direct --force --data mixed.csv --label size --categories subset --eps 1 \
    -o x.sotto
run 0 inspect x.sotto
grep -q -E "  label     flip " out || fail "size is not by flip"
rm x.sotto

# What is refused, and what to do about it.
bad() {
    message=$1
    shift
    run 2 train direct --data mixed.csv --eps 1 "$@" -o x.sotto
    says "$message"
    absent x.sotto
}
bad "channels for numbers are laplace" --numbers flip
bad "channels for categories are flip, subset" --categories duchi
bad "needs a label" --label-channel window
bad "channels for numbers are" --label y --label-channel flip
bad "--delta is missing, and the channel 'gaussian' needs one" --numbers gaussian
bad "--delta is for a channel that no column goes through: leave it out" --numbers duchi --delta 0.000001
bad "--delta is for a channel that no column goes through: leave it out" --delta 0.000001
bad "plain decimal" --numbers gaussian --delta 1e-6
bad "between 0.000000000001 and 0.01" --numbers gaussian --delta 0.5
bad "--l is too large" --numbers gaussian --delta 0.000001 --l 1048576
finish
