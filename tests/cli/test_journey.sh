#!/bin/sh
# test_journey.sh: every verb's example as its help prints it, both forms of
# reports, seeds, JSON.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
mkdir data bin
cp "$SOTTO_SOURCE_DIR/data/wdbc.csv" data/
ln -s "$SOTTO" bin/sotto
PATH=$work/bin:$PATH

run 0 --version
grep -q "project(sotto VERSION $(sed 's/^sotto //' out) " \
    "$SOTTO_SOURCE_DIR/CMakeLists.txt" || fail "another version: $(cat out)"
grep -q "\"$(cat out)\"" "$SOTTO_SOURCE_DIR/docs/man/sotto.1" ||
    fail "the manual page has another version than $(cat out)"
run 0
run 0 --help
verbs=$(sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' out)
[ "$(echo "$verbs" | wc -l)" -eq 27 ] || fail "not 27 verbs: $verbs"

# ---- The examples ------------------------------------------------------------
for verb in train keygen sign verify inspect privatise send decode fit \
    predict evaluate choose validate tune ledger account audit experiment bench demo data plan store; do
    echo "$verbs" | grep -q -x $verb || fail "$verb is not listed"
    run 0 $verb --help
    awk 'length > 80 { print; bad = 1 } END { exit bad }' out ||
        fail "$verb --help is wider than 80 columns"
    sed '1,/^Example:/d' out >example
    grep -q "^  sotto $verb" example || fail "$verb has no example"
    case "${SOTTO_SANITIZE:-}:$verb" in
    ?*:demo | ?*:bench | ?*:experiment) continue ;; # they have tests, and take long
    esac
    sh -e ./example >example.out 2>&1 || {
        fail "the example of $verb does not run"
        cat example example.out
    }
done
for file in wdbc.sotto wdbc.sotto.minisig collector.key collector.pub \
    wdbc.reports wdbc.decoded.csv wdbc.model wdbc.classes.csv my.ledger; do
    [ -s $file ] || fail "the examples did not make $file"
done
[ "$(stat -c %a collector.key)" = 600 ] || fail "others may read the key"
if command -v minisign >/dev/null; then
    minisign -V -q -p collector.pub -m wdbc.sotto || fail "minisign objects"
fi

# ---- Both forms of reports; the same estimates from both ---------------------
m=wdbc.sotto
run 0 privatise $m data/wdbc.csv --seed 7 -o a.reports
says "never to be sent"
run 0 privatise $m data/wdbc.csv --seed 7 -o b.reports
run 0 privatise $m data/wdbc.csv --seed 7 -o a.jsonl
run 0 privatise $m data/wdbc.csv --seed 8 -o c.reports
cmp -s a.reports b.reports || fail "one seed, two results"
cmp -s a.reports c.reports && fail "two seeds, one result"
[ "$(wc -l <a.jsonl)" -eq 569 ] || fail "not a report a row"
run 0 decode $m a.reports -o a.csv --json
cp out a.out
run 0 decode $m a.jsonl -o b.csv --json
says "simulated"
cmp -s out a.out || fail "the forms give different estimates"
cmp -s a.csv b.csv || fail "the forms decode differently"
run 0 decode $m a.reports -o c.jsonl
cmp -s a.jsonl c.jsonl || fail "decode -o .jsonl is not the JSON form"
[ "$(wc -l <a.csv)" -eq 570 ] || fail "decode: not a line a report"
head -1 a.csv | grep -q '^id,simulated,part1.b0.0,' || fail "decode's header"
sed -n 2p a.csv | grep -q -E '^[0-9a-f]{32},yes,-?[0-9]' || fail "decode's row"
run 0 decode $m a.reports --confidence 0.5 --json
cmp -s out a.out && fail "the confidence changes nothing"

# Real reports: no two runs alike.
run 0 privatise $m data/wdbc.csv -o d.reports
cmp -s wdbc.reports d.reports && fail "the same noise twice"

