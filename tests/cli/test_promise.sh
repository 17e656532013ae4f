#!/bin/sh
# test_promise.sh: what inspect, sign and verify say of a promise, and what they
# refuse; mechanisms that are pinned.
. "$(dirname "$0")/check.sh"
make_small

# has PATTERN...: the last run printed each of them.
has() {
    for pattern in "$@"; do
        grep -q -e "$pattern" out || {
            fail "the output does not say '$pattern'"
            sed 's/^/    /' out | cut -c 1-200
        }
    done
}

# ---- Delta stands beside epsilon ---------------------------------------------
printf 'a,b\n1,2\n3,4\n5,6\n' >numbers.csv
run 0 train direct --data numbers.csv --numbers gaussian --eps 10 \
    --delta 0.001 -o g.sotto
run 0 sign g.sotto --key k.key
has "epsilon 10 and delta 0.001 per report"
run 0 sign g.sotto --key k.key --json
has '"eps": 10,' '"delta": 0.001'
run 0 verify g.sotto --pub k.pub
has "epsilon  *10 per report" "delta  *0.001 per report"
run 0 verify g.sotto --pub k.pub --json
has '"eps": 10,' '"delta": 0.001' '"opens": true'
run 0 verify m.sotto --pub k.pub
has "delta  *0 per report" "that a device opens"

# ---- The word for epsilon agrees with the odds --------------------------------
for pair in 1:strong 2:moderate 4:weak 8:little; do
    run 0 train direct --data numbers.csv --eps "${pair%:*}" --force -o w.sotto
    run 0 inspect w.sotto
    has "For the size of this epsilon: ${pair#*:} protection"
done

# ---- What devices refuse -----------------------------------------------------
# scale NAME VALUE: g.sotto with its first column's scale set, as NAME.
scale() {
    python3 - "$1" "$2" <<'END'
import json, struct, sys
data = bytearray(open("g.sotto", "rb").read())
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
at = 8 + size + header["schema.scale"]["data_offsets"][0]
data[at:at + 8] = struct.pack("<d", float(sys.argv[2]))
open(sys.argv[1], "wb").write(data)
END
}
scale even.sotto 0.5
run 0 inspect even.sotto
scale uneven.sotto 1e-200
run 2 inspect uneven.sotto
has "DEVICES REFUSE THIS FILE"
says "devices refuse the mechanism"
run 2 inspect uneven.sotto --json
has '"uneven":true'
run 2 sign uneven.sotto --key k.key
says "devices refuse the mechanism"
absent uneven.sotto.minisig
if command -v minisign >/dev/null; then
    echo | minisign -S -W -s k.key -m uneven.sotto >/dev/null 2>&1
    run 3 verify uneven.sotto --pub k.pub
    has "but devices refuse it"
    says "devices refuse the mechanism"
fi

# ---- A pin -------------------------------------------------------------------
run 0 verify m.sotto --pub k.pub --json
hash=$(sed 's/.*"hash": "\([0-9a-f]*\)".*/\1/' out)
run 0 privatise m.sotto small.csv --pin "$hash" -o r
rm r
run 3 privatise g.sotto numbers.csv --pin "$hash" -o r
says "not the one that is pinned"
absent r
run 2 privatise m.sotto small.csv --pin abc -o r
says "64 hexadecimal digits"
absent r

# ---- An end ------------------------------------------------------------------
for day in 2099-02-30 2099-1-31 tomorrow 2099-01-31T25:00:00Z 2001-01-31; do
    run 2 train direct --data small.csv --label colour --eps 2 \
        --expires $day -o e.sotto
    says "expires"
    absent e.sotto
done
run 0 train direct --data small.csv --label colour --eps 2 \
    --expires 2099-01-31 -o e.sotto --json
has '"expires": 4073500800'
run 0 train direct --from e.sotto --eps 1 -o e1.sotto
run 0 inspect e1.sotto
has "From 2099-01-31 00:00:00 UTC on no report leaves"
run 0 train direct --from e.sotto --eps 1 --expires 2098-12-31T12:30:00Z \
    -o e2.sotto
run 0 inspect e2.sotto
has "From 2098-12-31 12:30:00 UTC on no report leaves"
run 0 inspect m.sotto
has "It does not expire"
run 0 sign e.sotto --key k.key
run 0 verify e.sotto --pub k.pub
has "expires  *2099-01-31 00:00:00 UTC"
run 0 verify m.sotto --pub k.pub
has "expires  *never"
run 0 verify e.sotto --pub k.pub --json
has '"expires": 4073500800' '"opens": true'
printf 'name,age,colour\nann,31,red\n' >people.csv
run 0 ledger new l --lifetime-eps 3
run 0 privatise e.sotto people.csv --person name --ledger l -o r
rm r
# What is made from a model ends with its mechanism, unless told.
wdbc="--data $SOTTO_SOURCE_DIR/data/wdbc.csv"
# shellcheck disable=SC2086 # $wdbc is a list
run 0 train pca $wdbc --label diagnosis --eps 4 --d 3 --whiten -o p.sotto
# shellcheck disable=SC2086
run 0 train codebook $wdbc --label diagnosis --encoder p.sotto --eps 2 --k 4 \
    --channel flip --expires 2099-01-31 -o c.sotto
