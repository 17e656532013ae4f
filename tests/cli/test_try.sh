#!/bin/sh
# test_try.sh: sotto try on a table made here: what it finds, what it says where
# nothing can be learnt, its page, what it refuses; and that rows which a
# mechanism was fitted to are refused by privatise.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# A number that tells the class, one that tells nothing, a number of each row,
# a column without values; and a table whose class nothing tells.
awk 'BEGIN {
    srand(1); print "id,value,noise,empty,class"
    for (i = 1; i <= 240; i++) {
        yes = rand() < 0.45
        printf "%d,%.6f,%.3f,,%s\n", i, 5 * yes + 4 * rand(), rand(),
            yes ? "yes" : "no"
    }
}' >good.csv
awk 'BEGIN {
    srand(2); print "noise,class"
    for (i = 1; i <= 240; i++)
        printf "%.3f,%d\n", rand(), rand() < 0.3
}' >none.csv

# ---- What it finds -----------------------------------------------------------
run 0 try good.csv --label class --eps 8 --draws 1 --json -o page
json out
grep -q '"aux": 96, "people": 96, "test": 48' out || fail "split: $(head -1 out)"
grep -q '"row": "left-out", "name": "id"' out || fail "id is not left out"
grep -q '"row": "left-out", "name": "empty"' out || fail "empty is not left out"
grep -q '"row": "column", "name": "value"' out || fail "no column: $(cat out)"
grep -q '"kind": "direct", "preferred": [a-z]*, "runs": 1' out ||
    fail "direct: $(cat out)"
grep -q '"preferred": true.*"before_verdict": "learns"' out ||
    fail "nothing is learnt: $(cat out)"
python3 - <<'END' || fail "verdicts are not by the error of one campaign"
import json
rows = [json.loads(line) for line in open("out")]
for row in rows:
    if row["row"] == "campaign":
        once = row["before_gain_once"]
        assert once >= row["before_gain_error"], row
        assert (row["before_verdict"] == "learns") == (
            row["before_gain"] > 2 * once), row
END
grep -q "<h1>What reports could teach about class</h1>" page/try.html ||
    fail "no page"
grep -q "is right about" page/try.html || fail "no verdict"
grep -q "^<pre>sotto train [a-z]* --data good.csv --label class --eps 8" \
    page/try.html || fail "no commands"
grep -q "{{" page/try.html && fail "the page has holes"
grep -qi "src=\|href=\|<script" page/try.html && fail "the page loads something"
grep -q "</svg>" page/try.svg || fail "no plot"

run 0 try good.csv --label class --eps 8 --draws 1 --people 50 --json
grep -q '"aux": 96, "people": [45][0-9], "test": 48' out ||
    fail "--people: $(head -1 out)"

# ---- Where nothing can be learnt ----------------------------------------------
run 0 try none.csv --label class --eps 1 --draws 1
grep -q "for everybody" out || fail "nothing is learnt, and it does not say so"
grep -q '"class" has 2 classes' out || fail "0 and 1 are classes: $(cat out)"
grep -q -e "--category class" out || fail "no --category: $(cat out)"

# ---- What it refuses -----------------------------------------------------------
run 2 try good.csv --label value
says "holds numbers" "no class label"
run 2 try good.csv --label clas
says 'no column "clas"' 'did you mean "class"'
run 2 try good.csv
says "--label"
run 2 try good.csv --label class --eps 1,x
says "'x' is no epsilon"
head -40 good.csv >few.csv
run 2 try few.csv --label class
says "39 of 39 rows have a label"
awk -F, 'NR == 1 || $5 == "no"' good.csv >one.csv
run 2 try one.csv --label class
says "same value in every row"

# ---- Rows that a mechanism was fitted to ----------------------------------------
head -121 good.csv >aux.csv
{
    head -1 good.csv
    tail -120 good.csv
} >others.csv
run 0 train direct --data aux.csv --label class --keep value --eps 4 --seen \
    -o m.sotto
[ "$(stat -c %a m.seen)" = 600 ] || fail "m.seen is for others, too"
run 3 privatise m.sotto aux.csv -o r.reports
says "120 of 120 rows are among those"
[ -e r.reports ] && fail "reports of auxiliary rows"
run 0 privatise m.sotto aux.csv --seed 1 -o r.reports
run 0 privatise m.sotto others.csv --json -o r.reports
grep -q '"seen_checked": true' out || fail "seen_checked: $(cat out)"
{
    cat others.csv
    sed -n 2,20p aux.csv
} >mixed.csv
run 3 privatise m.sotto mixed.csv -o mixed.reports
cp aux.csv zz.seen
run 2 train direct --data zz.seen --label class --eps 4 --seen -o zz.sotto
cmp aux.csv zz.seen || fail "--seen wrote over the data"
run 0 train direct --data aux.csv --label class --keep value --eps 3 --force \
    -o other.sotto
cp m.seen other.seen
run 2 privatise other.sotto aux.csv -o other.reports
says "of another mechanism"
printf broken >m.seen
run 2 privatise m.sotto others.csv --force -o r.reports
says "m.seen"
rm m.seen
run 0 privatise m.sotto aux.csv --json --force -o r.reports
grep -q '"seen_checked": false' out || fail "seen_checked: $(cat out)"
finish
