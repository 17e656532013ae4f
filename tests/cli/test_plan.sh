#!/bin/sh
# test_plan.sh: sotto plan: shares both ways round, accuracy with a cheap kind,
# what is refused and what cannot be told.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
data=$SOTTO_SOURCE_DIR/data/wdbc.csv

# ---- Shares, without a record ------------------------------------------------
run 0 plan --categories region=40 --share 0.01 --people 5000 --eps 1
grep -q '^5,000 people at epsilon 1 cannot tell the shares of 41 categories' \
    out || fail "not told that it is too few: $(cat out)"
run 0 plan --categories region=40 --share 0.01 --eps 1 --json
json out
needed=$(sed -n 's/.*"answer": "people".*"people": \([0-9]*\).*/\1/p' out)
[ "$needed" -gt 100000 ] || fail "people needed: $(cat out)"
# As many are enough, and a hundred fewer are not.
run 0 plan --categories region=40 --share 0.01 --eps 1 --people "$needed"
grep -q 'are enough to tell' out || fail "its own answer is too few"
run 0 plan --categories region=40 --share 0.01 --eps 1 \
    --people "$((needed - 100))"
grep -q 'cannot tell' out || fail "fewer are enough"
# More questions share the budget.
run 0 plan --number age=0:120 --categories region=40 --people 5000 --eps 1 \
    --json
grep -q '"name": "age", "kind": "mean"' out || fail "no mean: $(cat out)"

# A plot: a line for each number of people, or for each question.
run 0 plan --number age=0:120 --categories region=40 --people 5000,20000 \
    --eps 1,2,4 -o widths.svg
grep -q '>half the interval, %<' widths.svg || fail "no plot of errors"
grep -q '>20,000 people<' widths.svg || fail "no line for 20,000 people"
run 0 plan --number age=0:120 --categories region=40 --people 5000 \
    --eps 1,2,4 -o questions.svg
grep -q '>region, shares<' questions.svg && grep -q '>age<' questions.svg ||
    fail "no line for each question"
run 2 plan --categories region=40 --share 0.01 --eps 1,2 -o none.svg
says "a plot of errors is against epsilon" "give --people N"
absent none.svg

# ---- A mechanism, and records ------------------------------------------------
run 0 train direct --data "$data" --label diagnosis --keep radius_mean \
    --range radius_mean=5:30 --eps 4 -o wdbc.sotto
run 0 plan wdbc.sotto --people 1000 --json
json out
[ "$(wc -l <out)" -eq 2 ] || fail "not two questions: $(cat out)"
run 0 plan --data "$data" --label diagnosis --keep radius_mean --eps 4 \
    --people 1000 --share 0.05
grep -q '^Formula and simulation: ' out || fail "not compared: $(cat out)"

# ---- A column with gaps ------------------------------------------------------
# What plan says of it is what decode then prints, within a tenth.
awk 'BEGIN {
    srand(3); print "sugar"
    for (i = 0; i < 2000; i++)
        print rand() < 0.5 ? "NA" : 100 + 100 * rand()
}' >gaps.csv
run 0 plan --data gaps.csv --range sugar=0:200 --eps 4 --people 2000 --json
json out
cp out planned
run 0 train direct --data gaps.csv --range sugar=0:200 --eps 4 -o gaps.sotto
run 0 privatise gaps.sotto gaps.csv --seed 1 -o gaps.reports
run 0 decode gaps.sotto gaps.reports --json
python3 - <<'P' || fail "plan and decode differ: $(cat planned out)"
import json
def rows(path):
    return [json.loads(line) for line in open(path)]
planned = [row for row in rows("planned") if "half" in row]
decoded = [row for row in rows("out") if "high" in row]
assert [row["kind"] for row in planned] == ["mean", "missing"]
assert abs(planned[0]["absent"] - 0.5) < 0.05
for plan, found in zip(planned, decoded):
    half = (found["high"] - found["low"]) / 2
    assert abs(plan["half"] / half - 1) < 0.1, (plan, found)
