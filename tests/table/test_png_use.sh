#!/bin/sh
# test_png_use.sh: a folder of PNG files in place of a data file: a mechanism
# from images and the names of their folders, then reports and a model.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# Bars of 6 x 6 pixels, across or down, in folders named after that.
/usr/bin/python3 - <<'END' || exit 1
import os
import random
import struct
import zlib


def chunk(kind, data):
    sums = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + sums


def write(path, side, colour, pixels):
    head = struct.pack(">IIBBBBB", side, side, 8, 2 if colour else 0, 0, 0, 0)
    step = side * (3 if colour else 1)
    raw = b"".join(
        b"\0" + pixels[at : at + step] for at in range(0, len(pixels), step)
    )
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head))
        file.write(chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def bar(across, where):
    return bytes(
        255 if (y if across else x) == where else random.randrange(40)
        for y in range(6)
        for x in range(6)
    )


random.seed(1)
for name in "bars/across", "bars/down", "flat", "odd":
    os.makedirs(name)
for i in range(60):
    write(f"bars/across/{i}.png", 6, False, bar(True, i % 6))
    write(f"bars/down/{i}.png", 6, False, bar(False, i % 6))
    write(f"flat/{i}.png", 6, True, random.randbytes(108))
write("odd/1.png", 6, False, bytes(36))
write("odd/2.png", 4, False, bytes(16))
END

run 0 train pca --data bars --label label --eps 20 --d 6 -o m.sotto
run 0 inspect m.sotto
grep -q across out || fail "the classes are not named: $(cat out)"
run 0 privatise m.sotto bars --seed 1 -o r.reports
run 0 fit m.sotto r.reports --aux bars --epochs 60 --seed 1 -o a.model
run 0 evaluate a.model --data bars
accuracy=$(sed -n 's/^accuracy \([0-9.]*\) on 120 clean records.*/\1/p' out)
case $accuracy in
1* | 0.[89]*) ;;
*) fail "learnt nothing of the bars: $(cat out)" ;;
esac

run 0 train pca --data flat --eps 1 --d 1 -o flat.sotto
run 2 train pca --data odd --eps 1 -o x.sotto
says "odd/2.png: has 4 x 4 pixels, but 1.png has 6 x 6"
mkdir none
run 2 train pca --data none --eps 1 -o x.sotto
says "none: a folder with no PNG file in it"
: >none/x.png
run 2 train pca --data none --eps 1 -o x.sotto
says "none/x.png: not a PNG file that can be read"
absent x.sotto

# On a device every image gives a report, also one that is none (invariant 4).
for name in ann bob cy dee; do
    mkdir -p people/$name
    cp flat/1.png people/$name/x.png
done
echo "no image" >people/bob/x.png
head -c 60 flat/1.png >people/cy/x.png
cp odd/1.png people/dee/x.png
run 0 ledger new l --lifetime-eps 1
run 0 privatise flat.sotto people --ledger l --person label -o p.jsonl
[ "$(wc -l <p.jsonl)" -eq 4 ] || fail "not a report for everybody"
finish
