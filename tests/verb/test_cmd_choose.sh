#!/bin/sh
# test_cmd_choose.sh: two models, one of which knows nothing; people are asked,
# through a ledger and each about one of them, whether it is right; their
# answers find the better one.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# people N SEED: three groups on a plane.
people() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed); print "name,x,y,who"
        for (i = 0; i < n; i++) {
            g = int(3 * rand())
            printf "p%d,%.3f,%.3f,%s\n", i, 6 * (g == 1) + 2 * rand(),
                6 * (g == 2) + 2 * rand(), substr("annbobcid", 3 * g + 1, 3)
        }
    }'
}
people 600 1 >aux.csv
people 1200 2 >reporting.csv
people 600 3 >all.csv
head -301 all.csv >first.csv
{ head -1 all.csv; tail -300 all.csv; } >second.csv
awk -F, 'NR > 1 { $4 = substr("annbobcid", 3 * (NR % 3) + 1, 3) }
    { print $1 "," $2 "," $3 "," $4 }' reporting.csv >mixed-up.csv

# ---- Two models ----------------------------------------------------------------
run 0 train pca --data aux.csv --drop name --label who --eps 12 --d 2 -o m.sotto
run 0 privatise m.sotto reporting.csv --seed 1 -o good.reports
run 0 privatise m.sotto mixed-up.csv --seed 1 -o bad.reports
run 0 fit m.sotto good.reports --epochs 20 -o good.model
run 0 fit m.sotto bad.reports --epochs 20 -o bad.model
run 0 evaluate good.model --data second.csv --json
good=$(sed -n 's/.*"accuracy": \([0-9.]*\).*/\1/p' out)
run 0 evaluate bad.model --data first.csv --json
bad=$(sed -n 's/.*"accuracy": \([0-9.]*\).*/\1/p' out)

# ---- A question about each, of other people --------------------------------------
run 0 train right --model bad.model --eps 2 -o bad.sotto
run 0 train right --model good.model --eps 2 --json -o good.sotto
json out
run 0 inspect good.sotto
grep -q "whether who is what the encoder chose" out || fail "inspect: $(cat out)"
run 0 ledger new L --lifetime-eps 2
run 0 privatise bad.sotto first.csv --ledger L --person name -o a.reports
run 0 privatise good.sotto second.csv --ledger L --person name -o b.reports
run 3 privatise good.sotto first.csv --ledger L --person name -o x.reports
grep -q "new: 0; replayed: 0; refused: 300" out || fail "$(cat out)"
[ ! -s x.reports ] || fail "somebody was asked twice"
run 0 choose bad.sotto a.reports good.sotto b.reports --json
json out
grep -q '"good.sotto", "reports": 300, "simulated": 0.*"chosen": true' out ||
    fail "not the better one: $(cat out)"
# Within five standard errors of what the models are on these very people.
python3 - "$bad" "$good" <<'CHECK' || fail "shares: $(cat out)"
import json, sys
for line, truth in zip(open("out", encoding="utf-8"), sys.argv[1:]):
    row = json.loads(line)
    assert abs(row["right"] - float(truth)) < 5 * row["error"], (row, truth)
    assert 0.01 < row["error"] < 0.05, row
CHECK
run 0 choose bad.sotto a.reports good.sotto b.reports
grep -q "^Chosen: good.sotto, ahead of the next by" out || fail "$(cat out)"
run 0 audit good.sotto --samples 2000 --steps 20000
grep -q "part  channel" out && grep -q "whole" out || fail "$(cat out)"

# ---- Networks of one model -------------------------------------------------------
run 0 fit m.sotto good.reports --epochs 5 --restarts 2 -o two.model
run 2 train right --model two.model --eps 1 -o x.sotto
says "2 networks" "--network"
run 2 train right --model two.model --network 3 --eps 1 -o x.sotto
for i in 1 2; do
    run 0 train right --model two.model --network $i --eps 1 \
        --expires 2099-01-31 -o $i.sotto
    run 0 privatise $i.sotto all.csv --seed $i -o $i.reports
done
run 0 choose 1.sotto 1.reports 2.sotto 2.reports --model two.model -o kept.model
says "simulated"
chosen=$(sed -n 's/^Chosen: \(.\).sotto.*/\1/p' out)
run 0 evaluate kept.model --data all.csv
run 0 train right --model kept.model --eps 1 --expires 2099-01-31 -o kept.sotto
cmp -s kept.sotto "$chosen.sotto" || fail "kept another than $chosen"
run 2 choose good.sotto b.reports --model two.model -o x.model
says "does not ask about a network"

# ---- What is wrong ---------------------------------------------------------------
run 2 train right --model good.model --data aux.csv --eps 1 -o x.sotto
says "--data is not for right"
run 0 train right --model good.model --label group --eps 1 -o renamed.sotto
run 2 privatise renamed.sotto all.csv --seed 1 -o x.reports
says "group"
run 2 choose good.sotto b.reports bad.sotto
says "M R M R"
run 2 choose good.sotto b.reports good.sotto b.reports
says "same question"
run 2 choose m.sotto good.reports
says "sotto train right"
run 2 choose good.sotto b.reports 1.sotto 1.reports
says "simulated"
run 2 choose good.sotto b.reports -o x.model
says "go together"
run 2 choose good.sotto b.reports --confidence 2
absent x.model
absent x.sotto
finish
