#!/bin/sh
# test_train_replace.sh: train over a file that is there, its signature, and what a
# mechanism and its campaign are called.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
make_small

# called NAME CAMPAIGN FILE: what inspect says of a mechanism.
called() {
    run 0 inspect "$3"
    head -1 out | grep -q -x "Mechanism \"$1\" for the campaign \"$2\"" ||
        fail "not $1 of $2: $(head -1 out)"
}

# ---- A mechanism that is there ------------------------------------------------
cp m.sotto before
run 2 train direct --data small.csv --label colour --eps 1 -o m.sotto
says "'m.sotto' is there already" "cannot be read without it" "--force"
cmp -s m.sotto before || fail "a mechanism was replaced"
run 2 train direct --from m.sotto --eps 1 -o before
says "'before' is there already"
[ -e m.sotto.minisig ] || fail "the signature of what stays is gone"

# The same bytes again: the signature is still of them.
run 0 train direct --data small.csv --label colour --eps 2 --force -o m.sotto
cmp -s m.sotto before || fail "the same command, another mechanism"
[ -s err ] && fail "a word about nothing: $(cat err)"
run 0 verify m.sotto --pub k.pub

# Other bytes: it is not.
run 0 train direct --data small.csv --label colour --eps 1 --force --json -o m.sotto
json out
says "removed 'm.sotto.minisig'" "signature of an older mechanism" "sign the new"
absent m.sotto.minisig
run 3 verify m.sotto --pub k.pub

# A signature that lost its mechanism.
echo left >alone.sotto.minisig
run 0 train direct --from m.sotto --eps 2 -o alone.sotto
says "removed 'alone.sotto.minisig'"
absent alone.sotto.minisig

# Nothing is lost with an empty file.
: >empty.sotto
run 0 train direct --data small.csv --label colour --eps 2 -o empty.sotto

# An analyst file that was named.
run 0 train pca --data small.csv --eps 1 --d 1 --analyst p.prior -o p.sotto
cp p.prior before
run 2 train pca --data small.csv --eps 2 --d 1 --analyst p.prior -o q.sotto
says "'p.prior' is there already"
cmp -s p.prior before || fail "an analyst file was replaced"
absent q.sotto

# ---- One name for file, ledger and address -----------------------------------
mkdir folder
run 0 train direct --data small.csv --label colour --eps 1 -o folder/spring.sotto
called spring spring folder/spring.sotto
run 0 train direct --data small.csv --eps 1 --name Blood -o autumn.sotto
called Blood autumn autumn.sotto
run 0 train direct --data small.csv --eps 1 --campaign year -o winter.sotto
called winter year winter.sotto
run 0 train direct --from folder/spring.sotto --eps 2 -o more.sotto
called spring spring more.sotto
run 0 train direct --data small.csv --eps 1 -o 'a"b'
called a_b a_b 'a"b'

# Campaigns of two files do not share a cap.
printf 'name,age,colour\nann,31,red\n' >people.csv
run 0 ledger new l --lifetime-eps 3
for m in folder/spring.sotto winter.sotto; do
    run 0 privatise $m people.csv --ledger l --person name -o r
done
run 0 ledger show l --person ann --json
grep -q '"spring"' out || fail "no campaign spring: $(cat out)"
finish
