#!/bin/sh
# test_task_learnt.sh: a mechanism for a task: the journey to decoded records and
# a model, another task from that model, the audit, wrong usage.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
data=$SOTTO_SOURCE_DIR/data/wdbc.csv
small="--data $data --d 2 --epochs 20"

# ---- The journey -------------------------------------------------------------
# shellcheck disable=SC2086 # $small is a list
run 0 train task $small --target diagnosis=2 --label diagnosis --eps 8 -o m.sotto
grep -q "Trained for target diagnosis=2" out || fail "no word of the task"
grep -q "it is .* for the record in the clear" out || fail "no bounds"
grep -q "on validation rows" out || fail "no loss of rows held out"
grep -q "That is against what the task's network says" out ||
    fail "no word of the task's network"
grep -q "tells nothing of the task" out && fail "it tells of the task"
grep -q "is one of the features" err && fail "the target counts as a feature"
only m.sotto m.analyst
run 0 inspect m.sotto
tr '\n' ' ' <out | tr -s ' ' | grep -q "for the task: target diagnosis=2" ||
    fail "inspect does not say for which task"
run 0 inspect m.analyst
grep -q "The mechanism was made for target diagnosis=2: a report keeps 2" out ||
    fail "inspect says nothing of the analyst file"
grep -q "Of a column's variance" out && fail "a list of no columns"
run 0 privatise m.sotto "$data" --seed 3 -o r
run 0 decode m.sotto r --analyst m.analyst -o r.csv --json
json out
[ "$(wc -l <r.csv)" -eq 570 ] || fail "not a record a report"
head -1 r.csv | grep -q '^id,simulated,diagnosis,radius_mean,' ||
    fail "the header: $(head -1 r.csv)"
run 0 fit m.sotto r -o m.model
run 0 evaluate m.model --data "$data" --json
json out
python3 - <<'END' || fail "the reports say little of the task: $(cat out)"
import json
assert json.loads(open("out").read().splitlines()[0])["accuracy"] > 0.85
END

# ---- The model as the task, and the facts --------------------------------------
# shellcheck disable=SC2086
run 0 train task $small --model m.model --eps 4 --json -o n.sotto
json out
grep -q "is one of the features" err && fail "the model's columns are it all"
python3 - <<'END' || fail "the facts: $(cat out)"
import json
fact = json.loads(open("out").read().splitlines()[-1])
assert fact["task"] == "the model m.model" and fact["columns"] == 30
assert fact["clear"] < fact["loss"] < fact["without"]
assert fact["tried"] == [2] and fact["d"] == 2 and not fact["resumed"]
END
run 0 audit n.sotto --samples 2000
run 0 train task --from n.sotto --eps 2 -o half.sotto

# ---- Columns to be told ----------------------------------------------------------
# shellcheck disable=SC2086
run 0 train task $small --drop diagnosis --weights area_mean=1 --eps 30 -o w.sotto
run 0 privatise w.sotto "$data" --seed 3 -o rw
run 0 decode w.sotto rw --analyst w.analyst -o rw.csv
python3 - "$data" <<'END' || fail "the weighted column is not told"
import csv, math, sys
true, decoded = (list(csv.DictReader(open(name)))
                 for name in (sys.argv[1], "rw.csv"))
def told(column):
    x = [float(row[column]) for row in true]
    y = [float(row[column]) for row in decoded]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    product = sum((a - mx) * (b - my) for a, b in zip(x, y))
    return product / math.sqrt(sum((a - mx) ** 2 for a in x)
                               * sum((b - my) ** 2 for b in y))
assert told("area_mean") > 0.85
END

# ---- Records far outside -------------------------------------------------------------
awk -F, -v OFS=, 'NR > 1 {
    for (i = 1; i < NF; i++) $i = (NR % 2 ? "" : "-") $i "e" (NR % 300)
} { print }' "$data" | sed 's/--/-/g' >far.csv
run 0 privatise m.sotto far.csv --seed 2 -o far.reports
run 0 decode m.sotto far.reports --analyst m.analyst -o far.decoded.csv
grep -q -i -e nan -e inf far.decoded.csv && fail "decoded to no number"
run 0 audit m.sotto --samples 2000 --branches 20000 --steps 30000
grep -q "^Verdict: the claim holds" out || fail "no verdict: $(tail -1 out)"

# ---- Wrong usage -------------------------------------------------------------------
run 2 train task --data "$data" --eps 4 -o x.sotto
says "--target is missing"
run 2 train task --data "$data" --eps 4 --target diagnosys -o x.sotto
says 'did you mean "diagnosis"'
run 2 train task --eps 4 --target diagnosis -o x.sotto
says "--data FILE is missing"
run 2 train task --data "$data" --eps 4 --target diagnosis --model m.model -o x.sotto
says "exclude each other"
run 2 train task --data "$data" --eps 4 --model m.sotto -o x.sotto
run 2 train vlm --data "$data" --eps 4 --target diagnosis -o x.sotto
says "--target is not for vlm"
[ ! -e x.sotto ] || fail "a mechanism was written"
finish
