#!/bin/sh
# test_content.sh: whatever a record holds, there is a report (invariant 4),
# of the same size.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
make_small

cat >odd.csv <<'END'
age,colour
30,green
,red
NA,blue
NaN,red
inf,red
-inf,red
1e999,red
-1e999,red
1e-999,red
thirty,red
"a long, quoted ""text""
over two lines",blue
99999999999999999999999999999999999999999,red
30,
,
0x1F,"red "
END
printf '30,\303\251\n' >>odd.csv
rows=16
run 0 privatise m.sotto odd.csv -o odd.jsonl
[ "$(wc -l <odd.jsonl)" -eq $rows ] || fail "not $rows reports"
json odd.jsonl
run 0 privatise m.sotto odd.csv -o odd.reports
report=$(($(wc -c <odd.reports) / rows))
[ $((report * rows)) -eq "$(wc -c <odd.reports)" ] ||
    fail "reports differ in size"
run 0 decode m.sotto odd.reports --json
json out

# A stray word makes the reader call the column text; the numbers in it are
# numbers all the same: with the same seed they give the same reports.
printf 'age,colour\n20,red\n60,blue\n40,red\n' >plain.csv
printf 'age,colour\n20,red\n60,blue\nforty,red\n' >stray.csv
run 0 privatise m.sotto plain.csv --seed 5 -o plain.jsonl
run 0 privatise m.sotto stray.csv --seed 5 -o stray.jsonl
[ "$(head -2 plain.jsonl)" = "$(head -2 stray.jsonl)" ] ||
    fail "a stray word changed other rows"
# The middle of the range stands for what is missing, and forty is the middle.
cmp -s plain.jsonl stray.jsonl || fail "a missing number is not the middle"

# Numbers where categories belong, and columns in another order.
printf 'colour,extra,age\nred,1,20\nblue,2,60\nred,3,40\n' >order.csv
run 0 privatise m.sotto order.csv --seed 5 -o order.jsonl
says "extra" "ignored"
cmp -s plain.jsonl order.jsonl || fail "columns are not matched by name"
printf 'age,colour\n20,1\n60,2\n' >numbers.csv
run 0 privatise m.sotto numbers.csv -o numbers.jsonl
run 0 train direct --data numbers.csv --category colour --eps 2 -o n.sotto
run 0 privatise n.sotto numbers.csv --seed 1 -o n.jsonl

# Without a header: c1, c2, also after a column was dropped.
printf '20,red,1\n40,blue,2\n60,red,3\n' >headless.csv
run 0 train direct --data headless.csv --header no --eps 2 --drop c2 -o h.sotto
run 0 privatise h.sotto headless.csv --header no -o h.jsonl
says "c2"

# Labels of their own file are categories, and "label" if nothing names them.
printf '7\n1\n7\n' >digits.csv
run 0 train direct --data headless.csv --labels digits.csv --header no \
    --eps 2 -o l.sotto
run 0 inspect l.sotto --json
grep -q '"label"' out || fail "the labels have no name"
grep -q '"c4"' out && fail "the labels are named as a column of the data"
run 0 privatise l.sotto headless.csv --labels digits.csv --header no \
    --seed 1 -o l.jsonl
run 0 decode l.sotto l.jsonl --json
[ "$(grep -c '"name": "label", "kind": "frequency"' out)" -eq 3 ] ||
    fail "digits as labels are not categories"
printf '"a ""b"", c"\n\n5\n' >odd-labels.csv
run 0 train direct --force --data headless.csv --labels odd-labels.csv --header no \
    --eps 2 -o l.sotto
run 0 inspect l.sotto --json
grep -q 'a .*b.*, c' out || fail "a quoted label is lost"

# Nothing but text: whether there is a header is a guess, and said.
printf 'red,big\nblue,small\n' >words.csv
run 0 train direct --data words.csv --eps 2 -o w.sotto
says "words.csv" "took the first row as column names" "--header no"
for header in yes no; do
    run 0 train direct --force --data words.csv --header $header --eps 2 -o w.sotto
    [ ! -s err ] || fail "--header $header and yet: $(cat err)"
done
run 0 train direct --force --data plain.csv --eps 2 -o w.sotto
[ ! -s err ] || fail "chatter: $(cat err)"
finish
