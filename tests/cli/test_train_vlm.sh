#!/bin/sh
# test_train_vlm.sh: learnt mechanisms: the journey to decoded records, killed
# and gone on, threads, another budget, wrong usage.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
data=$SOTTO_SOURCE_DIR/data/wdbc.csv
# Files are compared, whatever theirs are called.
same="--name same --campaign same"
brief="--data $data --label diagnosis --eps 8 --d 2 --hidden 16 $same"
small="$brief --epochs 15"

# ---- The journey -------------------------------------------------------------
# shellcheck disable=SC2086 # $small is a list
run 0 train vlm $small -o m.sotto
grep -q "Wrote m.sotto" out || fail "no summary"
grep -q "Wrote m.analyst" out || fail "no word of the analyst file"
only m.sotto m.analyst
[ "$(stat -c %a m.analyst)" = 600 ] || fail "others may read m.analyst"
run 0 inspect m.sotto
grep -q -i "none: encoder" out || fail "inspect hides that nothing is promised"
run 0 privatise m.sotto "$data" --seed 3 -o r
run 0 decode m.sotto r --analyst m.analyst -o r.csv --json
json out
[ "$(wc -l <r.csv)" -eq 570 ] || fail "not a record a report"
head -1 r.csv | grep -q '^id,simulated,diagnosis,radius_mean,' ||
    fail "the header: $(head -1 r.csv)"
awk -F, 'NR > 1 && $3 != "B" && $3 != "M" && $3 != "(other)" { exit 1 }' r.csv ||
    fail "decoded labels"
run 0 decode m.sotto r --analyst m.analyst -o r.npy
python3 - <<'END' || fail "r.npy"
import struct
data = open("r.npy", "rb").read()
assert data[:8] == b"\x93NUMPY\x01\x00"
size = struct.unpack("<H", data[8:10])[0]
head = eval(data[10:10 + size])
assert head == {"descr": "<f4", "fortran_order": False, "shape": (569, 30)}
assert (10 + size) % 64 == 0 and len(data) == 10 + size + 4 * 569 * 30
first = struct.unpack("<30f", data[10 + size:10 + size + 120])
row = open("r.csv").read().split("\n")[1].split(",")[3:]
assert all(abs(a - float(b)) <= 1e-5 * abs(a) + 1e-9
           for a, b in zip(first, row))
END
# In the columns' units, and of the records: after some more training and with
# hardly any noise, means are near the true ones, 14.13 and 654.9, and large
# ones come from large ones (the decoder is not linear, d = 2 of 30).
# shellcheck disable=SC2086 # $brief is a list
run 0 train vlm $brief --epochs 60 -o u.sotto
run 0 train vlm --from u.sotto --eps 32 --lambda 0.99 -o quiet.sotto
run 0 privatise quiet.sotto "$data" --seed 3 -o ru
run 0 decode quiet.sotto ru --analyst u.analyst -o ru.csv
python3 - "$data" <<'END' || fail "decoded records are not in the columns' units"
import csv, math, sys
true, decoded = (list(csv.DictReader(open(name)))
                 for name in (sys.argv[1], "ru.csv"))
for column, low, high in (("radius_mean", 12, 17), ("area_mean", 550, 850)):
    x = [float(row[column]) for row in true]
    y = [float(row[column]) for row in decoded]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    product = sum((a - mx) * (b - my) for a, b in zip(x, y))
    squares = sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)
    assert low < my < high, (column, my)
    assert product / math.sqrt(squares) > 0.4, (column, product, squares)
END
run 2 decode m.sotto r --analyst m.analyst
says "-o"
run 2 decode m.sotto r -o x.npy
says "--analyst"
run 2 decode m.sotto r --analyst "$data" -o x.csv
run 2 decode m.sotto r --analyst m.analyst -o m.analyst
says "m.analyst"
absent x.csv

# ---- The same seed, the same file ----------------------------------------------
for threads in 1 2; do
    # shellcheck disable=SC2086 # $small is a list
    run 0 train vlm $small --threads $threads --json -o t$threads.sotto
    json out
    grep -q '"epochs": 15,' out || fail "facts in JSON"
done
cmp -s t1.sotto t2.sotto || fail "threads change the mechanism"
cmp -s t1.analyst t2.analyst || fail "threads change the analyst file"
cmp -s t1.sotto m.sotto || fail "not the same twice"
# shellcheck disable=SC2086 # $small is a list
run 0 train vlm $small --seed 1 -o t3.sotto
cmp -s t1.sotto t3.sotto && fail "another seed, the same file"

# ---- Killed, and gone on ---------------------------------------------------------
long="--data $data --label diagnosis --eps 8 --hidden 64,32 --epochs 60"
long="$long --batch 8 --seed 4 $same"
# shellcheck disable=SC2086 # $long is a list
run 0 train vlm $long -o whole.sotto

