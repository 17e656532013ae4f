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

# ---- Columns -------------------------------------------------------------------
# A column that gives the answer away is told of and left out; a schema or --keep
# takes it. A number is a category if its owner says so.
awk 'BEGIN {
    srand(5); print "value,noise,kind,flag,class"
    for (i = 1; i <= 300; i++) {
        yes = rand() < 0.45
        printf "%.6f,%.3f,%d,%d,%s\n", 3 * yes + 5 * rand(), rand(),
            1 + int(4 * rand()), yes, yes ? "yes" : "no"
    }
}' >leak.csv
run 0 try leak.csv --label class --eps 8 --draws 1 --category kind
grep -q '^Look: "flag" gives the answer away' out || fail "no warning: $(cat out)"
grep -q '^Left out: "flag" (it may give the answer away' out ||
    fail "flag is not left out: $(cat out)"
grep -q '^If such a column is known before the label is, .* --schema' out ||
    fail "does not say how to take it: $(cat out)"
grep -q -e '^sotto train codebook .*--category kind.* --drop flag' \
    -e '^sotto train direct .*--keep value' out || fail "commands: $(cat out)"
# Every header ends where its column does.
python3 - <<'P' || fail "the table's header is out of line: $(cat out)"
lines = open("out").read().split("\n")
at = next(i for i, line in enumerate(lines) if line.startswith(" epsilon"))
head, row = lines[at], lines[at + 1]
assert len(head) == len(row), (head, row)
for name in ("balanced", "AUC"):
    end = head.index(name) + len(name)
    assert row[end - 1].isdigit() and row[end] in " *", (name, head, row)
P
run 0 schema infer leak.csv --label class -o leak.schema
run 0 try leak.csv --schema leak.schema --eps 8 --draws 1 --json
json out
grep -q '"row": "left-out"' out && fail "the schema is overruled: $(cat out)"
grep -q '"row": "column", "name": "flag"' out || fail "no flag: $(cat out)"
sed 's/^\[flag\].*/&\nuse = drop/' leak.schema >edited.schema
run 0 try leak.csv --schema edited.schema --eps 8 --draws 1
grep -q '"flag"' out && fail "flag is dropped in the schema: $(cat out)"
grep -q '^sotto train [a-z]* --data leak.csv --label class --schema edited.schema' \
    out || fail "the commands have no schema: $(cat out)"
run 0 try leak.csv --label class --keep flag --keep noise --eps 8 --draws 1 --json
grep -q '"row": "column", "name": "flag"' out || fail "flag is kept: $(cat out)"
grep -q '"name": "value"' out && fail "value is not kept: $(cat out)"

# ---- A number as the label -------------------------------------------------------
awk 'BEGIN {
    srand(6); print "size,noise,price"
    for (i = 1; i <= 240; i++) {
        size = 20 + 100 * rand()
        printf "%.1f,%.3f,%.0f\n", size, rand(), 3000 * size + 60000 * rand()
    }
}' >price.csv
run 0 try price.csv --label price --eps 8 --draws 2 --json -o price
json out
grep -q '"row": "table".*"number": true, "mean": [0-9.]*, "rmse_constant"' out ||
    fail "no number: $(cat out)"
grep -q '"row": "clean", "learner": "line", "rows": "people", "r2": 0.9' out ||
    fail "no line: $(cat out)"
grep -q '"row": "column", "name": "size"' out || fail "no column: $(cat out)"
python3 - <<'P' || fail "R2 and the verdict: $(cat out)"
import json
rows = [json.loads(line) for line in open("out")]
kinds = {row["kind"]: row for row in rows if row["row"] == "campaign"}
assert set(kinds) == {"codebook", "direct"}
assert all(row["runs"] == 2 for row in kinds.values())
direct, table = kinds["direct"], rows[0]
assert direct["preferred"] and direct["before_verdict"] == "learns"
assert 0.5 < direct["r2"] < 1
share = (direct["rmse"] / table["rmse_constant"]) ** 2
assert abs(1 - share - direct["r2"]) < 0.03, (direct, table)
P
grep -q "explained at epsilon" price/try.html || fail "no page of a number"
grep -q "{{" price/try.html && fail "the page has holes"
grep -qi "classes\|AUC" price/try.html && fail "the page speaks of classes"
grep -q "best constant" price/try.svg || fail "no plot of a number"
# Its commands run, but for the password.
head -121 price.csv >PEOPLE.csv
cp PEOPLE.csv TEST.csv
run 0 try price.csv --label price --eps 8 --draws 1
grep -q '"price" is a number' out || fail "not said: $(cat out)"
grep -q 'direct explains [0-9]*% of how "price" varies' out ||
    fail "no verdict: $(cat out)"
cp out told
sed -n 's/^sotto train/"$SOTTO" train/p' told >"command"
sh command >trained 2>&1 || fail "train: $(cat command trained)"
run 0 privatise campaign.sotto PEOPLE.csv --seed 1 -o people.reports
sed -n 's/^sotto \(fit\|evaluate\) /"$SOTTO" \1 /p' told >"command"
sh command >fitted 2>&1 || fail "fit: $(cat command fitted)"
grep -q "explains" fitted || fail "nothing is learnt: $(cat fitted)"
# Whole numbers of few values are classes, and numbers if a schema says so.
awk -F, 'NR == 1 { print "size,grade"; next }
    { printf "%s,%d\n", $1, 1 + int($1 / 10) }' price.csv >grades.csv
printf 'sotto-schema = 1\nfrom = public\n[size]\ntype = number\nrange = 20 : 120\n[grade]\ntype = number\nrange = 0 : 15\nuse = label\n' \
    >grades.schema
run 0 try grades.csv --schema grades.schema --eps 8 --draws 1
grep -q '"grade" is a number' out || fail "not by the schema: $(cat out)"

# ---- What it refuses -----------------------------------------------------------
run 2 try good.csv --label clas
says 'no column "clas"' 'did you mean "class"'
run 2 try good.csv --label class_name
says 'no column "class_name"' 'did you mean "class"'
run 2 try good.csv --label zzz
says 'no column "zzz": it has "id", "value"'
run 2 try good.csv --keep valeu --label class
says 'no column "valeu"' '"value"'
run 2 try good.csv
says "--label"
run 2 try --data good.csv --label class
says "the table is named by itself, without an option: sotto try F"
run 2 try good.csv --label class -o good.csv
says "good.csv is a file" "a folder: name another"
run 2 try good.csv --label class -o none/page
says "nothing can be written in 'none/'"
awk 'NR == 1 { print $0 ",comment"; next } { print $0 ",note number " NR }' \
    good.csv >texts.csv
run 2 try texts.csv --label comment
says '"comment" has 240 different values in 240 rows' "no class label"
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
