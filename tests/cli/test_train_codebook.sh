#!/bin/sh
# test_train_codebook.sh: codes of an encoder's representation, chosen, written,
# inspected, privatised, decoded and audited; wrong usage.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
data=$SOTTO_SOURCE_DIR/data/wdbc.csv
base="--data $data --label diagnosis"
same="--name same --campaign same" # files that are compared, whatever theirs

# shellcheck disable=SC2086 # $base is a list
run 0 train pca $base --eps 4 --d 3 --whiten -o e.sotto
rm e.analyst

# ---- The journey -------------------------------------------------------------
# shellcheck disable=SC2086
run 0 train codebook $base --encoder e.sotto --eps 1 --people 2000 $same -o c.sotto
grep -q "codes, from 28 cells of 569 records, by s" out || fail "no summary"
grep -q "reports of 2000 people can" out || fail "no word of the choice"
grep -q "Wrote c.analyst" out || fail "no word of the analyst file"
only e.sotto c.sotto c.analyst
[ "$(stat -c %a c.analyst)" = 600 ] || fail "others may read c.analyst"
# shellcheck disable=SC2086
run 0 train codebook $base --encoder e.sotto --eps 1 --people 2000 --threads 1 \
    $same --json -o d.sotto
json out
cmp -s c.sotto d.sotto || fail "threads change the mechanism"
cmp -s c.analyst d.analyst || fail "threads change the analyst file"
python3 - <<'END' || fail "the choice"
import json
said = json.load(open("out"))
assert said["cells"] == 28 and said["people"] == 2000
assert said["channel"] in ("subset", "signs") and 2 <= said["k"] <= 28
assert said["k_classes"] == 2 and said["k_information"] >= 2
END
run 0 inspect c.sotto
grep -q -i "none: encoder" out || fail "inspect hides that nothing is promised"

# ---- Reports -----------------------------------------------------------------
# shellcheck disable=SC2086
run 0 train codebook $base --encoder e.sotto --eps 8 --k 5 --channel subset \
    --name five -o f.sotto
run 0 privatise f.sotto "$data" --seed 3 -o r
run 0 decode f.sotto r --json
json out
run 0 decode f.sotto r --analyst f.analyst -o r.csv
[ "$(wc -l <r.csv)" -eq 570 ] || fail "not a record a report"
python3 - "$data" <<'END' || fail "decoded records are not those of the cells"
import csv, math, sys
true, decoded = (list(csv.DictReader(open(name)))
                 for name in (sys.argv[1], "r.csv"))
for column, low, high in (("radius_mean", 13, 15.5), ("area_mean", 580, 730)):
    x = [float(row[column]) for row in true]
    y = [float(row[column]) for row in decoded]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    product = sum((a - mx) * (b - my) for a, b in zip(x, y))
    squares = sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)
    assert low < my < high, (column, my)
    assert product / math.sqrt(squares) > 0.4, (column, product, squares)
END
run 0 train codebook --from f.sotto --eps 2 -o g.sotto
run 0 privatise g.sotto "$data" --seed 3 -o rg
run 0 decode g.sotto rg --analyst f.analyst -o rg.csv
run 0 audit f.sotto
run 0 train codebook --data "$data" --encoder e.sotto --eps 1 -o n.sotto
grep -q "codes, from 28 cells of 569 records, by subset" out || fail "no label"

# ---- With an encoder of its own ------------------------------------------------
own="$base --eps 1 --d 4 --hidden 16 --batch 32 --seed 4"
one="--candidates clm $same"
# shellcheck disable=SC2086
run 0 train clm $own --epochs 3 -o own-e.sotto
# shellcheck disable=SC2086
run 0 train codebook $base --encoder own-e.sotto --eps 1 --seed 4 --k 6 \
    --channel subset $same -o two.sotto
# shellcheck disable=SC2086
run 0 train codebook $own $one --epochs 3 --k 6 --channel subset -o one.sotto
grep -q "Trained an encoder for 3 epochs: loss" out ||
    fail "no word of the encoder"
