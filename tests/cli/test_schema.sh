#!/bin/sh
# test_schema.sh: from a raw table to a mechanism by schema infer, schema check
# and train --schema; and what train assumes without one.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# A table as people have it: an index, percent and currency, ids, an empty
# column, a constant, a date, free text, one rich person, a column that is the
# label under another name, one that is known only afterwards.
python3 - <<'END'
import random
random.seed(3)
with open("raw.csv", "w", encoding="utf-8") as f:
    f.write(",id,rate,income,grade,service,nothing,same,joined,note,"
            "result,refund,y\n")
    for i in range(400):
        y = random.random() < 0.3
        income = 7000000 if i == 11 else random.randint(900, 99000)
        f.write(f'{i},{5000 + i},{random.random() * 20:.2f}%,"${income:,}",'
                f'{random.choice("ABC") if i != 7 else "Z"},'
                f'{random.choice(["< 1 year", "3 years", "10+ years"])},,x,'
                f'{random.choice(["Mar", "Dec"])}-{random.randint(1990, 2020)},'
                f'words about person number {i},{"gone" if y else "here"},'
                f'{random.randint(1, 99) if y and i % 2 else 0},{"yes" if y else "no"}\n')
END

# ---- infer -------------------------------------------------------------------
run 0 schema infer raw.csv --label y -o raw.schema
for piece in "rate .* number .* 0 to 20" "income .* 0 to 100000" \
    "service .* ordinal" "y .* boolean, label" "  id  *a number of its own" \
    "  nothing  *no row has a value" "  joined  *a date" "  note  *free text" \
    '"result" gives the answer away' '"refund" .* afterwards' \
    '"income" has 1 row beyond' '"grade" has 1 value held by fewer than 10'; do
    grep -q -e "$piece" out || fail "infer does not say '$piece'"
done
says "taken as an index"
grep -q -e 7000000 -e '"\?Z"\?$' -e person raw.schema &&
    fail "a record's own value is in the schema"
run 0 schema infer raw.csv --label y --json
json out
grep -q '"gives-answer-away".*"result"' \
    out || fail "the JSON lacks the answer"
run 2 schema infer raw.csv --label z
says '"z"'
run 2 schema guess raw.csv
says "infer or check"

awk -F, -v OFS=, 'NR == 1 { print "only,n" } NR > 1 { print "x", NR }' \
    raw.csv >one.csv
run 0 train direct --data one.csv --keep only --keep n --eps 4 -o one.sotto
grep -q " 1 value: x$" out || fail "not one value: $(cat out)"

# ---- check -------------------------------------------------------------------
sed 's/^\[result\]/&\nuse = drop/; s/^range = 0 : 20$/range = 0 : 10/' \
    raw.schema >edited.schema
run 2 schema check raw.csv --schema edited.schema --rows 3
grep -q 'row [0-9]* (line [0-9]*), rate: ".*%" lies beyond' out ||
    fail "check names no row"
[ "$(grep -c '^row ' out)" = 3 ] || fail "check shows $(grep -c '^row ' out)"
run 2 schema check raw.csv --schema edited.schema --json
json out
sed 's/^range = .*/range = 0 : 1e9/; s/^values = A.*/values = A, B, C, Z/' \
    raw.schema >wide.schema
run 0 schema check raw.csv --schema wide.schema
grep -q "400 rows, and all of them fit" out || fail "$(cat out)"
sed 's/^type = number/type = numbre/' raw.schema >bad.schema
run 2 schema check raw.csv --schema bad.schema
says "bad.schema: line [0-9]*: type = numbre: it is one of number"
run 2 schema check raw.csv
says "schema infer F -o S"

# ---- train -------------------------------------------------------------------
run 0 train direct --data raw.csv --schema edited.schema --eps 4 -o s.sotto
grep -q "Taken from the data" out && fail "a schema is given and told"
run 0 inspect s.sotto
for piece in "rate: a number from 0 to 10;" "income: a number from 0 to 100000" \
    "< 1 year, 3 years, 10+" "A, B, C; anything"; do
    tr '\n' ' ' <out | tr -s ' ' | grep -q -e "$piece" ||
        fail "inspect does not say '$piece'"
done
grep -q -e 7000000 -e "result:" out && fail "the mechanism tells too much"
run 0 train direct --data raw.csv --label y --eps 4 -o t.sotto
grep -q "Taken from the data" out || fail "what is assumed is not told"
run 0 inspect t.sotto --json
grep -q 7000000 out t.sotto && fail "one person set the range"
run 0 train direct --data raw.csv --schema edited.schema --eps 4 --keep rate \
    --range rate=0:50 -o o.sotto
