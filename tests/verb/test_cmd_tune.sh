#!/bin/sh
# test_cmd_tune.sh: a plan of tuning from end to end, as a campaign: people
# report, answer in rounds and measure the winner, each once, through a ledger.
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
people 400 1 >aux.csv
people 1500 2 >all.csv
for lambda in 0.5 0.02; do
    run 0 train pca --data aux.csv --drop name --label who --eps 6 --d 2 \
        --lambda $lambda --campaign c -o m$lambda.sotto
done
cp m0.5.sotto m.sotto && cp m0.5.analyst m.analyst

# ---- A plan ----------------------------------------------------------------------
run 0 tune plan T m0.5.sotto m0.02.sotto --eps 2 --grid epochs=1,15 \
    --train-share 0.5 --final-share 0.2
grep -q "T/train-2.reports" out || fail "$(cat out)"
[ "$(stat -c %a T/tune.json)" = 600 ] || fail "others may read the key"
run 2 tune plan T m0.5.sotto --eps 2
says "there already"
run 0 tune show T --json
json out
[ "$(grep -c '"candidate"' out)" -eq 4 ] || fail "not 4 candidates: $(cat out)"

# ---- Stage after stage --------------------------------------------------------------
# Everybody here may answer whatever they are asked: the ledger, with room for
# ten times the epsilon, sees whether tune asks anybody twice.
run 0 ledger new L --lifetime-eps 100 --campaign-eps 100
: >asked

# answer QUESTION NAME: of the people whom tune picked.
answer() {
    run 0 privatise "$1" all.csv --people "T/$2.people.csv" --person name \
        --ledger L -o "T/$2.reports"
    grep -q "replayed: 0; refused: 0" out || fail "asked twice: $(cat out)"
    tail -n +2 "T/$2.people.csv" >>asked
}
sed -n '1,9p;2,9p' all.csv >twice.csv
run 0 tune people T twice.csv --person name
[ "$(cat T/*.people.csv | sort | uniq -d)" = name ] ||
    fail "who is on two lines is asked twice"
run 0 tune people T all.csv --person name
[ "$(stat -c %a T/train-1.people.csv)" = 600 ] || fail "others may read names"
answer m0.5.sotto train-1
answer m0.02.sotto train-2
run 0 tune next T
grep -q "Round 1 of 2" out || fail "$(cat out)"
run 0 tune people T all.csv --person name
for i in 01 02 03 04; do
    answer T/$i.sotto round1-$i
done
# A person's place stays: asked again, the same people.
cp T/round1-01.people.csv first
run 0 tune people T all.csv --person name
cmp -s first T/round1-01.people.csv || fail "places change"
# Another question in the place of the plan's: at another epsilon, or about
# another candidate.
cp T/01.sotto mine
run 0 train right --model T/01.model --eps 8 --force -o T/01.sotto
run 2 tune next T
says "asks at epsilon 8, and the plan's questions at 2"
cp T/02.sotto T/01.sotto
run 2 tune next T
says "candidate-02"
cp mine T/01.sotto
run 0 tune next T
grep -q "Round 2 of 2" out || fail "$(cat out)"
left=$(sed -n 's|^  T/\(..\).sotto: .*|\1|p' out)
[ "$(echo "$left" | wc -l)" -eq 2 ] || fail "not half is left: $left"
run 0 tune people T all.csv --person name
for i in $left; do
    answer T/"$i".sotto round2-"$i"
done
run 0 tune next T
grep -q "T/final.sotto: reports to T/final.reports" out || fail "$(cat out)"
run 0 inspect T/final.sotto
run 0 tune people T all.csv --person name
answer T/final.sotto final
run 0 tune next T --json
json out
python3 - <<'CHECK' || fail "the end: $(cat out)"
import json
rows = [json.loads(line) for line in open("out", encoding="utf-8")]
last, final = rows[-1], sum(1 for _ in open("T/final.people.csv")) - 1
assert last["stage"] == "done" and last["people"] == final, last
assert last["simulated"] == 0 and last["low"] <= last["high"], last
people = [r["people"] for r in rows if "candidate" in r]
asked = len(open("asked").read().split())
assert sum(r["reports"] for r in rows if "reports" in r) \
    + sum(people) + final == asked == 1500, (people, final, asked)
