#!/bin/sh
# test_store.sh: sotto store: a collector's store is checked, copied while it
# is at work, restored, repaired, and forgets a campaign, whose late reports get
# 410.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

make_small
serve="serve --mechanism m.sotto --pub k.pub --listen 127.0.0.1:0 --window 1"
begin() { # STORE
    rm -f port
    # shellcheck disable=SC2086 # words
    "$SOTTO" $serve --store "$1" --simulation --batch-min 2 \
        --port-file port >out 2>err </dev/null &
    pid=$!
    for _ in $(seq 300); do
        [ -s port ] && break
        sleep 0.1
    done
    [ -s port ] || fail "it does not listen: $(cat out err)"
}
finished() {
    kill "$pid"
    wait "$pid" || fail "it ended with $?"
}
post() { # the status of sending r.bin
    python3 - "$(cat port)" <<'P'
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
c.request("POST", "/v1/campaigns/m/reports", open("r.bin", "rb").read(),
          {"Content-Type": "application/octet-stream"})
a = c.getresponse()
print(a.status, a.read().decode().strip())
P
}
health() {
    python3 -c 'import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
c.request("GET", "/healthz")
print(c.getresponse().read().decode().strip())' "$(cat port)"
}

prints() {
    grep -q "$1" out || fail "it does not print '$1': $(cat out)"
}

# ---- Bad usage ---------------------------------------------------------------
run 2 store chekc sqlite:s.db
says "did you mean check"
run 2 store forget sqlite:s.db
says "say which"
run 2 store backup sqlite:s.db
says "say where"
run 1 store check sqlite:none.db
says "there is no store"

# ---- A store at work ---------------------------------------------------------
run 0 privatise m.sotto small.csv --seed 1 -o r.bin
begin sqlite:s.db
post >answer
grep -q '^200 ' answer || fail "$(cat answer)"
grep -q '"duplicate":0' answer || fail "$(cat answer)"
run 0 store backup sqlite:s.db open.db
for _ in $(seq 100); do # until the window has ended
    run 0 store backup sqlite:s.db copy.db
    "$SOTTO" export m.sotto --store sqlite:copy.db --simulation -o copied \
        >/dev/null 2>&1 && break
    rm -rf copy.db*
    sleep 0.2
done
[ -s copied ] || fail "nothing was released"
run 0 store check sqlite:s.db
prints "sound"
[ "$(health)" = ok ] || fail "$(health)"
finished
run 2 store backup sqlite:s.db copy.db
says "is there already"

# ---- Restored ----------------------------------------------------------------
begin sqlite:copy.db
post >answer
grep -q '"accepted":0' answer || fail "it takes again: $(cat answer)"
finished
begin sqlite:open.db
post >answer
grep -q '"duplicate":0' answer || fail "the open window was in: $(cat answer)"
finished

# ---- Damaged -----------------------------------------------------------------
python3 - <<'P'
data = bytearray(open("s.db", "rb").read())
import sqlite3
row = sqlite3.connect("file:s.db?mode=ro", uri=True).execute(
    "SELECT reports FROM released").fetchone()[0]
at = data.find(row[32:40])
assert at > 0
data[at] ^= 1
open("s.db", "wb").write(data)
P
run 1 store check sqlite:s.db
prints "1 report is damaged"
run 1 store check sqlite:s.db --json
json out
begin sqlite:s.db
for _ in $(seq 100); do
    health | grep -q damaged && break
    sleep 0.1
done
health | grep -q "^ok, but something in the store is damaged" ||
    fail "health says $(health)"

# ---- Forgotten ---------------------------------------------------------------
run 1 store forget sqlite:s.db m.sotto
says "has a writer"
finished
run 0 store forget sqlite:s.db m.sotto
prints "Forgotten"
run 0 store check sqlite:s.db
begin sqlite:s.db
post >answer
grep -q '^410 .*closed' answer || fail "a late report: $(cat answer)"
finished

# ---- Repaired ----------------------------------------------------------------
harm() { # PAGE: more than one byte of it
    python3 - "$1" <<'P'
import sys
at = (int(sys.argv[1]) - 1) * 4096
data = bytearray(open("copy.db", "rb").read())
data[at : at + 4096] = bytes(4096)
open("copy.db", "wb").write(data)
P
}
run 0 store repair sqlite:copy.db
prints "nothing to repair"
[ ! -e copy.db.damaged ] || fail "a sound store was replaced"
begin sqlite:copy.db
run 1 store repair sqlite:copy.db
says "stop the collector"
finished
harm 3
run 1 store check sqlite:copy.db
prints "page 3 "
run 0 store repair sqlite:copy.db
prints "page 3: damaged"
prints "kept as copy.db.damaged"
run 0 store check sqlite:copy.db
run 0 export m.sotto --store sqlite:copy.db --simulation -o repaired
cmp copied repaired || fail "not what it was"
begin sqlite:copy.db
post >answer
grep -q '"accepted":0' answer || fail "it takes again: $(cat answer)"
finished
harm 1
run 2 store repair sqlite:copy.db
says "an earlier repair kept"
rm copy.db.damaged*
run 0 store repair sqlite:copy.db --json
json out
grep -q '"sound": false' out || fail "$(cat out)"
run 0 store repair sqlite:copy.db --json
grep -q '"sound": true' out || fail "$(cat out)"
run 2 store repair postgres://127.0.0.1/none
says "own tools"
run 1 store repair sqlite:none.db
says "there is no store"
run 2 store repair sqlite:copy.db more
finish
