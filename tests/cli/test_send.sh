#!/bin/sh
# test_send.sh: sotto send's options, what it checks before anybody is charged,
# and what it leaves behind; tests/sender has a server to send to.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

make_small
printf 'name,age,colour\nann,31,red\nbob,47,blue\n' >people.csv
run 0 ledger new l --lifetime-eps 3
nobody=http://127.0.0.1:1/v1/campaigns/c
# shellcheck disable=SC2086 # small_files is a list
files="$small_files people.csv l l.secret l.mark"

# try STATUS WORDS...: with the usual arguments; --tries 1, as nobody answers;
# --spread 0, so that no test waits for a time that is drawn.
try() {
    wanted_status=$1
    shift
    run "$wanted_status" send m.sotto people.csv --person name --ledger l \
        --pub k.pub --tries 1 --spread 0 "$@"
}
uncharged() {
    run 0 ledger show l --person ann --json
    grep -q '"id"' out && fail "ann was charged: $1"
}

# ---- What is refused before anybody is charged -------------------------------
run 2 send m.sotto people.csv --person name --ledger l --pub k.pub
says "to"
run 2 send m.sotto people.csv --person name --ledger l --to "$nobody"
says "pub"
run 2 send m.sotto people.csv --ledger l --to "$nobody" --pub k.pub
says "person"
try 2 --to http://example.org/v1/campaigns/c
says "without TLS"
try 2 --to https://example.org/
says "v1/campaigns/NAME"
try 2 --to "$nobody" --proxy socks5h://127.0.0.1:9050
says "proxy"
try 2 --to "$nobody" --batch 0
says "--batch 0 is not a whole number from 1 to 10000"
try 2 --to "$nobody" --batch 10001
run 2 send m.sotto people.csv --person name --ledger l --pub k.pub --tries 1 \
    --to "$nobody" --spread 604801
try 2 --to "$nobody" --timeout 0
try 2 --to "$nobody" --tries 0
# shellcheck disable=SC2086
only $files
uncharged "bad usage"
run 0 train pca --data small.csv --d 1 --eps 2 -o p.sotto
run 0 sign p.sotto --key k.key
run 0 inspect p.sotto
grep -q "4 multiply-adds a record" out || fail "inspect: no multiply-adds"
for verb in "send p.sotto people.csv --to $nobody --pub k.pub --queue q" \
    "privatise p.sotto small.csv -o r"; do
    # shellcheck disable=SC2086 # verb is a list
    run 2 $verb --person name --ledger l --work 0
    says "takes this mechanism 4 multiply-adds" "--work 4"
    # shellcheck disable=SC2086
    run 2 $verb --person name --ledger l --work 4294967297
    says "4294967296"
done
absent r
rm -f p.sotto* p.analyst q q.lock
run 1 send m.sotto people.csv --person name --ledger none --to "$nobody" \
    --pub k.pub
says "there is no ledger"
run 1 send m.sotto people.csv --person name --ledger l --to "$nobody" \
    --pub none.pub --queue q
says "none.pub"
rm -f q q.lock
run 2 send m.sotto people.csv --person name --ledger l --to "$nobody" \
    --pub k.pub --queue small.csv
says "no queue"
try 2 --to https://ann:secret@example.org/v1/campaigns/c
says "no user"
grep -q secret err && fail "a password is shown: $(cat err)"
run 2 send none.sotto people.csv --person name --ledger l --to "$nobody" \
    --pub k.pub
says "pin HASH"
# shellcheck disable=SC2086
only $files
printf x >>m.sotto
try 3 --to "$nobody" --queue q
says "m.sotto"
uncharged "a changed mechanism"
run 0 train direct --data small.csv --label colour --eps 2 --force -o m.sotto
says "removed 'm.sotto.minisig'" "sign the new one"
run 0 sign m.sotto --key k.key
rm -f q q.lock

# ---- Nobody answers ----------------------------------------------------------
try 1 --to "$nobody"
says "cannot talk to http://127.0.0.1:1/" "nobody was charged"
[ -s out ] && fail "not quiet without a terminal: $(cat out)"
[ "$(stat -c %a l.queue)$(stat -c %a l.queue.lock)" = 600600 ] ||
    fail "others may read the queue"
# shellcheck disable=SC2086
only $files l.queue l.queue.lock
uncharged "nobody answers"
try 1 --to "$nobody" --json
json out
grep -q '"left": 0, .*"new": 0, "replayed": 0, "over_cap": 0' out ||
    fail "json: $(cat out)"
try 0 --to "$nobody" --dry-run --json
grep -q '"waiting": 0, .*"shown": 0, "blank": true' out || fail "$(cat out)"