has "Expires 2099-01-31 00:00:00 UTC."
run 0 privatise c.sotto "$SOTTO_SOURCE_DIR/data/wdbc.csv" --seed 1 -o c.reports
run 0 fit c.sotto c.reports -o c.model
for kind in code class right; do
    run 0 train $kind --model c.model --eps 1 -o $kind.sotto
    has "Expires 2099-01-31 00:00:00 UTC."
    run 0 train $kind --model c.model --eps 1 --expires 2100-01-31 --force \
        -o x.sotto
    has "Expires 2100-01-31 00:00:00 UTC."
done
# shellcheck disable=SC2086
run 0 train code --model c.model --eps 1 $wdbc --recut cut.model --force -o x.sotto
has "Expires 2099-01-31 00:00:00 UTC."
run 0 train class --model cut.model --eps 1 --force -o x.sotto --json
has '"expires": 4073500800'
rm x.sotto

# A sanitizer and libfaketime both want to be loaded first.
if command -v faketime >/dev/null && ! nm "$SOTTO" | grep -q __asan_init; then
    sotto=$SOTTO
    later() { faketime "$day" "$sotto" "$@"; }
    # shellcheck disable=SC2034
    for day in "2099-01-30 23:00:00" "2099-01-31 00:00:01"; do
        expected=$([ "$day" = "2099-01-30 23:00:00" ] && echo 0 || echo 3)
        TZ=UTC0 later privatise e.sotto small.csv -o r >out 2>err
        [ $? -eq "$expected" ] || fail "privatise on $day: $(cat err)"
        rm -f r
        # A report that the ledger holds is not given out either.
        TZ=UTC0 later privatise e.sotto people.csv --person name --ledger l \
            -o r >out 2>err
        [ $? -eq "$expected" ] || fail "privatise --ledger on $day: $(cat err)"
        rm -f r
        TZ=UTC0 later verify e.sotto --pub k.pub >out 2>err
        [ $? -eq "$expected" ] || fail "verify on $day: $(cat err)"
        TZ=UTC0 later inspect e.sotto >out 2>err || fail "inspect on $day"
    done
    has "IT HAS EXPIRED"
    TZ=UTC0 later send e.sotto people.csv --person name --ledger l --pub k.pub \
        --tries 1 --spread 0 --to http://127.0.0.1:1/v1/campaigns/c \
        >out 2>err
    [ $? -eq 3 ] || fail "send of what has expired: $(cat err)"
    says "has expired"
    for kind in code class right; do
        TZ=UTC0 later train $kind --model c.model --eps 1 -o x.sotto >out 2>err
        [ $? -eq 2 ] || fail "$kind is born expired: $(cat out err)"
        says c.model "2099-01-31 00:00:00 UTC" "Give a later --expires"
        absent x.sotto
    done
    # shellcheck disable=SC2086
    TZ=UTC0 later train code --model c.model --eps 1 $wdbc --recut x.model \
        -o x.sotto >out 2>err
    [ $? -eq 2 ] || fail "a cut is born expired: $(cat out err)"
    absent x.sotto x.model
    TZ=UTC0 later train direct --from e.sotto --eps 1 -o x.sotto >out 2>err
    [ $? -eq 2 ] || fail "another budget is born expired: $(cat out err)"
    says e.sotto "Give a later --expires"
    absent x.sotto
    for from in "right --model c.model" "direct --from e.sotto"; do
        # shellcheck disable=SC2086
        TZ=UTC0 later train $from --eps 1 --expires 2100-01-31 --force -o x.sotto \
            >out 2>err || fail "train $from until 2100: $(cat err)"
        has "Expires 2100-01-31 00:00:00 UTC."
        rm x.sotto
    done
fi

# ---- A key has a password unless somebody says that it has none --------------
if command -v setsid >/dev/null; then
    setsid "$SOTTO" keygen -o silent >out 2>err </dev/null
    [ $? -eq 2 ] || fail "a key in clear that nobody asked for"
    says "no terminal" "password-file" "no-password"
    absent silent.key
fi
run 2 keygen -o both --no-password --password-file small.csv
says "exclude each other"
run 0 keygen -o clear --no-password --json
has '"encrypted": false'

finish
