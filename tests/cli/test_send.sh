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
files="$small_files people.csv l l.secret"

# try STATUS WORDS...: with the usual arguments; --tries 1, as nobody answers.
try() {
    wanted_status=$1
    shift
    run "$wanted_status" send m.sotto people.csv --person name --ledger l \
        --pub k.pub --tries 1 "$@"
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
says "1 to 10000"
try 2 --to "$nobody" --batch 10001
try 2 --to "$nobody" --spread 604801
try 2 --to "$nobody" --timeout 0
try 2 --to "$nobody" --tries 0
# shellcheck disable=SC2086
only $files
uncharged "bad usage"
run 2 send m.sotto people.csv --person nme --ledger l --to "$nobody" \
    --pub k.pub --queue q
says "no column"
run 2 send m.sotto people.csv --person age --ledger l --to "$nobody" \
    --pub k.pub --queue q
says "no part of a record"
run 1 send m.sotto none.csv --person name --ledger l --to "$nobody" \
    --pub k.pub --queue q
run 1 send m.sotto people.csv --person name --ledger none --to "$nobody" \
    --pub k.pub --queue q
says "there is no ledger"
run 2 send m.sotto people.csv --person name --ledger l --to "$nobody" \
    --pub k.pub --queue small.csv
says "no queue"
rm -f small.csv.lock
printf x >>m.sotto
try 3 --to "$nobody" --queue q
says "m.sotto"
uncharged "a changed mechanism"
run 0 train direct --data small.csv --label colour --eps 2 -o m.sotto
rm -f q q.lock

# ---- Nobody answers ----------------------------------------------------------
try 1 --to "$nobody"
says "cannot talk to http://127.0.0.1:1/" "stays for another time"
[ -s out ] && fail "not quiet without a terminal: $(cat out)"
[ "$(stat -c %a l.queue)$(stat -c %a l.queue.lock)" = 600600 ] ||
    fail "others may read the queue"
# shellcheck disable=SC2086
only $files l.queue l.queue.lock
try 1 --to "$nobody" --json
json out
grep -q '"left": 2, .*"new": 0, "replayed": 2, "over_cap": 0' out ||
    fail "json: $(cat out)"
try 0 --to "$nobody" --dry-run
grep -q "In the queue: 2 reports" out || fail "dry run: $(cat out)"
try 0 --to "$nobody" --dry-run --json
json out
grep -q '"waiting": 2, "shown": 2, "blank": false' out || fail "$(cat out)"
try 0 --to http://127.0.0.1:1/v1/campaigns/other --dry-run --json
grep -q '"waiting": 0, "shown": 0, "blank": true' out || fail "$(cat out)"

# ---- The ledger refuses ------------------------------------------------------
# What is over a cap is not sent, and the others' reports are queued.
run 0 train direct --data small.csv --label colour --eps 2 --name n -o n.sotto
run 0 sign n.sotto --key k.key
printf 'name,age,colour\nann,31,red\ncy,47,blue\n' >next.csv
run 1 send n.sotto next.csv --person name --ledger l --pub k.pub --tries 1 \
    --to http://127.0.0.1:1/v1/campaigns/n --json
says "'next.csv', row 1 (line 2)" "1 is left"
grep -q '"left": 1, .*"new": 1, "replayed": 0, "over_cap": 1' out ||
    fail "json: $(cat out)"

# ---- The time of sending -----------------------------------------------------
# Drawn up to a week away: it waits, and an interrupt ends that; all is queued.
"$SOTTO" send m.sotto people.csv --person name --ledger l --pub k.pub \
    --queue late --to "$nobody" --spread 604800 >out 2>err </dev/null &
late=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 0.2
    "$SOTTO" send m.sotto people.csv --person name --ledger l --pub k.pub \
        --queue late --to "$nobody" --dry-run 2>/dev/null |
        grep -q "In the queue: 2" && break
done
kill -0 "$late" || fail "it did not wait: $(cat err)"
kill -TERM "$late"
wait "$late"
[ $? -eq 1 ] || fail "not status 1 when stopped"
says "stopped"

finish