P
run 0 plan --data gaps.csv --eps 4 --people 2000
grep -q '^The mean of sugar is of those who have a value: [45][0-9]' out ||
    fail "does not say of whom the mean is: $(cat out)"
grep -q '^KIND: direct, which' out || fail "names categories: $(cat out)"
run 0 plan gaps.sotto --people 2000
grep -q 'here everybody is taken to' out || fail "assumes in silence: $(cat out)"

# ---- A schema in place of records --------------------------------------------
run 0 schema infer "$data" --label diagnosis -o wdbc.schema
run 0 plan --schema wdbc.schema --keep radius_mean --people 1000 --eps 2 --json
json out
grep -q '"name": "radius_mean", "kind": "mean".*"low": 8, "high": 26' out ||
    fail "not the schema's range: $(cat out)"
grep -q '"name": "diagnosis", "kind": "shares", "categories": 3' out ||
    fail "not the schema's label: $(cat out)"
# A schema that was edited says what the records' columns are.
sed 's/^range = 8 : 26 .*/range = 0 : 40/' wdbc.schema >edited.schema
run 0 plan --schema edited.schema --data "$data" --keep radius_mean \
    --people 1000 --eps 2 --share 1% --json
json out
grep -q '"name": "radius_mean", "kind": "mean".*"low": 0, "high": 40, "known": true' \
    out || fail "not the edited range, or not the records: $(cat out)"
run 0 plan --schema edited.schema --data "$data" --kind direct --eps 4 \
    --people 300 --campaigns 2 --silent 0 --liars 0
grep -q 'records of 2 classes' out || fail "not the schema's label: $(cat out)"
run 2 plan --schema wdbc.schema --accuracy 0.9
says "nobody can tell how well the label follows from the record"

# ---- Accuracy ----------------------------------------------------------------
run 0 plan --data "$data" --label diagnosis --kind direct --eps 4,8 \
    --people 300,600 --campaigns 3 --silent 0 --liars 0 -o plan.svg
grep -q '^From epsilon 4 on: train direct --lambda 0.5, .*label: [a-z_]*\.$' \
    out || fail "not one column at epsilon 4: $(cat out)"
grep -q '^From epsilon 8 on: .*label: [a-z_]*,[a-z_]*\.$' out ||
    fail "not two columns at epsilon 8: $(cat out)"
grep -q '^<svg' plan.svg || fail "no plot"
run 0 plan --data "$data" --label diagnosis --kind direct --eps 8 \
    --people 600 --campaigns 3 --accuracy 0.7 --json
json out
[ "$(grep -c '"accuracy"' out)" -eq 3 ] || fail "not 3 points: $(cat out)"
cp out first
run 0 plan --data "$data" --label diagnosis --kind direct --eps 8 \
    --people 600 --campaigns 3 --accuracy 0.7 --json
cmp -s out first || fail "another answer the second time"
# Three campaigns of 20 people tell nothing.
run 0 plan --data "$data" --label diagnosis --kind direct --eps 0.5 \
    --people 20 --campaigns 3 --silent 0 --liars 0
grep -q ' 0.5           20 cannot be told: ' out || fail "told: $(cat out)"
run 0 plan --data "$data" --label diagnosis --kind direct --eps 0.5 \
    --people 20 --campaigns 3 --silent 0 --liars 0 --json
grep -q '"told": false, "low": null, "high": null' out ||
    fail "told: $(cat out)"
# Both kinds, and which is better.
head -n 101 "$data" >few.csv
run 0 plan --data few.csv --label diagnosis --keep radius_mean \
    --keep texture_mean --eps 2 --people 200 --campaigns 2 --silent 0 \
    --liars 0
grep -q '^KIND: [cd]' out && grep -q '^Why: .* about .* about ' out ||
    fail "not compared: $(cat out)"