# To a pipe: the bytes on standard output, the words on standard error.
"$SOTTO" privatise $m data/wdbc.csv --seed 7 -o /dev/stdout 2>err >a.piped
cmp -s a.reports a.piped || fail "reports to standard output"
"$SOTTO" decode $m a.reports -o /dev/stdout 2>err >a.piped
cmp -s a.csv a.piped || fail "decode to standard output"
"$SOTTO" decode $m a.reports -o /proc/self/fd/1 2>err >a.piped
cmp -s a.csv a.piped || fail "decode to standard output by its number"
"$SOTTO" privatise $m data/wdbc.csv --seed 7 -o /dev/stdout 2>err | cat >a.piped
cmp -s a.reports a.piped || fail "reports to a pipe"

# A mechanism, too: what was written is not read back.
for to in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    "$SOTTO" train direct --data data/wdbc.csv --eps 1 --keep area_mean \
        -o $to 2>err >piped.sotto || fail "train -o $to"
    says "Wrote $to" "Mechanism"
    run 0 inspect piped.sotto
    "$SOTTO" train direct --data data/wdbc.csv --eps 1 --keep area_mean \
        --json -o $to 2>err | cat >pipe.sotto
    cmp -s piped.sotto pipe.sotto || fail "train -o $to to a pipe"
    json err
done

# Simulated and real reports do not mix; one report alone has no interval.
run 0 privatise $m data/wdbc.csv -o d.jsonl
cat a.jsonl d.jsonl >mixed.jsonl
run 2 decode $m mixed.jsonl -o mixed.csv
says mixed.jsonl "569 simulated" "569 real"
absent mixed.csv
grep -q '"simulated": 569}' a.out || fail "no count of simulated reports"
run 0 decode $m d.jsonl --json
grep -q '"simulated": 0}' out || fail "real reports called simulated"
head -1 d.jsonl >one.jsonl
run 0 decode $m one.jsonl --json
says "at least two reports"
json out
[ "$(grep -c '"low": null, "high": null' out)" -eq "$(wc -l <out)" ] ||
    fail "an interval from one report"
run 0 decode $m one.jsonl
says "at least two reports"
[ ! -s out ] || fail "estimates from one report: $(cat out)"

# The signature guards privatise.
run 0 privatise $m data/wdbc.csv --pub collector.pub --seed 7 -o e.reports
cmp -s a.reports e.reports || fail "--pub changes the reports"

# ---- JSON --------------------------------------------------------------------
run 0 train direct --data data/wdbc.csv --eps 1 --label diagnosis --json \
    --keep area_mean --range area_mean=0:3000 -o j.sotto
json out
grep -q '"eps": 1,' out || fail "eps is not a number"
run 0 keygen -o j --no-password --json
json out
run 0 sign j.sotto --key j.key --json
json out
run 0 verify j.sotto --pub j.pub --json
json out
run 0 verify j.sotto --pub j.pub
grep -q '^  trusted comment  .*[^ ]  [^ ]' out || fail "tabs: $(cat out)"
run 0 inspect j.sotto --json
json out
run 0 privatise j.sotto data/wdbc.csv --json -o j.reports
json out
run 0 decode j.sotto j.reports --json
json out
run 0 account 1x3 --delta 0.1 --json
json out

# ---- IDX: images and labels --------------------------------------------------
python3 - <<'END'
open("image.idx", "wb").write(bytes([0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 2,
                                     0, 0, 0, 2]) + bytes(range(16)))
open("label.idx", "wb").write(bytes([0, 0, 8, 1, 0, 0, 0, 4, 7, 1, 7, 1]))
END
run 0 train direct --data image.idx --labels label.idx --eps 8 -o i.sotto
run 0 inspect i.sotto
grep -q "label" out || fail "no label in the image mechanism"
run 0 privatise i.sotto image.idx --labels label.idx -o i.reports
run 0 decode i.sotto i.reports
run 2 privatise i.sotto image.idx -o i2.reports
says '"label"' "labels"
finish