grep -q "6 codes, from 28 cells" out || fail "no word of the codes"
cmp -s one.sotto two.sotto || fail "one command makes another mechanism than two"
cmp -s one.analyst two.analyst || fail "one command, another analyst file"
absent one.sotto.checkpoint
# shellcheck disable=SC2086
run 0 train codebook $own $one --epochs 3 --k 6 --channel subset --drop area_mean \
    --json -o three.sotto
json out
grep -q '"epochs": 3, "loss": .*, "resumed": false, "cells": 28' out ||
    fail "facts in JSON"
cmp -s one.sotto three.sotto && fail "--drop makes no difference"

# What no encoder changes is found out before one is trained: nothing is left.
for wrong in "--k 29" "--tree neighbours --k 29" "--tree neighbours --k 40"; do
    # shellcheck disable=SC2086
    run 2 train codebook $own $one --epochs 100000 $wrong --channel subset \
        -o late.sotto
    says "28"
    absent late.sotto
    absent late.sotto.checkpoint
done
sed 's/^B,/M,/' "$data" >one-class.csv
run 2 train codebook --data one-class.csv --label diagnosis --epochs 100000 \
    --eps 1 -o late.sotto
says "one value only" "(--classes)"
absent late.sotto.checkpoint

# What is refused after training leaves nothing either: equal rows fill one cell.
awk 'NR < 3 || NR == 300 {print}' "$data" >few.csv
i=0
while [ $i -lt 100 ]; do
    tail -2 few.csv
    i=$((i + 1))
done >>few.csv
run 2 train codebook --data few.csv --label diagnosis --candidates clm --d 2 \
    --epochs 1 --k 8 --channel subset --eps 1 -o late.sotto
says "8 codes cannot be had" "from 2 to"
absent late.sotto
absent late.sotto.checkpoint

# Stopped, and gone on to the same file.
long="$own $same --candidates pca:d=2,clm,clm --epochs 40 --k 6 --channel subset"
# shellcheck disable=SC2086
run 0 train codebook $long -o whole.sotto
# shellcheck disable=SC2086
env --default-signal=INT "$SOTTO" train codebook $long -o k.sotto >out 2>err &
pid=$!
while [ ! -e k.sotto.checkpoint ] && kill -0 $pid 2>/dev/null; do
    sleep 0.01
done
if kill -INT $pid 2>/dev/null; then
    wait $pid || says "run the same command again to go on"
fi
# shellcheck disable=SC2086
run 0 train codebook $long -o k.sotto
cmp -s whole.sotto k.sotto || fail "stopped: another mechanism"
cmp -s whole.analyst k.analyst || fail "stopped: another analyst file"
absent k.sotto.checkpoint
absent k.sotto.checkpoint.1

# Candidates by default: scores, and which was kept, here and for the analyst.
# shellcheck disable=SC2086
run 0 train codebook $base --epochs 2 --eps 1 --seed 4 -o several.sotto
grep -q "pca:d=4 .*score 0" out || fail "no word of a candidate"
[ "$(grep -c ", kept$" out)" = 1 ] || fail "not one was kept"
# shellcheck disable=SC2086
run 0 train codebook $base --candidates own-e.sotto,e.sotto,pca:d=4 --eps 1 \
    --json -o files.sotto
json out
python3 - <<'END' || fail "the choice of the encoder"
import json
said = json.load(open("out"))
score = said["candidate_scores"]
assert len(score) == 3 and all(0 <= s <= 1 for s in score)
assert said["candidate_kept"] == score.index(max(score))
raw = open("files.analyst", "rb").read()
head = json.loads(raw[8:8 + int.from_bytes(raw[:8], "little")])
assert "own-e.sotto" in json.dumps(head), head["__metadata__"]
END

# ---- Labels that nobody has --------------------------------------------------
# The same files as from labelled records: labels are never looked at, only
# which there are.
python3 - "$data" <<'END'
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
at = rows[0].index("diagnosis")
bare = [row[:at] + row[at + 1:] for row in rows]
last = [few + [row[at]] for few, row in zip(bare, rows)]
for name, table in (("bare", bare), ("last", last)):
    csv.writer(open(name + ".csv", "w")).writerows(table)
