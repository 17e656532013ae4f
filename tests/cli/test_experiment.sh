#!/bin/sh
# test_experiment.sh: an experiment on small pictures in MNIST's layout, whole,
# killed, interrupted and gone on with; its table, plot and JSON.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# ---- Pictures: ten classes, each a disc in a place of its own ----------------
python3 - <<'END'
import os
import random
import struct

random.seed(1)
os.mkdir("data")


def image(label):
    x0, y0 = 5 + 6 * (label % 4), 5 + 8 * (label // 4)
    return bytes(
        random.randrange(150, 256) if (x - x0) ** 2 + (y - y0) ** 2 < 16 else 0
        for y in range(28)
        for x in range(28)
    )


for name, count in ("train", 240), ("t10k", 80):
    labels = [7 * i % 10 for i in range(count)]
    with open(f"data/{name}-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28))
        file.write(b"".join(map(image, labels)))
    with open(f"data/{name}-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">4BI", 0, 0, 8, 1, count) + bytes(labels))
END

rows=mnist-collection.csv
# What a row is about and what it came to: not its time nor its command.
fits() {
    sed 1d "$1/$rows" | cut -d , -f 1-12 | sort
}
pca="experiment mnist-collection --mechanism pca --data data --trials 2"
pca="$pca --draws 2 --eps 10,none"

# ---- The whole, and again ----------------------------------------------------
# shellcheck disable=SC2086 # words
run 0 $pca --folder whole --commit c0ffee
grep -q '^ *10  *[0-9]' out || fail "no mean at 10: $(cat out)"
grep -q '17.3 +- 8.1' out || fail "the papers' number is not there"
grep -q 'Wrote results/mnist-collection-pca.csv' out || fail "no result"
[ "$(fits whole | wc -l)" -eq 8 ] || fail "not eight rows"
grep -q ',c0ffee,$' whole/$rows || fail "no commit in the rows"
cp out first.out
cp -r results first
# shellcheck disable=SC2086
run 0 $pca --folder whole --commit c0ffee
cmp -s out first.out || fail "another table the second time"
for ending in csv md svg; do
    cmp -s first/mnist-collection-pca.$ending \
        results/mnist-collection-pca.$ending || fail "another .$ending"
done
[ "$(fits whole | wc -l)" -eq 8 ] || fail "rows were made twice"
grep -q '"sotto experiment mnist-collection --mechanism pca --eps 10,none' \
    results/mnist-collection-pca.csv || fail "no command in the results"
grep -q -e --data -e --folder results/mnist-collection-pca.* &&
    fail "the results name folders"
grep -q '^| 10 | [0-9.]* ± [0-9.]* |.* 17.3 ± 8.1 |' \
    results/mnist-collection-pca.md || fail "no row in the table"
python3 - <<'END' || fail "the plot is not well-formed"
import xml.etree.ElementTree

root = xml.etree.ElementTree.parse("results/mnist-collection-pca.svg").getroot()
assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
END

# ---- JSON --------------------------------------------------------------------
# shellcheck disable=SC2086
run 0 $pca --folder whole -o other --json
json out
[ "$(wc -l <out)" -eq 10 ] || fail "not 8 fits and 2 means"
python3 - <<'END' || fail "the JSON is wrong"
import json

lines = [json.loads(line) for line in open("out")]
fits = [line for line in lines if line["kind"] == "fit"]
means = [line for line in lines if line["kind"] == "mean"]
assert [line["eps"] for line in means] == [10, None]
assert all(0 <= line["accuracy"] <= 1 and line["cached"] for line in lines)
assert all(line["paper"] in (0.173, 0.864) for line in lines)
assert all(line["reach"] is None for line in lines)
assert means[0]["runs"] == 4 and means[0]["deviation"] is not None
mean = sum(line["accuracy"] for line in fits[:4]) / 4
assert abs(mean - means[0]["accuracy"]) < 1e-9
assert fits[0]["commit"] == "c0ffee" and means[0]["commit"] == "c0ffee"
assert fits[0]["command"].startswith("sotto experiment mnist-collection ")
assert fits[0]["setting"].startswith("pca ") and len(fits[0]["data"]) == 64
END

# ---- Killed between rows, with half a line -----------------------------------
for stop in 1 3 6; do
    # shellcheck disable=SC2086
    "$SOTTO" $pca --folder killed >killed.out 2>&1 </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null &&
        [ "$(wc -l 2>/dev/null <killed/$rows || echo 0)" -le $stop ]; do
        sleep 0.01
    done
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    printf 'mnist-collection,pca,latent,0.75,10,1' >>killed/$rows
done
# shellcheck disable=SC2086
run 0 $pca --folder killed
fits whole >a
fits killed >b
cmp -s a b || fail "killed and gone on with, another result"
[ "$(sort -u b | wc -l)" -eq 8 ] || fail "a row came twice"

# ---- Killed and interrupted in training --------------------------------------
vlm="experiment mnist-collection --data data --trials 1 --draws 1 --eps 10"
wait_for_checkpoint() {
    while kill -0 "$1" 2>/dev/null &&
        [ -z "$(find "$2" -name '*.checkpoint' 2>/dev/null)" ]; do
        sleep 0.01
    done
}
# shellcheck disable=SC2086
run 0 $vlm --epochs 20 --folder straight
# shellcheck disable=SC2086
"$SOTTO" $vlm --epochs 20 --folder trained >killed.out 2>&1 </dev/null &
pid=$!
wait_for_checkpoint $pid trained
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
# shellcheck disable=SC2086
run 0 $vlm --epochs 20 --folder trained
fits straight >a
fits trained >b
cmp -s a b || fail "another encoder after kill -9"
[ -z "$(find trained -name '*.checkpoint')" ] || fail "a checkpoint is left"

# shellcheck disable=SC2086
"$SOTTO" $vlm --epochs 99999 --folder long >out 2>err </dev/null &
pid=$!
wait_for_checkpoint $pid long
kill -TERM $pid
wait $pid
[ $? -eq 1 ] || fail "stopped: not status 1"
says "stopped"
[ -n "$(find long -name '*.checkpoint')" ] || fail "the training is lost"
[ "$(fits long | wc -l)" -eq 0 ] || fail "a row of half a training"

# Two runs in one folder: the second is told.
exec 9>>long/lock
flock 9
# shellcheck disable=SC2086
run 1 $vlm --epochs 99999 --folder long
says "another experiment is running"
exec 9>&-

# ---- Bad usage ---------------------------------------------------------------
run 2 experiment
run 2 experiment mnist --plan
says "mnist-collection"
run 2 experiment mnist-collection --mechanism ldp --plan
says "vlm, vlm-linear, pca, vlm-float"
run 2 experiment mnist-collection --eps 10,x --plan
says "'x'" "10,4,none"
many=$(seq -s , 0.1 0.1 6.4)
run 0 experiment mnist-collection --eps "$many" --plan
run 2 experiment mnist-collection --eps "$many,7" --plan
says "at most 64"
for eps in "10," ,10 10,,4 4.0000000000000000000000x; do
    run 2 experiment mnist-collection --eps $eps --plan
    says "--eps"
done
run 2 experiment mnist-collection --eps 33 --plan
says "'33'"
run 2 experiment mnist-collection --trials 0 --plan
run 2 experiment mnist-collection --level pixel --plan
says "latent or feature"
run 2 experiment mnist-collection --aux-share 0.9 --plan
says "0.75"
run 2 experiment mnist-collection --data nowhere --folder f -o r
says "train-" nowhere
absent r
printf 'something else\n' >f/$rows
run 2 experiment mnist-collection --data data --folder f -o r
says "$rows" "line 1"

# ---- The plan ----------------------------------------------------------------
run 0 experiment mnist-collection --plan --json
json out
[ "$(wc -l <out)" -eq 7 ] || fail "the plan has not seven means"
[ "$(grep -c '"kind": "plan"' out)" -eq 7 ] || fail "a plan is no mean"
grep -q accuracy out && fail "a plan with an accuracy"
run 0 experiment mnist-collection --plan --eps 4 --aux-share 0.25
grep -q '60.5 +- 3.5' out || fail "P0 Table 9 is not there: $(cat out)"
finish