# start NAME: begins in the background, and waits for its first checkpoint.
start() {
    # shellcheck disable=SC2086 # $long is a list
    env --default-signal=INT "$SOTTO" train vlm $long -o "$1".sotto \
        >out 2>err &
    pid=$!
    while [ ! -e "$1".sotto.checkpoint ] && kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
}
interrupted=0
for signal in KILL TERM INT KILL; do
    rm -f k.sotto k.analyst
    start k
    if kill -$signal $pid 2>/dev/null; then
        wait $pid
        status=$?
        if [ -e k.sotto.checkpoint ]; then
            interrupted=$((interrupted + 1))
            absent k.sotto
            [ $signal = KILL ] || [ $status -eq 1 ] || fail "$signal: $status"
            [ $signal = KILL ] || says "run the same command again to go on"
        fi
    fi
    # shellcheck disable=SC2086 # $long is a list
    run 0 train vlm $long --json -o k.sotto
    cmp -s whole.sotto k.sotto || fail "$signal: another mechanism"
    cmp -s whole.analyst k.analyst || fail "$signal: another analyst file"
    absent k.sotto.checkpoint
done
[ $interrupted -gt 0 ] || fail "nothing was interrupted"

# Other options do not write over what was stopped.
start k
kill -KILL $pid 2>/dev/null
wait $pid
if [ -e k.sotto.checkpoint ]; then
    cp k.sotto.checkpoint kept
    # shellcheck disable=SC2086 # $long is a list
    run 2 train vlm $long --d 3 -o k.sotto
    says "k.sotto.checkpoint' is of a training with other options" "remove it"
    cmp -s k.sotto.checkpoint kept || fail "another's checkpoint was written"
    rm k.sotto.checkpoint kept
fi

# ---- Another budget ---------------------------------------------------------------
run 0 train vlm --from m.sotto --eps 2 --lambda 0.5 --json -o n.sotto
json out
grep -q '"eps": 2,' out || fail "the new epsilon"
grep -q '"eps_features": 1, "eps_label": 1,' out || fail "the new shares"
run 0 train vlm --from m.sotto --eps 8 -o same.sotto
cmp -s m.sotto same.sotto || fail "the same budget, another file"
run 0 privatise n.sotto "$data" --seed 3 -o rn
run 0 decode n.sotto rn --analyst m.analyst -o rn.csv
run 2 decode m.sotto rn --analyst m.analyst -o x.csv
# The label through subset: the same encoder, whose analyst file still fits.
run 0 train vlm --from n.sotto --eps 2 --label-channel subset -o s.sotto
run 0 inspect s.sotto
grep -q subset out || fail "--label-channel with --from"
cmp -s n.sotto s.sotto && fail "another channel, the same file"
run 0 privatise s.sotto "$data" --seed 3 -o rs
run 0 decode s.sotto rs --analyst m.analyst -o rs.csv
head -1 rs.csv | grep -q '^id,simulated,diagnosis,' || fail "no label: subset"
run 0 fit s.sotto rs --analyst m.analyst --epochs 2 -o s.model
# A label report that is a set: all of it, in one field.
python3 - <<'END'
import random
random.seed(1)
names = ["a|b", 'c"d', "e,f", "g\\h", "i", "j", "k", "l", "m", "n"]
with open("sets.csv", "w") as file:
    file.write("x,y,kind\n")
    for i in range(200):
        name = names[i % 10].replace('"', '""')
        file.write('%f,%f,"%s"\n' % (random.random(), random.random(), name))
END
run 0 train pca --data sets.csv --label kind --eps 1 --d 1 \
    --label-channel subset -o sets.sotto
run 0 privatise sets.sotto sets.csv --seed 1 -o sets
run 0 decode sets.sotto sets --analyst sets.analyst -o sets.out
run 0 decode sets.sotto sets -o sets.plain
python3 - <<'END' || fail "the sets of decode --analyst are not the reports'"
import csv, re
names = sorted(["a|b", 'c"d', "e,f", "g\\h", "i", "j", "k", "l", "m", "n"])
names.append("(other)")
plain = list(csv.DictReader(open("sets.plain")))
symbols = [key for key in plain[0] if key.startswith("part2.")]
assert len(symbols) > 1
for row, numbers in zip(csv.DictReader(open("sets.out")), plain, strict=True):
    got = [re.sub(r"\\(.)", r"\1", name)
           for name in re.findall(r"(?:[^\\|]|\\.)+", row["kind"])]
    assert got == [names[int(numbers[s])] for s in symbols], (got, numbers)
END
run 0 train vlm --from s.sotto --eps 2 --label-channel flip -o back.sotto
cmp -s n.sotto back.sotto || fail "subset and back is another file"
# shellcheck disable=SC2086 # $small is a list
run 0 train vlm $small --label-channel subset -o direct.sotto
run 0 train vlm --from m.sotto --eps 8 --label-channel subset -o from.sotto
cmp -s direct.sotto from.sotto || fail "--label-channel, trained and --from"
cmp -s direct.analyst m.analyst || fail "--label-channel changes the decoder"
# shellcheck disable=SC2086 # $small is a list
run 2 train vlm $small --label-channel laplace -o x.sotto
says "laplace"
run 2 train vlm --from m.sotto --eps 2 --label-channel sub -o x.sotto
says '"sub" is no channel for a label'
run 2 train vlm --from m.sotto --eps 2 --epochs 3 -o x.sotto
says "--epochs"
run 2 train vlm --from m.sotto --eps 2 -o m.sotto
run 2 train vlm --from r --eps 2 -o x.sotto

