#!/bin/sh
# test_misfits.sh: what privatise says of a curator's rows that do not fit, and
# that it says nothing of people's.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

printf 'name,age,colour,label\na,20,red,yes\nb,40,blue,no\nc,60,red,yes\n' >good.csv
run 0 train direct --data good.csv --drop name --label label --range age=0:100 \
    --eps 2 -o m.sotto
run 0 train pca --data good.csv --drop name --label label --d 1 --eps 2 -o p.sotto

# line TEXT...: the summary has a line with these words, blanks aside.
line() {
    tr -s ' ' <out | grep -q -x -F -e " $*" || fail "no line '$*': $(cat out)"
}

run 0 privatise m.sotto good.csv --seed 1 -o r
grep -q -x "All values fit the mechanism." out || fail "$(cat out)"
printf 'age,colour,label\n100,green,yes\n101,,no\nabc,red,\n-1,red,maybe\n,red,yes\n' >some.csv
run 0 privatise m.sotto some.csv --seed 1 -o r
line "age 2 of 5 beyond its range (0 to 100), 1 of 5 not a number, 1 of 5 missing"
line "colour 1 of 5 of unknown category, 1 of 5 missing"
line "label 1 of 5 of unknown category, 1 of 5 missing"
grep -q "NO value\|EVERY" err && fail "a column is called wrong: $(cat err)"

# ---- Wholly wrong ----------------------------------------------------------------
awk -F, 'NR == 1 {print "age,colour,label"; next} {print $2 * 1000 ",,maybe"}' \
    good.csv >wrong.csv
run 0 privatise m.sotto wrong.csv --seed 1 -o r
line "age 3 of 3 beyond its range (0 to 100)"
says 'NO value of "age" lies in its range, 0 to 100' "another unit"
says 'EVERY value of "colour" is missing'
says 'NO value of "label" is one that the mechanism knows ("no", "yes")' spelt
run 0 privatise p.sotto wrong.csv --seed 1 -o r
line "age 3 of 3 far from the usual (23.6701 to 56.3299)"
says 'NO value of "age" lies near the usual'
run 0 privatise m.sotto wrong.csv --seed 1 --json -o r
json out
python3 - <<'END' || fail "the counts: $(cat out)"
import json
said = json.load(open("out"))
assert said["misfits"] == ["age", "colour", "label"]
assert said["beyond"] == [3, 0, 0] and said["unknown"] == [0, 0, 3]
assert said["unread"] == [0, 0, 0] and said["missing"] == [0, 3, 0]
END

# ---- People's rows: the same words whatever they hold ----------------------------
awk -F, 'NR == 1 {print "name," $0; next} {print "p" NR "," $0}' wrong.csv >people.csv
run 0 ledger new l --lifetime-eps 8
run 0 ledger new k --lifetime-eps 8
run 0 privatise m.sotto good.csv --ledger l --person name -o r
cat out err >good.words
run 0 privatise m.sotto people.csv --ledger k --person name -o r
cat out err >wrong.words
cmp good.words wrong.words || fail "people's rows show in the words"
run 0 ledger new j --lifetime-eps 8
run 0 privatise m.sotto people.csv --ledger j --person name --json -o r
grep -q misfits out && fail "people's rows show in JSON"
finish
