#!/bin/sh
# test_cmd_validate.sh: people are asked once, through a ledger, whether a model
# is right about them; what validate makes of their answers, and what it refuses.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# people N SEED: three groups on a plane.
people() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed); print "name,x,y,who"
        for (i = 0; i < n; i++) {
            g = int(3 * rand())
            printf "p%d,%.3f,%.3f,%s\n", i, 4 * (g == 1) + 3 * rand(),
                4 * (g == 2) + 3 * rand(), substr("annbobcid", 3 * g + 1, 3)
        }
    }'
}
people 600 1 >aux.csv
people 1200 2 >reporting.csv
people 900 3 >asked.csv

run 0 train pca --data aux.csv --drop name --label who --eps 12 --d 2 -o m.sotto
run 0 privatise m.sotto reporting.csv --seed 1 -o m.reports
run 0 fit m.sotto m.reports --epochs 20 -o m.model
run 0 evaluate m.model --data asked.csv --json
truth=$(sed -n 's/.*"accuracy": \([0-9.]*\).*/\1/p' out)
run 0 train right --model m.model --eps 1 -o q.sotto

# ---- A group of people, signed and through a ledger --------------------------
run 0 keygen -o k --no-password
run 0 sign q.sotto --key k.key
run 0 ledger new L --lifetime-eps 1
run 0 privatise q.sotto asked.csv --pub k.pub --ledger L --person name -o r
cp out privatised
grep -q "new: 900" privatised || fail "$(cat out)"
run 0 validate q.sotto r --json
json out
python3 - "$truth" <<'CHECK' || fail "not what the answers say: $(cat out)"
import json, math, sys
row = json.loads(open("out", encoding="utf-8").read())
truth, n, p = float(sys.argv[1]), row["people"], 1 / (1 + math.e)
assert n == 900 and row["simulated"] == 0 and row["eps"] == 1
share = (row["yes"] / n - p) / (1 - 2 * p)
assert abs(row["accuracy"] - share) < 1e-9
assert 0 <= row["low"] < min(1, share) <= row["high"] + 1e-9 <= 1 + 1e-9
# at five standard errors, this fails once in two million
assert abs(share - truth) < 5 * row["error"]

# The ends: as many yeses, or more (fewer), have a chance of 1 in 40 there.
def tail(a, seen):
    q = p + (1 - 2 * p) * a
    return sum(math.exp(math.lgamma(n + 1) - math.lgamma(k + 1)
                        - math.lgamma(n - k + 1) + k * math.log(q)
                        + (n - k) * math.log(1 - q)) for k in seen)
if row["low"] > 0:
    assert abs(tail(row["low"], range(row["yes"], n + 1)) - .025) < 1e-4
if row["high"] < 1:
    assert abs(tail(row["high"], range(row["yes"] + 1)) - .025) < 1e-4
CHECK
run 0 validate q.sotto r
grep -q "^asked  *900 people, one question each; [0-9]* said yes$" out &&
    grep -q "^right  *about [0-9.]*% of people, 95% interval .*(exact)$" out &&
    grep -q '^spent  *epsilon 1 by each of them, in the campaign' out ||
    fail "$(cat out)"

# Nobody answers twice: the ledger gives the stored report again, which counts
# once, and refuses another question of the campaign.
run 0 privatise q.sotto asked.csv --ledger L --person name -o again
grep -q "new: 0; replayed: 900" out || fail "$(cat out)"
run 0 validate q.sotto r again --json
says "900 reports came more than once"
grep -q '"people": 900,' out || fail "$(cat out)"
run 0 train right --model m.model --eps 0.5 -o q2.sotto
run 3 privatise q2.sotto asked.csv --ledger L --person name -o none
grep -q "refused: 900" out || fail "$(cat out)"

# ---- The ends ------------------------------------------------------------------
head -3 asked.csv >two.csv
run 0 privatise q2.sotto two.csv --seed 4 -o two
run 0 validate q2.sotto two --json
says "simulated"
python3 -c '
import json
row = json.loads(open("out", encoding="utf-8").read())
assert row["low"] == 0 and row["high"] == 1, row' || fail "2 answers: $(cat out)"

# ---- Planning, on a curator's table ----------------------------------------------
run 0 validate q.sotto --data asked.csv --json
says "simulated"
python3 - "$truth" <<'CHECK' || fail "the rows' own share: $(cat out)"
import json, sys
row = json.loads(open("out", encoding="utf-8").read())
assert row["people"] == row["simulated"] == 900
assert abs(row["clean"] - float(sys.argv[1])) < 0.003 # but for rounding
CHECK
run 0 validate q.sotto --data asked.csv --people 200000 --seed 5 --json
python3 - <<'CHECK' || fail "200,000 drawn from the rows: $(cat out)"
import json
row = json.loads(open("out", encoding="utf-8").read())
assert row["people"] == 200000 and row["high"] - row["low"] < 0.011
assert abs(row["accuracy"] - row["clean"]) < 5 * row["error"]
CHECK
cp out first
run 0 validate q.sotto --data asked.csv --people 200000 --seed 5 --json
cmp -s out first || fail "a seed gives two results"
run 0 validate q.sotto --data asked.csv
grep -q "^clean  *[0-9.]*% of the rows" out || fail "$(cat out)"

# ---- What is refused -------------------------------------------------------------
run 2 validate q.sotto
says "needs R" "data F"
run 2 validate q.sotto r --data asked.csv
run 2 validate q.sotto r --people 5
says "belongs to --data"
run 2 validate m.sotto m.reports
says "sotto train right"
run 2 validate q2.sotto r
says "another mechanism"
run 0 privatise q.sotto two.csv --seed 4 -o sim
cut -d, -f 1-3 asked.csv >unlabelled.csv
run 2 validate q.sotto --data unlabelled.csv
says "who"
run 2 validate q.sotto r sim
says "simulated"
run 2 validate q.sotto r --confidence 1.5
finish
