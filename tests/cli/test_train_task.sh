#!/bin/sh
# test_train_task.sh: a mechanism for a task goes through all that follows:
# inspect, privatise, decode, fit, plan, audit, also of records far outside what
# it was made from; and mistakes in a task say where they are.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
wdbc=$SOTTO_SOURCE_DIR/data/wdbc.csv

cat >K.csv <<'END'
radius_mean,texture_mean,area_mean
1,0,0
0,1,0
0,0,0.01
END
run 0 train task-linear --data "$wdbc" --label diagnosis --task K.csv --eps 8 \
    --steps 64 -o t.sotto --json
json out
grep -q '"task": "the matrix K.csv"' out || fail "no task: $(cat out)"
run 0 inspect t.sotto
tr '\n' ' ' <out | tr -s ' ' >flat
grep -q "gives no weight to perimeter_mean, smoothness_mean," flat ||
    fail "inspect names no column without weight"
grep -q "learnt from the auxiliary data, for the task: the matrix K.csv" flat ||
    fail "inspect does not say what it was made for"
run 0 inspect t.analyst
grep -q "^ *[0-9.]*%  texture_mean$" out || fail "no share of texture_mean"
[ "$(grep -c '%  ' out)" -eq 30 ] || fail "not a line a column"
run 0 inspect t.analyst --json
json out

# ---- What follows --------------------------------------------------------------
run 0 privatise t.sotto "$wdbc" --seed 1 -o t.reports
run 0 decode t.sotto t.reports --analyst t.analyst -o t.csv
[ "$(wc -l <t.csv)" -eq 570 ] || fail "not a record a report"
run 0 fit t.sotto t.reports --analyst t.analyst -o t.model --threads 1
run 0 evaluate t.model --data "$wdbc" --json
awk -F'"accuracy": ' '{ exit !($2 + 0 > 0.75) }' out ||
    fail "the model is no good: $(cat out)"
run 0 plan t.sotto --people 1000

# ---- Records far outside -------------------------------------------------------
awk -F, -v OFS=, 'NR > 1 {
    for (i = 1; i < NF; i++) $i = (NR % 2 ? "" : "-") $i "e" (NR % 300)
} { print }' "$wdbc" | sed 's/--/-/g' >far.csv
run 0 privatise t.sotto far.csv --seed 2 -o far.reports
run 0 decode t.sotto far.reports --analyst t.analyst -o far.decoded.csv
grep -q -i -e nan -e inf far.decoded.csv && fail "decoded to no number"
run 0 audit t.sotto --samples 2000 --branches 20000 --steps 30000
grep -q "^Verdict: the claim holds" out || fail "no verdict: $(tail -1 out)"

# ---- Mistakes ------------------------------------------------------------------
task() {
    run 2 train task-linear --data "$wdbc" --label diagnosis --eps 8 \
        -o no.sotto "$@"
    absent no.sotto
}
task
says "--task is missing"
task --task K.csv --target radius_mean
says "--task is given more than once"
printf 'radius_mean\n1\nmuch\n' >bad.csv
task --task bad.csv
says "'bad.csv': row 2 (line 3), field \"radius_mean\": \"much\" is no number"
task --weights radius=1
says "\"radius\", which is no input"
task --weights diagnosis=1
says "it is the label, the target, or left out"
task --target nothing
says "there is no column \"nothing\""
run 2 train task-linear --from t.sotto --eps 4 -o no.sotto
says "--from is not for task-linear"
absent no.sotto
finish
