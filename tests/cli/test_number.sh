#!/bin/sh
# test_number.sh: a number as the label, from train to predict: what is printed,
# that a model is read back, and what is said of what is wrong.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
awk 'BEGIN { srand(5); print "a,b,y"
    for (i = 0; i < 900; i++) {
        a = rand(); b = rand(); e = rand() + rand() + rand() - 1.5
        printf "%.4f,%.4f,%.3f\n", a, b, 20 + 30 * a + 4 * e } }' >all.csv
{ head -n 1 all.csv; sed -n '2,201p' all.csv; } >aux.csv
{ head -n 1 all.csv; sed -n '202,701p' all.csv; } >people.csv
{ head -n 1 all.csv; sed -n '702,901p' all.csv; } >test.csv

# ---- Shares of epsilon -------------------------------------------------------
run 0 train direct --data aux.csv --label y --eps 12 --lambda 0.5 -o m.sotto
run 0 inspect m.sotto --json
grep -q '"eps_label": *6\.0' out || fail "lambda: $(cat out)"
run 2 train direct --data aux.csv --eps 12 --lambda 0.5 -o x.sotto
says "--lambda" "name a label"

# ---- Fitting -----------------------------------------------------------------
run 0 privatise m.sotto people.csv --seed 1 -o m.reports
run 0 fit m.sotto m.reports --aux aux.csv -o m.model
grep -q "explains about" out || fail "fit: $(cat out)"
run 0 fit m.sotto m.reports --aux aux.csv --threads 1 --json -o n.model
json out
grep -q '"explained": 0\.' out || fail "fit --json: $(cat out)"
cmp -s m.model n.model || fail "threads change the model"
run 0 fit m.sotto m.reports --aux aux.csv --features 10 -o bends.model
run 2 fit m.sotto m.reports -o x.model
run 2 fit m.sotto m.reports --aux aux.csv --hidden 5 -o x.model
run 2 fit m.sotto m.reports --aux aux.csv --learner lattice -o x.model
says "is a number"

# ---- Using -------------------------------------------------------------------
run 0 evaluate m.model --data test.csv --beside people.csv
[ "$(sed -n '3,8p' out | awk '{ print length($0) }' | sort -u | wc -l)" = 1 ] ||
    fail "evaluate's rows are out of line: $(cat out)"
for word in "R2" "RMSE" "MAE" "best constant" "without noise" "explains"; do
    grep -q "$word" out || fail "evaluate does not say $word: $(cat out)"
done
run 0 evaluate m.model --data test.csv --json
json out
grep -q '"r2": 0\.[6-9]' out || fail "learnt nothing: $(cat out)"
grep -q '"better": true' out || fail "no verdict: $(cat out)"
run 0 evaluate bends.model --data test.csv --private --seed 4 --json
json out
run 0 predict m.model test.csv --quantiles 0.1,0.5,0.9 -o p.csv
[ "$(head -n 1 p.csv)" = "row,mean,q0.1,q0.5,q0.9" ] || fail "$(head -n 1 p.csv)"
[ "$(wc -l <p.csv)" -eq 201 ] || fail "predict wrote $(wc -l <p.csv) lines"
awk -F, 'NR > 1 && !($3 < $4 && $4 < $5) { exit 1 }' p.csv ||
    fail "quantiles are not in order"
run 0 predict m.model m.reports --json
json out
for list in 0 1 "0.5," x "0.1,,0.2"; do
    run 2 predict m.model test.csv --quantiles "$list"
    says "--quantiles"
done
run 0 inspect m.model
grep -q "tells a number" out || fail "inspect: $(cat out)"

# A label that the record has nothing to do with: it says so.
awk -F, 'NR == 1 { print "a,b,y" }
    NR > 1 { printf "%s,%s,%d\n", $1, $2, (NR * 37) % 101 }' all.csv >noise.csv
