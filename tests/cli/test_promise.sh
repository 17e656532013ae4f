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

finish