END
for kind in "clm --d 4 --hidden 16 --epochs 2 --batch 32" \
    "codebook --encoder e.sotto --k 6 --channel subset" \
    "codebook --encoder e.sotto --people 500"; do
    # shellcheck disable=SC2086
    run 0 train $kind --data last.csv --label diagnosis --eps 2 --seed 1 \
        $same --force -o with.sotto
    # shellcheck disable=SC2086
    run 0 train $kind --data bare.csv --label diagnosis --label-values "M , B" \
        --eps 2 --seed 1 $same --force -o without.sotto
    cmp with.sotto without.sotto || fail "labels make another mechanism: $kind"
    cmp with.analyst without.analyst || fail "another analyst file: $kind"
done
run 0 train direct --data bare.csv --label-values yes,no --eps 1 -o v.sotto
run 0 inspect v.sotto
grep -q "label" out || fail "no label"
for values in "" "M," ",M" "M,M" "M, M"; do
    run 2 train direct --data bare.csv --label-values "$values" --eps 1 -o w.sotto
    says "--label-values: the label's value"
done
run 2 train direct --data last.csv --label diagnosis --label-values M,B --eps 1 \
    -o w.sotto
says "the data have a column \"diagnosis\""
run 2 train direct --data bare.csv --labels last.csv --label-values M,B --eps 1 \
    -o w.sotto
says "for data without labels"
run 2 train direct --from v.sotto --label-values M,B --eps 1 -o w.sotto
says "leave --label-values out"

# ---- Wrong usage -------------------------------------------------------------
for more in "--candidates pca" "--epochs 3" "--widths 3" "--d 4" "--drop area_mean" "--rate 0.1"; do
    # shellcheck disable=SC2086
    run 2 train codebook $base --encoder e.sotto $more --eps 1 -o w.sotto
    says "is for training an encoder"
done
for more in "--lambda 0.5" "--steps 5" "--inside 0.5" "--linear" "--whiten"; do
    # shellcheck disable=SC2086
    run 2 train codebook $base $more --eps 1 -o w.sotto
    says "is not for codebook"
done
# shellcheck disable=SC2086
run 2 train codebook $base --epochs 3 --channel duchi --eps 1 -o w.sotto
says "duchi"
# shellcheck disable=SC2086
run 2 train codebook $base --augment line --eps 1 -o w.sotto
says "take corrupt"
run 2 train codebook --from f.sotto --epochs 3 --eps 1 -o w.sotto
says "--from trains nothing"
# shellcheck disable=SC2086
run 2 train codebook $base --encoder e.sotto --eps 1 --k 29 -o w.sotto
says "from 2 to 28"
# shellcheck disable=SC2086
run 2 train codebook $base --encoder e.sotto --eps 1 --channel duchi -o w.sotto
says "duchi"
# shellcheck disable=SC2086
run 2 train codebook $base --encoder e.sotto --eps 1 --lambda 0.5 -o w.sotto
says "not for codebook"
# shellcheck disable=SC2086
run 2 train vlm $base --encoder e.sotto --eps 1 -o w.sotto
says "not for vlm"
run 2 train codebook --data "$data" --encoder e.sotto --eps 1 --classes 3 \
    -o w.sotto
says "needs a label"
run 2 train codebook --data "$data" --encoder e.sotto --eps 1 --channel signs \
    -o w.sotto
says "name a label"
# shellcheck disable=SC2086
run 2 train codebook $base --encoder e.sotto --eps 1 -o e.sotto
# shellcheck disable=SC2086
run 2 train codebook $base --encoder e.sotto --analyst e.sotto --eps 1 -o w.sotto
run 2 train codebook --data "$data" --label nobody --encoder e.sotto --eps 1 \
    -o w.sotto
says "nobody"
absent w.sotto
absent w.analyst
absent w.sotto.checkpoint
finish