run 0 train direct --data noise.csv --label y --eps 1 -o o.sotto
run 0 privatise o.sotto noise.csv --seed 1 -o o.reports
run 0 fit o.sotto o.reports --aux noise.csv -o o.model
grep -q "do not show" out || fail "fit of noise: $(cat out)"
run 0 evaluate o.model --data noise.csv
grep -q "No better than a constant" out || fail "no verdict: $(cat out)"

# ---- Classes have no quantiles -----------------------------------------------
cp "$SOTTO_SOURCE_DIR/data/wdbc.csv" .
run 0 train direct --data wdbc.csv --label diagnosis --eps 12 \
    --keep radius_mean -o c.sotto
run 0 privatise c.sotto wdbc.csv --seed 1 -o c.reports
run 0 fit c.sotto c.reports --aux wdbc.csv --epochs 2 -o c.model
run 2 predict c.model wdbc.csv --quantiles 0.5
says "classes"
run 2 evaluate c.model --data wdbc.csv --beside wdbc.csv
says "tells a number"

# ---- Ranges: a codebook whose label is a number ------------------------------
run 0 train codebook --data aux.csv --label y --eps 4 --people 500 \
    --candidates pca:d=2 --seed 1 -o b.sotto
run 0 inspect b.sotto
grep -q "y: a number, of which is told how many of" out ||
    fail "no ranges: $(cat out)"
run 0 inspect b.sotto --json
grep -q '"edges":\[[0-9]' out || fail "no edges: $(cat out)"
run 0 privatise b.sotto people.csv --seed 1 -o b.reports
run 0 decode b.sotto b.reports
run 0 fit b.sotto b.reports --seed 1 -o b.model
grep -q "all but a constant" out && fail "fit: $(cat out)"
run 0 evaluate b.model --data test.csv --beside people.csv
run 0 evaluate b.model --data test.csv --json
json out
grep -q '"r2": 0\.[7-9]' out || fail "ranges: learnt nothing: $(cat out)"
run 0 predict b.model test.csv -o p.csv
[ "$(head -n 1 p.csv)" = "row,mean,q0.05,q0.95" ] || fail "$(head -n 1 p.csv)"
run 0 inspect b.model
grep -q "tells a number" out || fail "inspect: $(cat out)"
run 0 audit b.sotto --samples 2000
# Reports of every label there can be, and nothing said of one that is none.
printf 'a,b,y\n0.1,0.1,\n0.1,0.1,abc\n0.1,0.1,1e400\n0.1,0.1,-7\n' >odd.csv
run 0 privatise b.sotto odd.csv -o odd.reports
grep -q "4 reports" out || fail "not a report each: $(cat out)"
# The rows that it was fitted to are refused, however their label is spelt.
run 0 train codebook --data aux.csv --label y --eps 4 --people 500 --seen \
    --candidates pca:d=2 --seed 1 -o s.sotto
awk 'NR > 1 { $0 = $0 "0" } { print }' aux.csv >spelt.csv
for file in aux.csv spelt.csv; do
    run 3 privatise s.sotto $file -o s.reports
done
# Ranges of an encoder's own label are cut anew.
run 0 train codebook --data aux.csv --label y --encoder b.sotto --bins 3 \
    --eps 2 -o e.sotto
run 0 inspect e.sotto
grep -q "how many of 2 edges" out || fail "not cut anew: $(cat out)"
# Numbers that may be names of classes are not cut unless one says so.
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 "," int($3 / 8) + 0.5 }' \
    aux.csv >names.csv
run 2 train codebook --data names.csv --label y --eps 4 -o x.sotto
says "--category"
absent x.sotto
run 0 train codebook --data names.csv --label y --bins 2 --eps 4 \
    --candidates pca:d=2 -o x.sotto
run 2 train codebook --data wdbc.csv --label diagnosis --bins 3 --eps 4 \
    -o z.sotto
says "--bins" "ranges of a number"
run 2 train codebook --data aux.csv --bins 3 --eps 4 -o z.sotto
says "--bins"
absent z.sotto
finish
