#!/bin/sh
# test_label_only.sh: reports about the label alone, where whoever gets them
# holds the records: what is said of them, who refuses them, and learning.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

make_small

# ---- What the mechanism says of itself ---------------------------------------
run 0 train direct --data small.csv --label colour --eps 2 --label-only \
    -o only.sotto
run 0 inspect only.sotto
[ "$(head -c 28 out)" = "The record is not protected." ] ||
    fail "inspect begins '$(head -1 out)'"
run 0 inspect only.sotto --json
grep -q '"label_only":true' out || fail "inspect --json does not say it"
run 0 inspect m.sotto
grep -q "not protected" out && fail "a plain mechanism is said to be label-only"
run 2 train direct --data small.csv --eps 2 --label-only -o none.sotto
says "label-only" "name one"
run 2 train direct --data small.csv --label age --eps 2 --label-only \
    -o none.sotto
says "label-only" "category"
absent none.sotto

# ---- Neither sent nor collected ----------------------------------------------
run 0 sign only.sotto --key k.key
run 0 ledger new l --lifetime-eps 3
printf 'name,colour\nann,red\nbob,blue\n' >people.csv
run 3 send only.sotto people.csv --person name --ledger l --pub k.pub \
    --to http://127.0.0.1:1/v1/campaigns/c --tries 1 --spread 0
says "for the label only" "neither sent nor collected"
run 0 ledger show l --person ann --json
grep -q '"id"' out && fail "ann was charged for what is not sent"
run 3 serve --mechanism only.sotto --pub k.pub --store sqlite:s.db \
    --listen 127.0.0.1:0
says "for the label only" "neither sent nor collected"
absent s.db

finish