run 0 inspect o.sotto
grep -q "rate: a number from 0 to 50" out || fail "--range does not overrule"
sed 's/^from = auxiliary/from = public/' edited.schema >public.schema
run 0 train direct --data raw.csv --schema public.schema --eps 4 -o p.sotto
run 0 inspect p.sotto
grep -q "not used" out || grep -qi "auxiliary.*not" out ||
    fail "a public schema costs something"
awk '/^\[/ { label = /^\[y\]/ } !label' public.schema >unnamed.schema
run 2 train direct --data raw.csv --schema unnamed.schema --label y --eps 4 \
    -o n.sotto
says "does not say what the label" '"y"'
absent n.sotto
run 2 train direct --data raw.csv --label note --eps 4 -o n.sotto
says 'refused: "note" cannot be the label'
absent n.sotto
run 2 train direct --data raw.csv --schema raw.schema --category rate --eps 4 \
    -o n.sotto
says "type = category"
run 0 train pca --data raw.csv --schema edited.schema --eps 4 --d 2 -o v.sotto
run 0 privatise v.sotto raw.csv -o v.reports
run 0 train direct --data raw.csv --label y --eps 4 --json -o j.sotto
json out

# The label is the schema's, known before the data are read.
run 0 train codebook --data raw.csv --schema edited.schema --people 500 \
    --candidates pca:d=2 --eps 2 -o label.sotto
run 2 train codebook --data raw.csv --people 500 --eps 2 -o n.sotto
says "needs a label"
# As many components as there are, unless some number was asked for.
run 0 train pca --data raw.csv --label y --keep rate --keep income --eps 4 \
    -o few.sotto
run 2 train pca --data raw.csv --label y --keep rate --keep income --eps 4 \
    --d 8 -o n.sotto
says "d is 8, and 2 inputs have"
# A budget that is spread thin is told, and one that is not is not.
run 0 train direct --data raw.csv --label y --eps 1 -o thin.sotto
grep -q "^Each of 6 columns has epsilon 0.14: keep fewer, or take codebook" out ||
    fail "a thin budget is not told: $(cat out)"
run 0 train direct --data raw.csv --label y --keep rate --keep grade --eps 4 \
    -o thick.sotto
grep -q "^Each of" out && fail "a thick budget is called thin"
# What is missing is an input of learnt kinds, where it is told.
sed 's/^\([0-9]*,[0-9]*\),[0-9.]*%/\1,/; n' raw.csv >gaps.csv
run 0 train pca --data gaps.csv --label y --eps 4 -o gaps.sotto
run 0 inspect gaps.sotto
tr '\n' ' ' <out | tr -s ' ' |
    grep -q "rate: a number, scaled by .* a missing one is told apart" ||
    fail "a learnt kind does not tell what is missing"

# ---- heavy tails -------------------------------------------------------------
# Learnt kinds see the logarithm, on the device as in training, whatever a
# record holds; direct sends the number, and says so.
python3 - <<'END'
import random
random.seed(4)
with open("pay.csv", "w", encoding="utf-8") as f:
    f.write("pay,age,y\n")
    for i in range(400):
        z = random.gauss(0, 1)
        f.write(f"{2.718 ** (10 + z):.2f},{random.randint(18, 80)},"
                f"{'yes' if z > 0 else 'no'}\n")
with open("odd.csv", "w", encoding="utf-8") as f:
    f.write("pay,age,y\n-5,20,no\n1e400,20,no\nnan,20,no\nmuch,20,yes\n"
            ",20,yes\n0,20,no\n-1e400,20,no\ninf,20,yes\n")
END
run 0 schema infer pay.csv --label y -o pay.schema
grep -q "pay .* to [0-9]*, log$" out || fail "no logarithm is told"
[ "$(grep -c '^scale = log$' pay.schema)" = 1 ] || fail "$(cat pay.schema)"
run 0 train pca --data pay.csv --schema pay.schema --eps 4 --d 2 -o log.sotto
run 0 inspect log.sotto
tr '\n' ' ' <out | tr -s ' ' | grep -q "pay: a number, whose logarithm is scaled" ||
    fail "inspect does not tell of the logarithm"
grep -q "age: a number, scaled by" out || fail "$(cat out)"
run 0 privatise log.sotto odd.csv -o odd.reports
run 0 train direct --data pay.csv --schema pay.schema --eps 4 -o lin.sotto
grep -q "scale = log is not used (pay)" out || fail "direct does not say it"
run 0 inspect lin.sotto
grep -q logarithm out && fail "direct takes a logarithm"
finish
