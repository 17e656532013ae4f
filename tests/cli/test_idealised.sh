#!/bin/sh
# test_idealised.sh: no mechanism can be made with a channel in floating point,
# and a file that names one is refused by whoever reads it.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

make_small
printf 'name,age,colour\nann,31,red\nbob,47,blue\n' >people.csv
run 0 ledger new l --lifetime-eps 3
nobody=http://127.0.0.1:1/v1/campaigns/c

# ---- None can be made ---------------------------------------------------------
for channel in piecewise hybrid privunit2 privunitg; do
    run 2 train direct --data people.csv --label colour --eps 1 \
        --numbers $channel -o made.sotto
    says "numbers" "$channel works in floating point" "benchmarks alone"
    absent made.sotto
    run 2 train direct --data people.csv --label colour --eps 1 \
        --categories $channel -o made.sotto
    says "categories" "$channel works in floating point"
    absent made.sotto
    run 2 train pca --data people.csv --label colour --eps 1 --d 1 \
        --channel $channel -o made.sotto
    says "channel" "$channel works in floating point" "a representation"
    absent made.sotto
done
run 2 train direct --data people.csv --label colour --eps 1 \
    --numbers piecewize -o made.sotto
says "piecewize: the channels for numbers are"

# ---- None can be read -----------------------------------------------------------
# m.sotto with another name for a channel, valid in every other way. sotto sign
# refuses it, and what it signed before is no signature of it.
cat >forge.py <<'END'
import json, struct, sys
data = open("m.sotto", "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header, rest = data[8:8 + size].rstrip(), data[8 + size:]
was = b'\\"channel\\":\\"' + sys.argv[1].encode() + b'\\"'
now = b'\\"channel\\":\\"' + sys.argv[2].encode() + b'\\"'
assert was in header, header
header = header.replace(was, now, 1)
header += b" " * (-len(header) % 8)
json.loads(header)
open(sys.argv[3], "wb").write(struct.pack("<Q", len(header)) + header + rest)
END
unknown="uses a channel this device does not know"
run 0 train direct --data people.csv --label colour --eps 1 -o m.sotto --force
run 0 sign m.sotto --key k.key
run 0 privatise m.sotto people.csv --seed 1 -o sound.reports
for channel in piecewise hybrid privunit2 privunitg; do
    python3 forge.py laplace $channel forged.sotto
    run 2 inspect forged.sotto
    says "$unknown"
    run 2 sign forged.sotto --key k.key
    says "$unknown"
    absent forged.sotto.minisig
    run 2 privatise forged.sotto people.csv -o made.reports
    says "$unknown"
    absent made.reports
    run 2 audit forged.sotto
    says "$unknown"
    run 2 decode forged.sotto sound.reports -o made.csv
    says "$unknown"
    run 2 fit forged.sotto sound.reports -o made.model
    says "$unknown"
    cp m.sotto.minisig forged.sotto.minisig
    run 3 send forged.sotto people.csv --person name --ledger l --pub k.pub \
        --to "$nobody" --tries 1 --spread 0
    run 3 serve --mechanism forged.sotto --pub k.pub \
        --store sqlite:made.db --listen 127.0.0.1:0
    rm -f forged.sotto.minisig
done
run 0 ledger show l --person ann --json
grep -q '"id"' out && fail "ann was charged"

finish
