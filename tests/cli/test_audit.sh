#!/bin/sh
# test_audit.sh: sotto audit: its keys, its width, its exit status, and that it
# leaves nothing behind.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
make_small
mkdir -p tmp
TMPDIR=$work/tmp
export TMPDIR
quick="--samples 2000 --branches 20000 --steps 30000"

clean() {
    [ -z "$(ls -A tmp)" ] || fail "left in TMPDIR: $(ls -A tmp)"
    # shellcheck disable=SC2086 # words
    only $small_files tmp
}

# ---- JSON --------------------------------------------------------------------
# shellcheck disable=SC2086 # words
run 0 audit m.sotto $quick --json
json out
tail -1 out | python3 -c '
import json, sys
end = json.load(sys.stdin)
assert end["eps_stated"] == 2 and end["eps_exact"] == 2, end
assert 0 <= end["eps_lower"] <= 2 and end["alpha"] == 0.001, end
assert end["samples"] == 2000 and end["delta_stated"] == 0, end
assert 0 < end["sensitivity_found"] <= end["sensitivity_stated"], end
assert end["verdict"] == "holds" and end["untried"] >= 0, end' || fail "the last line: $(tail -1 out)"
for attack in enumerate replay sample restart time; do
    grep -q "\"attack\": *\"$attack\"" out || fail "no finding of $attack"
done
[ "$(grep -c '"part"' out)" -eq 2 ] || fail "not a line a part"
[ -s err ] && fail "it said: $(cat err)"
clean

# ---- Text --------------------------------------------------------------------
# shellcheck disable=SC2086 # words
run 0 audit m.sotto $quick --alpha 0.01 --seed 3
awk 'length > 80 { print; bad = 1 } END { exit bad }' out ||
    fail "wider than 80 columns"
grep -q "^Verdict: the claim holds\(, as far as it could be tried\)*\.$" out ||
    fail "no verdict"
grep -q "99% confidence" out || fail "--alpha changes nothing"
grep -q "VIOLATED" out && fail "violated"
clean

# ---- One report --------------------------------------------------------------
run 0 audit m.sotto --one
[ "$(tr -d '\n' <out | wc -c)" -eq $((2 * 57)) ] ||
    fail "--one: not 57 bytes: $(cat out)"
grep -q -x -E '[0-9a-f]+' out || fail "--one: not hexadecimal"
cp out one
run 0 audit m.sotto --one
cmp -s out one && fail "--one: the same report twice"
rm one
clean

# ---- Mistakes ----------------------------------------------------------------
run 2 audit
run 1 audit nowhere.sotto
says nowhere.sotto
run 2 audit small.csv
run 2 audit m.sotto --samples none
run 2 audit m.sotto --samples 100000001
says 100000000
run 2 audit m.sotto --branches -1
run 2 audit m.sotto --steps many
run 2 audit m.sotto --alpha 0.7
run 2 audit m.sotto --alpha 0
run 2 audit m.sotto --one --loud
run 2 audit m.sotto k.pub
clean

# No folder for a ledger: said, and no violation.
TMPDIR=$work/tmp/gone
# shellcheck disable=SC2086 # words
run 0 audit m.sotto $quick
grep -q "ledger could not be tried" out || fail "where was the ledger?"
# A long one is fine.
TMPDIR=$work/tmp/$(printf '%0120d' 0)
mkdir "$TMPDIR"
# shellcheck disable=SC2086 # words
run 0 audit m.sotto $quick
grep -q "ledger could not be tried" out && fail "TMPDIR was too long"
rmdir "$TMPDIR" || fail "left in TMPDIR"
# Ended in the middle, it takes its ledger with it.
TMPDIR=$work/tmp
"$SOTTO" audit m.sotto --samples 50000000 >out 2>err &
audit=$!
tries=0
while [ -z "$(ls -A tmp)" ] && [ "$tries" -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
[ -n "$(ls -A tmp)" ] || fail "no ledger was made"
kill -TERM "$audit"
wait "$audit" && fail "it did not end"
# It fails: no memory for so many samples.
TMPDIR=$work/tmp
if [ -z "$SOTTO_SANITIZE" ]; then
    (
        # shellcheck disable=SC3045 # dash has it
        ulimit -v 300000
        "$SOTTO" audit m.sotto --branches 20000 \
            --samples 50000000 >out 2>err
    ) && fail "it had the memory"
fi
clean
finish
