#!/bin/sh
# test_decode_missing.sh: a column with gaps, from train to decode, fit and
# export: what is missing is told apart, and nothing else is called a mean of
# those who have a value.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# has FILE TEXT, hasnt FILE TEXT: the text is there, or is not.
has() {
    grep -qF -e "$2" "$1" || fail "$1 does not say '$2'"
}
hasnt() {
    ! grep -qF -e "$2" "$1" || fail "$1 says '$2'"
}

# people N SEED: of two thirds a value, 30 or 50; a class that goes with it.
people() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed); print "sugar,age,colour,who"
        for (i = 0; i < n; i++) {
            high = rand() < 0.5
            printf "%s,%d,%s,%s\n",
                rand() < 1 / 3 ? "NA" : 30 + 20 * high, 20 + 60 * rand(),
                rand() < 0.25 ? "" : i % 2 ? "red" : "blue", high ? "b" : "a"
        }
    }'
}
people 200 1 >aux.csv
people 3000 2 >people.csv

run 0 train direct --data aux.csv --label who --range sugar=0:100 \
    --range age=0:100 --eps 24 -o m.sotto
has out "A missing value is told apart in sugar ("
has out ", colour ("
run 0 inspect m.sotto
has out "a missing one is told apart"
has out "whether sugar is missing"
run 0 privatise m.sotto people.csv --seed 1 -o r.reports

# ---- Means and shares ------------------------------------------------------------
run 0 decode m.sotto r.reports
has out "mean of known"
has out "sugar = (missing)"
has out "colour = (missing)"
has out "mean: of all people. Who has no value counts as the middle of the range"
run 0 decode m.sotto r.reports --json
has out '"name": "sugar", "kind": "mean"'
has out '"of": "known", "missing": "told", "unbounded": false'
has out '"name": "age", "kind": "mean"'
has out '"of": "all", "missing": "middle", "unbounded": false'
# within five deviations of 40, and of a third
python3 - <<'P' || fail "the estimates are off"
import json
rows = [json.loads(line) for line in open("out")]
mean, gone = rows[0], rows[1]
assert abs(mean["value"] - 40) < 5 * mean["noise_deviation"] + 1, mean
assert abs(gone["value"] - 1 / 3) < 5 * gone["noise_deviation"] + 0.05, gone
assert gone["category"] == "(missing)"
P

# ---- The old way, said plainly -----------------------------------------------------
run 0 train direct --data aux.csv --label who --range sugar=0:100 \
    --range age=0:100 --no-missing --eps 24 -o old.sotto
hasnt out "told apart"
run 0 privatise old.sotto people.csv --seed 1 -o old.reports
run 0 decode old.sotto old.reports
hasnt out "mean of known"
has out "it is not the mean of those who have one"

# ---- Nobody has a value --------------------------------------------------------------
sed 's/^[0-9.]*,/NA,/' people.csv >nobody.csv
run 0 privatise m.sotto nobody.csv --seed 1 -o none.reports
run 0 decode m.sotto none.reports
has out "unknown: the share of those who have a value cannot be told from 0,"
run 0 decode m.sotto none.reports --json
has out '"low": null, "high": null'
has out '"unbounded": true'

# ---- Distributions ---------------------------------------------------------------------
run 0 decode m.sotto r.reports --quantiles 0.5 --histogram 2
has out "sugar, of those who have a value:"
has out "age, of all people, the middle for a missing value:"
has out "share 0 to 50"
run 2 decode m.sotto r.reports --quantiles 0.5,1
has err "numbers between 0 and 1"
run 2 decode m.sotto r.reports --histogram 2.5

# ---- Learning, looking -------------------------------------------------------------------
run 0 fit m.sotto r.reports --aux aux.csv --epochs 2 -o model
run 0 predict model people.csv -o predicted.csv
run 2 train direct --data aux.csv --label who --missing who --eps 4 -o x.sotto
has err 'is the label, which does not tell what is missing'

finish