open("winner", "w").write("%02d" % last["winner"])
assert sum(r["left"] for r in rows if "candidate" in r) == 1
CHECK
[ "$(sort asked | uniq -d | wc -l)" -eq 0 ] || fail "somebody was asked twice"
run 0 tune show T
grep -q "^The winner is $(cat winner).model" out || fail "$(cat out)"
grep -q "^right  *about .* 95% interval .*(exact)" out || fail "$(cat out)"
grep -q "^spent  *epsilon 6 by each of [0-9]* people, who reported" out ||
    fail "$(cat out)"
# The last answers are the last question's alone.
run 0 validate T/final.sotto T/final.reports
run 2 validate T/final.sotto "T/round1-$(cat winner).reports"
says "another mechanism"
run 0 evaluate "T/$(cat winner).model" --data all.csv
run 2 tune next T
says "all is done"

# One campaign: a ledger that allows one epsilon a campaign refuses a second
# question, of tune or not.
run 0 ledger new once --lifetime-eps 100
head -5 all.csv >five.csv
run 0 privatise m0.5.sotto five.csv --ledger once --person name -o five
run 3 privatise T/01.sotto five.csv --ledger once --person name -o none
run 3 privatise T/final.sotto five.csv --ledger once --person name -o none

# ---- Simulated ------------------------------------------------------------------------
run 0 tune simulate m0.5.sotto m0.02.sotto --eps 2 --grid epochs=1,15 \
    --data all.csv --people 3000 --repeat 20 --json
json out
says "simulated"
cp out first
run 0 tune simulate m0.5.sotto m0.02.sotto --eps 2 --grid epochs=1,15 \
    --data all.csv --people 3000 --repeat 20 --json
cmp -s out first || fail "a seed gives two results"
python3 - <<'CHECK' || fail "simulated: $(cat out)"
import json
rows = [json.loads(line) for line in open("out", encoding="utf-8")]
last = rows[-1]
assert last["gap"] >= 0 and last["oracle"] == max(
    r["clean"] for r in rows if "clean" in r)
assert sum(r["chosen"] for r in rows if "chosen" in r) == 20
assert abs(last["reporting"] + last["choosing"] + last["measuring"]
           - 3000) < 200
CHECK

# ---- What is refused --------------------------------------------------------------------
run 0 train pca --data aux.csv --drop name --label who --eps 6 --d 2 \
    --campaign other -o other.sotto
run 2 tune plan U m0.5.sotto other.sotto --eps 2
says "one --campaign"
absent U
run 2 tune plan U m0.5.sotto m.sotto --eps 2
says "are one mechanism"
run 2 tune plan U m0.5.sotto --eps 2 --grid speed=1
says "speed"
# What could only fail once people have spent their epsilon.
run 2 tune plan U m0.5.sotto --eps 2 --grid restarts=1,4
says "leave restarts out"
run 2 tune plan U m0.5.sotto --eps 2 --grid epochs=1,2,1
says "twice"
run 2 tune plan U m0.5.sotto --eps 2 --grid epochs=1 --grid epochs=2
says "twice"
run 0 train pca --data aux.csv --drop name --drop who --eps 6 --d 2 \
    -o nolabel.sotto
run 2 tune plan U nolabel.sotto --eps 2
says "'nolabel.sotto' has no label"
absent U
run 2 tune plan U m0.5.sotto --eps 2 --grid epochs
run 2 tune plan U m0.5.sotto --eps 2 --train-share 0.8 --final-share 0.3
run 2 tune plan U m0.5.sotto
says "needs --eps"
run 2 tune plam U m0.5.sotto --eps 2
says "did you mean plan"
run 2 tune people T all.csv
run 2 tune simulate m0.5.sotto --eps 2
says "data F"
echo '{"tune":1}' >T/tune.json
run 2 tune show T
says "no plan"
run 1 tune show nowhere
finish
