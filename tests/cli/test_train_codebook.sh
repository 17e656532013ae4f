#!/bin/sh
# test_train_codebook.sh: codes of an encoder's representation, chosen, written,
# inspected, privatised, decoded and audited; wrong usage.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
data=$SOTTO_SOURCE_DIR/data/wdbc.csv
base="--data $data --label diagnosis"

# shellcheck disable=SC2086 # $base is a list
run 0 train pca $base --eps 4 --d 3 --whiten -o e.sotto
rm e.analyst

# ---- The journey -------------------------------------------------------------
# shellcheck disable=SC2086
run 0 train codebook $base --encoder e.sotto --eps 1 --people 2000 -o c.sotto
grep -q "codes, from 28 cells of 569 records, by s" out || fail "no summary"
grep -q "simulating 2000 people with made-up" out || fail "no word of the choice"
grep -q "Wrote c.analyst" out || fail "no word of the analyst file"
only e.sotto c.sotto c.analyst
[ "$(stat -c %a c.analyst)" = 600 ] || fail "others may read c.analyst"
# shellcheck disable=SC2086
run 0 train codebook $base --encoder e.sotto --eps 1 --people 2000 --threads 1 \
    --json -o d.sotto
json out
cmp -s c.sotto d.sotto || fail "threads change the mechanism"
cmp -s c.analyst d.analyst || fail "threads change the analyst file"
python3 - <<'END' || fail "the choice"
import json
said = json.load(open("out"))
assert said["cells"] == 28 and said["people"] == 2000
assert said["channel"] in ("subset", "signs") and 2 <= said["k"] <= 28
assert said["k"] in said["subset_k"] + said["signs_k"]
assert said["subset_k"][0] == 2
assert len(said["subset_k"]) == len(said["subset_score"])
assert all(0 <= p <= 1 for p in said["subset_score"] + said["signs_score"])
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

# ---- Wrong usage -------------------------------------------------------------
# shellcheck disable=SC2086
run 2 train codebook $base --eps 1 -o w.sotto
says "--encoder M.sotto is missing"
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
finish