# ---- Columns -----------------------------------------------------------------
# A rare class that one column makes likelier, and one that gives it away.
awk 'BEGIN {
    srand(4); print "risk,city,flag,ill"
    for (i = 0; i < 1500; i++) {
        risk = rand(); ill = rand() < (risk > 0.7 ? 0.42 : 0.02)
        printf "%.3f,%s,%d,%s\n", risk, rand() < 0.5 ? "a" : "b", ill,
            ill ? "yes" : "no"
    }
}' >rare.csv
run 0 plan --data rare.csv --label ill --kind direct --eps 8 --people 4000 \
    --campaigns 4 --silent 0 --liars 0
grep -q '^warning: "flag" gives the answer away' out ||
    fail "no warning: $(cat out)"
grep -q '^left out: "flag"' out || fail "flag is not left out: $(cat out)"
grep -q 'most of the label: risk\.$' out || fail "not by risk: $(cat out)"
# The largest class is as often right, and the model ranks all the same.
grep -q 'no better, but it ranks people' out || fail "no ranks: $(cat out)"
grep -q 'tells who is likelier to have a class (AUC 0.8' out ||
    fail "no ranks in words: $(cat out)"
grep -q 'no more than which class' out && fail "says that nothing is learnt"
run 0 plan --data rare.csv --label ill --kind direct --eps 8 --people 4000 \
    --campaigns 4 --silent 0 --liars 0 --json
json out
grep -q '"answer": "warning", "problem": "gives-answer-away", "column": "flag"' \
    out || fail "no warning in JSON: $(cat out)"
grep -q '"answer": "left-out", "column": "flag"' out ||
    fail "not left out in JSON: $(cat out)"
grep -q '"auc": 0.8[0-9]*, .*"ranks": true' out || fail "no ranks: $(cat out)"
# What is named is taken; what is dropped leaves the choice to plan.
run 0 plan --data rare.csv --label ill --keep flag --kind direct --eps 8 \
    --people 500 --campaigns 2 --silent 0 --liars 0 --json
grep -q '"columns": "flag"' out || fail "flag is kept: $(cat out)"
run 0 plan --data "$data" --label diagnosis --drop area_worst --kind direct \
    --eps 4 --people 300 --campaigns 2 --silent 0 --liars 0
grep -q '^From epsilon 4 on: .*label: [a-z_]*\.$' out ||
    fail "--drop ends the choice of columns: $(cat out)"
# A column that tells nothing is taken if it is named.
run 0 plan --data rare.csv --label ill --keep city --kind direct --eps 8 \
    --people 300 --campaigns 2 --silent 0 --liars 0

# ---- What cannot be told, and what is wrong ----------------------------------
run 2 plan --data "$data" --drop diagnosis --accuracy 0.9
says "nobody can tell how well the label follows from the record"
run 2 plan
says "give a mechanism M, records with --data F, or what will be asked"
run 2 plan --categories region --people 10
says "write COLUMN=NUMBER"
run 2 plan --number age --people 10
says "write COLUMN=LOW:HIGH"
run 2 plan --categories region=40
says "how many people, or how sharp"
run 2 plan --categories region=40 --people 10,5
says "each larger than the one before"
run 2 plan --data rare.csv --label risk --people 100
says 'column "risk" holds numbers, more than 20 different ones' "--mean 0.01"
run 2 plan --data rare.csv --label ill --accuracy 90
says "write 0.9 or 90%"
run 2 plan --data rare.csv --label ill --accuracy 900%
says "not a share from 0.01 to 1, or from 1% to 100%"
run 2 plan --data rare.csv --label ill --kind codbook
says "did you mean 'codebook'"
run 2 plan --data rare.csv --label ill -o plot.png
says "written as SVG" "say -o plot.svg"
absent plot.png
run 2 plan rare.csv --label ill
says "looks like a table" "give a table with --data 'rare.csv'"
run 2 plan wdbc.sotto --eps 1 --people 10
says "M has its own epsilon"

finish