# ---- A collector that has the mechanisms -------------------------------------
run 0 train direct --data small.csv --label colour --eps 2 --name n -o n.sotto
run 0 sign n.sotto --key k.key
mkdir served
cp m.sotto n.sotto m.sotto.minisig n.sotto.minisig served
"$SOTTO" serve --mechanism served --pub k.pub --store sqlite:served/s.db \
    --listen 127.0.0.1:0 --port-file served/port >served/out 2>&1 </dev/null &
collector=$!
for _ in $(seq 300); do
    [ -s served/port ] && break
    sleep 0.1
done
[ -s served/port ] || fail "it does not listen: $(cat served/out)"
here="http://127.0.0.1:$(tr -d '\n' <served/port)/v1/campaigns"

run 2 send m.sotto people.csv --person nme --ledger l --to "$here/m" \
    --pub k.pub
says "no column"
run 2 send m.sotto people.csv --person age --ledger l --to "$here/m" \
    --pub k.pub
says "no part of a record"
run 1 send m.sotto none.csv --person name --ledger l --to "$here/m" --pub k.pub
says "none.csv"
try 3 --to "$here/n"
says "another mechanism" "nobody was charged"
try 1 --to "$here/x"
says "no such campaign" "nobody was charged"
uncharged "a wrong file or campaign"

# ---- The time of sending -----------------------------------------------------
# Drawn up to a week away: it waits, and an interrupt ends that; all is queued.
"$SOTTO" send m.sotto people.csv --person name --ledger l --pub k.pub \
    --to "$here/m" --spread 604800 >out 2>err </dev/null &
late=$!
for _ in $(seq 100); do
    sleep 0.1
    "$SOTTO" send m.sotto people.csv --person name --ledger l --pub k.pub \
        --to "$here/m" --dry-run 2>/dev/null |
        grep -q "In the queue: 2" && break
done
kill -0 "$late" || fail "it did not wait: $(cat err)"
kill -TERM "$late"
wait "$late"
[ $? -eq 1 ] || fail "not status 1 when stopped"
says "stopped"
try 0 --to "$here/m" --dry-run --json
json out
grep -q '"waiting": 2, .*"shown": 2, "blank": false' out || fail "$(cat out)"
try 0 --to "$here/other" --dry-run --json
grep -q '"waiting": 0, .*"shown": 0, "blank": true' out || fail "$(cat out)"
try 0 --to "$here/m" --json
grep -q '"accepted": 2, .*"left": 0, .*"new": 0, "replayed": 2, "over_cap": 0' \
    out || fail "json: $(cat out)"

# ---- From a pipe: every row, once --------------------------------------------
{
    echo name,age,colour
    sleep 0.2
    printf 'dee,31,red\n'
    sleep 0.2
    printf 'eve,47,blue\nfay,20,red\n'
} | "$SOTTO" send m.sotto /dev/stdin --person name --ledger l --pub k.pub \
    --spread 0 --grid 0 --to "$here/m" --json >out 2>err || fail "a pipe: $(cat err)"
grep -q '"accepted": 3, .*"new": 3, ' out || fail "from a pipe: $(cat out)"

# ---- The ledger refuses ------------------------------------------------------
# What is over a cap is not sent, and the others' reports are.
printf 'name,age,colour\nann,31,red\ncy,47,blue\n' >next.csv
run 3 send n.sotto next.csv --person name --ledger l --pub k.pub --grid 0 \
    --spread 0 --to "$here/n" --json
says "'next.csv', row 1 (line 2)" "1 is left"
grep -q '"accepted": 1, .*"new": 1, "replayed": 0, "over_cap": 1' out ||
    fail "json: $(cat out)"

# ---- A ledger put back from a backup -----------------------------------------
# The ledger and its mark are old, the queue is not: nobody new is asked, and
# stored reports go.
cp l old
cp l.mark old.mark
printf 'name,age,colour\ngus,31,red\n' >gus.csv
run 0 send m.sotto gus.csv --person name --ledger l --pub k.pub --grid 0 \
    --spread 0 --to "$here/m"
cp old l
cp old.mark l.mark
printf 'name,age,colour\nann,31,red\ngus,31,red\n' >both.csv
run 3 send m.sotto both.csv --person name --ledger l --pub k.pub --grid 0 \
    --spread 0 --to "$here/m" --json
says "'both.csv', row 2 (line 3)" "backup" "nobody new is asked"
grep -q '"new": 0, "replayed": 1, "over_cap": 1' out || fail "json: $(cat out)"
kill -TERM "$collector"
wait "$collector" || fail "the collector: $(cat served/out)"

finish
