#!/bin/sh
# test_task_codes.sh: codes for a task go through all that follows: inspect,
# privatise, decode, fit, predict, plan, audit, also of records far outside what
# they were made from; what is not for them is refused.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
wdbc=$SOTTO_SOURCE_DIR/data/wdbc.csv

cat >K.csv <<'END'
radius_mean,texture_mean,area_mean
1,0,0
0,1,0
0,0,0.01
END
run 0 train task-codes --data "$wdbc" --label diagnosis --task K.csv --eps 8 \
    -o t.sotto --json
json out
only t.sotto t.analyst K.csv
python3 - <<'END' || fail "the facts: $(cat out)"
import json
fact = json.loads(open("out").read().splitlines()[-1])
assert fact["task"] == "the matrix K.csv" and 2 <= fact["k"] <= 284
assert 0 < fact["loss"] < 0.9 * fact["without"]
END
codes=$(grep -o '"k": [0-9]*' out | cut -d' ' -f2)
run 0 train task-linear --data "$wdbc" --label diagnosis --task K.csv --eps 8 \
    -o l.sotto --json
python3 - t.analyst l.analyst <<'END' || fail "the scales differ"
import json, sys
facts = []
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        head = json.loads(file.read(size))
    facts.append(json.loads(head["__metadata__"]["sotto"])["facts"])
assert abs(facts[0]["without"] / facts[1]["without"] - 1) < 1e-9
assert len(facts[0]["columns"]) == 30
END

# ---- What is said --------------------------------------------------------------
run 0 inspect t.sotto
tr '\n' ' ' <out | tr -s ' ' >flat
grep -q "gives no weight to perimeter_mean, smoothness_mean," flat ||
    fail "inspect names no column without weight"
grep -q "learnt from the auxiliary data, for the task: the matrix K.csv" flat ||
    fail "inspect does not say what it was made for"
grep -q "^ *1  features  flip *$codes symbols" out || fail "no channel of codes"
run 0 inspect t.analyst
grep -q "was made for the matrix K.csv: a report names one of $codes codes" out ||
    fail "inspect does not say what the codes are for"
[ "$(grep -c '%  ' out)" -eq 30 ] || fail "not a line a column"
run 0 inspect t.analyst --json
json out

# ---- What follows --------------------------------------------------------------
run 0 privatise t.sotto "$wdbc" --seed 1 -o t.reports
run 0 decode t.sotto t.reports
grep -q "^part 1 = code 0 *frequency" out || fail "no shares of codes"
run 0 decode t.sotto t.reports --analyst t.analyst -o t.csv
[ "$(wc -l <t.csv)" -eq 570 ] || fail "not a record a report"
python3 - "$wdbc" <<'END' || fail "the records say little of the task"
import csv, sys
true, decoded = (list(csv.DictReader(open(name)))
                 for name in (sys.argv[1], "t.csv"))
def unit(column):
    x = [float(row[column]) for row in true]
    mean = sum(x) / len(x)
    off = sum((a - float(b[column])) ** 2 for a, b in zip(x, decoded))
    return off / sum((a - mean) ** 2 for a in x)
assert unit("area_mean") < 0.5, unit("area_mean")
END
run 0 fit t.sotto t.reports --analyst t.analyst -o t.model --threads 1
run 0 evaluate t.model --data "$wdbc" --json
awk -F'"accuracy": ' '{ exit !($2 + 0 > 0.75) }' out ||
    fail "the model is no good: $(cat out)"
run 0 fit t.sotto t.reports --aux "$wdbc" -o u.model --threads 1
run 0 predict t.model "$wdbc" -o p.csv
run 0 plan t.sotto --people 1000
run 0 train codebook --data "$wdbc" --label diagnosis --encoder t.sotto --eps 4 \
    --k 4 -o b.sotto

# ---- Records far outside -------------------------------------------------------
awk -F, -v OFS=, 'NR > 1 {
    for (i = 1; i < NF; i++) $i = (NR % 2 ? "" : "-") $i "e" (NR % 300)
} { print }' "$wdbc" | sed 's/--/-/g' >far.csv
run 0 privatise t.sotto far.csv --seed 2 -o far.reports
run 0 decode t.sotto far.reports --analyst t.analyst -o far.decoded.csv
grep -q -i -e nan -e inf far.decoded.csv && fail "decoded to no number"
run 0 audit t.sotto --samples 2000 --branches 20000 --steps 30000
grep -q "^Verdict: the claim holds" out || fail "no verdict: $(tail -1 out)"
run 0 train task-codes --data "$wdbc" --drop diagnosis --weights area_mean=1 \
    --eps 1 -o one.sotto
run 0 audit one.sotto --samples 2000 --branches 20000 --steps 30000
grep -q "^Verdict: the claim holds" out || fail "no verdict: $(tail -1 out)"

# ---- What is not for them ------------------------------------------------------
run 2 train task-codes --from t.sotto --eps 4 -o no.sotto
says "--from is not for task-codes: its cells and its decoder are made for one"
# Under another KIND they are given another budget; the decoder is not for it.
run 0 train vlm --from t.sotto --eps 4 -o other.sotto
run 0 privatise other.sotto "$wdbc" --seed 1 -o other.reports
run 2 decode other.sotto other.reports --analyst t.analyst -o other.csv
says "decoder is for epsilon"
says "train again"
absent other.csv
run 2 fit other.sotto other.reports --analyst t.analyst -o other.model
says "decoder is for epsilon"
task() {
    run 2 train task-codes --data "$wdbc" --label diagnosis --eps 8 \
        -o no.sotto "$@"
    absent no.sotto
}
task
says "--task is missing"
task --task K.csv --target radius_mean
says "--task is given more than once"
task --weights radius=1
says "\"radius\", which is no input"
task --weights radius_mean=1 --k 600
says "--k is 600, and there are 569 rows only"
task --weights radius_mean=1 --steps 64
says "--steps is not for task-codes"
task --weights radius_mean=1 --d 2
says "--d is not for task-codes"
task --weights radius_mean=1 --channel subset
says "--channel is not for task-codes"
head -7 "$wdbc" >few.csv
run 2 train task-codes --data few.csv --weights area_mean=1 --eps 1 -o no.sotto
says "6 rows are too few"
absent no.sotto
finish
