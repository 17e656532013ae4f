#!/bin/sh
# test_account.sh: sotto account: the table, JSON, a mechanism's budget, and
# messages that name the word.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# row METHOD EPS DELTA: the last run printed that row.
row() {
    grep -q -x -E "$1 +$2 +$3" out || {
        fail "no row $*"
        sed 's/^/    /' out
    }
}

# ---- Tables ------------------------------------------------------------------
run 0 account 4 0.5x20 1:0.000001x3
row basic 17 0.000003
[ "$(grep -c -E '^(basic|drv|kov|optimal|exact) ' out)" -eq 1 ] ||
    fail "more than basic without a slack"
grep -q "^Use basic: " out || fail "does not say what to use"
run 0 account 4 0.5x20 1:0.000001x3 --delta 0.000001
row kov 17 0.000003
grep -q "^optimal" out && fail "an optimum of different budgets"

run 0 account 0.1x52 --delta 0.000001 --k 10
row basic 5.2 0
row drv 4.337420528284 0.000001
row kov 4.005193158567 0.000001
row optimal 3.24127427406 0.000001
row exact 1.466473868826 0.000001
grep -q "^Use exact: " out || fail "does not say what to use"
cp out exact.out
run 0 account 0.1x50 0.1 0.1 --delta 0.000001
row optimal 3.24127427406 0.000001
grep -q "^Use optimal: " out || fail "does not say what to use"
run 0 account 0.1x52 --delta 0.000001 --k 2
row exact 3.24127427406 0.000001
run 0 account 0.1x52 --delta 0
row optimal 5.2 0
row kov 5.2 0
run 0 account 0.001x2000000 --delta 0.000001
grep -q "^Use kov: " out || fail "does not say what to use"

# In words: rounded up, and no delta where there is none.
run 0 account 1 --delta 0
grep -q -x '  1 in 2      at most 73.2%' out || fail "a guess of 1 in 2"
grep -q -x '  1 in 1,000  at most 0.272%' out || fail "a guess of 1 in 1,000"
grep -q "plain answer" out && fail "a delta that is none"
run 0 account 1:0.000001x20
grep -q -x '  1 in 2      over 99.9%' out || fail "a bound that is none"
grep -q "no bound worth the name" out || fail "does not say that it is none"
grep -q "plain answer" out || fail "says nothing of delta"

# ---- JSON --------------------------------------------------------------------
run 0 account 0.1x52 --delta 0.000001 --k 10 --json
json out
[ "$(wc -l <out)" -eq 5 ] || fail "not an object a method"
grep -q -x '{"method": "exact", "eps": 1.466473868826, "delta": 0.000001}' \
    out || fail "the object: $(tail -1 out)"

# ---- A mechanism -------------------------------------------------------------
# Nine colours and (other), one response of ten answers.
printf 'colour\na\nb\nc\nd\ne\nf\ng\nh\ni\n' >colour.csv
run 0 train direct --data colour.csv --header yes --eps 0.1 -o flip.sotto
run 0 account --mechanism flip.sotto --times 52 --delta 0.000001
cmp -s out exact.out || {
    fail "not the cost of its responses"
    diff out exact.out
}
# The same mechanism, inspected: what a guess can become.
run 0 inspect flip.sotto --reports 52
grep -q -x '  1 in 10       9.13% to 11.0%              0.0612% to 95.3%' out ||
    fail "no guesses"
grep -q 'after 52 reports' out || fail "not after so many"
run 0 inspect flip.sotto --reports 52 --json
json out
grep -q '"guesses":\[{"reports":1,"one_in":2,"most":' out || fail "no guesses"
grep -q '{"reports":52,"one_in":1000,"most":' out || fail "not after so many"
run 2 inspect flip.sotto --reports 0
says "--reports 0 is not a whole number from 1 to 1000000"

run 0 account --mechanism flip.sotto
row basic 0.1 0
make_small # two parts
run 0 account --mechanism m.sotto --times 3 --delta 0.1
row basic 6 0
grep -q "^exact" out && fail "two parts are not one response"

# ---- Mistakes ----------------------------------------------------------------
run 2 account
says "budget is missing" "0.5x20"
run 2 account 1 2z
says "'2z'" "plain decimal"
run 2 account 33
says "'33'" "at most 32"
run 2 account 1:1e-6
says "'1:1e-6'" "such as 0.000001"
run 2 account 1:1
says "'1:1'" "below 1"
run 2 account 1x0
says "'1x0'" "how often"
run 2 account 32x600000
says "add up to more than 18446744"
run 2 account 1 --delta 1
says "delta" "'1'" "below 1"
run 2 account 1 1 --k 3 --delta 0.1
says "'1' is one budget too many"
run 2 account 1:0.1 --k 3 --delta 0.1
says "'1:0.1'" "leave the delta out"
run 2 account 1x3 --k 1 --delta 0.1
says "k 1" "from 2"
run 2 account 1x3 --k 3
says "needs --delta"
run 2 account 1x2000000 --k 3 --delta 0.1
says "'1x2000000'" "at most 1000000"
run 2 account 1 --times 3
says "goes with --mechanism"
run 2 account 1 --mechanism m.sotto
says "leave out the budgets"
run 2 account --mechanism m.sotto --k 3
says "leave out --k"
run 2 account --mechanism m.sotto --times 0
says "times 0" "from 1"
run 1 account --mechanism none.sotto
says none.sotto
run 2 account --mechanism small.csv
says small.csv
run 0 train direct --data small.csv --keep age --range age=0:100 --eps 1 \
    --numbers gaussian --delta 0.000001 -o gaussian.sotto
run 0 account --mechanism gaussian.sotto --times 3
grep -q '^basic     3                       0\.000003$' out ||
    fail "the mechanism's delta is lost: $(cat out)"
printf '\033[31m' >word
run 2 account "$(cat word)"
grep -q -F "$(cat word)" err && fail "a word steers the terminal"
# ---- The largest questions are answered in seconds ---------------------------
for words in 0.000001x4294967295 "0.000001x1000000 --k 4294967295" \
    "32x576460 --k 2" "0.004x4294967295" "0.000001:0.999999999999x1000000"; do
    # shellcheck disable=SC2086 # several words
    timeout 60 "$SOTTO" account $words --delta 0.000000000001 >out 2>err ||
        fail "account $words: status $?"
done
# shellcheck disable=SC2086 # a list
only $small_files exact.out colour.csv flip.sotto gaussian.sotto word
finish