# ---- pca ---------------------------------------------------------------------------
run 0 train pca --data "$data" --label diagnosis --eps 8 --d 3 --whiten \
    --inside 0.95 -o p.sotto
run 0 privatise p.sotto "$data" --seed 3 -o rp
run 0 decode p.sotto rp --analyst p.analyst -o rp.csv
run 2 decode p.sotto rp --analyst m.analyst -o x.csv
says "another mechanism"
run 2 train pca --data "$data" --eps 8 --keep area_mean --d 2 -o x.sotto
absent x.csv

# ---- Images; no label ----------------------------------------------------------------
python3 - <<'END'
rows = bytes((i * j * 37) % 256 for i in range(40) for j in range(16))
open("image.idx", "wb").write(bytes([0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 4,
                                     0, 0, 0, 4]) + rows)
open("label.idx", "wb").write(bytes([0, 0, 8, 1, 0, 0, 0, 40]) +
                              bytes(i % 3 for i in range(40)))
END
run 0 train vlm --data image.idx --labels label.idx --eps 8 --linear \
    --learn-b --autogen 1 --epochs 3 --analyst other -o i.sotto
[ -s other ] || fail "--analyst is not where it was written"
absent i.analyst
run 0 train vlm --data image.idx --eps 8 --linear --epochs 3 -o j.sotto
run 0 privatise j.sotto image.idx -o rj
run 0 decode j.sotto rj --analyst j.analyst -o rj.csv
head -1 rj.csv | grep -q '^id,simulated,image.0,image.1,.*,image.15$' ||
    fail "an image's header"
awk -F, 'NR > 1 { for (i = 3; i <= NF; i++) if ($i < 0 || $i > 255) exit 1 }' \
    rj.csv || fail "samples out of range"

# ---- Wrong usage -----------------------------------------------------------------------
rm -f x.sotto
try() {
    words=$1
    shift
    # shellcheck disable=SC2086 # $words is a list
    run 2 train $words -o x.sotto
    says "$@"
}
try "vlm --eps 1" "--data"
try "vlm --data $data --eps 1 --range a=0:1" "--range is not for vlm"
try "pca --data $data --eps 1 --epochs 3" "--epochs is not for pca"
try "direct --data $data --eps 1 --from m.sotto" "leave --data out"
try "direct --eps 1 --from m.sotto" "'m.sotto' has an encoder" "not direct"
try "pca --eps 1 --from m.sotto" "'m.sotto' has an encoder of 2 layers" "not pca"
try "direct --data $data --eps 1 --lambda 0.5" "--lambda shares epsilon between record and label"
run 0 train direct --data "$data" --eps 8 --keep area_mean -o d.sotto
try "vlm --eps 1 --from d.sotto" "'d.sotto' has no encoder" "direct, not vlm"
run 0 train direct --eps 1 --from d.sotto -o e.sotto
run 0 train pca --eps 2 --from p.sotto --force -o e.sotto
# j.sotto has no label, so that nothing can be said of it.
try "vlm --eps 1 --from j.sotto --lambda 0.5" "has no label"
try "vlm --eps 1 --from j.sotto --label-channel subset" "--label-channel"
try "vlm --data $data --eps 1 --hidden 4,,3" "4,,3"
try "vlm --data $data --eps 1 --hidden 4,x" "4,x"
try "vlm --data $data --eps 1 --hidden 32," "--hidden 32,"
try "vlm --data $data --eps 1 --hidden ,32" "--hidden ,32"
try "vlm --data $data --eps 1 --hidden 32,,16" "--hidden 32,,16"
try "vlm --data $data --eps 1 --hidden 4 --linear" "--linear"
try "vlm --data $data --eps 1 --eps-pre 3 --learn-b" "exclude"
try "vlm --data $data --eps 1 --lambda 0.5" "--lambda"
try "vlm --data $data --eps 1 --lambda 1 --label diagnosis" "--lambda"
try "vlm --data $data --eps 1 --label radius_mean" "--category"
try "vlm --data $data --eps 1 --epochs 0" "--epochs 0"
try "vlm --data $data --eps 1 --analyst x.sotto" "x.sotto"
run 1 train vlm --data none.csv --eps 1 -o no/such/x.sotto
says "cannot write 'no/such/x.sotto'"
timeout 30 "$SOTTO" train vlm --data "$data" --eps 1 --epochs 1000000 \
    --analyst no/such/x.analyst -o x.sotto >out 2>err
status=$?
[ $status -eq 1 ] || fail "an analyst file nowhere: status $status"
says "cannot write 'no/such/x.analyst'"
absent x.sotto.checkpoint
run 2 train vlm --data "$data" --eps 1 -o /dev/null
says "--analyst"
absent x.sotto
finish
