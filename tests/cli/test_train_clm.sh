#!/bin/sh
# test_train_clm.sh: contrastive mechanisms: images and other columns, killed
# and gone on, threads, another budget, wrong usage.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
data=$SOTTO_SOURCE_DIR/data/wdbc.csv
python3 - <<'END'
import random
random.seed(5)
rows = b""
for i in range(300):
    at = random.randrange(12)
    for y in range(12):
        for x in range(12):
            bright = (y if i % 2 else x) == at
            rows += bytes([random.randrange(40) + (200 if bright else 0)])
open("image.idx", "wb").write(bytes([0, 0, 8, 3, 0, 0, 1, 44, 0, 0, 0, 12,
                                     0, 0, 0, 12]) + rows)
open("label.idx", "wb").write(bytes([0, 0, 8, 1, 0, 0, 1, 44]) +
                              bytes(i % 2 for i in range(300)))
END
small="--data image.idx --labels label.idx --eps 8 --d 6 --epochs 2 --batch 32"
same="--name same --campaign same" # files are compared, whatever theirs
small="$small $same"

# ---- Images: the same seed, the same file --------------------------------------
for threads in 1 2; do
    # shellcheck disable=SC2086 # $small is a list
    run 0 train clm $small --threads $threads --json -o t$threads.sotto
    json out
    grep -q '"epochs": 2, "loss": .*, "clipped": 0.1, "resumed": false' out ||
        fail "facts in JSON"
done
cmp -s t1.sotto t2.sotto || fail "threads change the mechanism"
cmp -s t1.analyst t2.analyst || fail "threads change the analyst file"
[ "$(stat -c %a t1.analyst)" = 600 ] || fail "others may read t1.analyst"
# shellcheck disable=SC2086 # $small is a list
run 0 train clm $small --seed 1 -o t3.sotto
grep -q "contrastive loss" out || fail "no summary"
grep -q "Wrote t3.analyst: the prior" out || fail "no word of the analyst file"
cmp -s t1.sotto t3.sotto && fail "another seed, the same file"
run 0 inspect t1.sotto
grep -q -i "none: encoder" out || fail "inspect hides that nothing is promised"
run 0 privatise t1.sotto image.idx --labels label.idx --seed 3 -o r
run 0 decode t1.sotto r -o r.csv
[ "$(wc -l <r.csv)" -eq 301 ] || fail "not a line a report"
run 2 decode t1.sotto r --analyst t1.analyst -o x.csv
says "no decoder"
absent x.csv
run 0 fit t1.sotto r --analyst t1.analyst --epochs 2 -o m.model
run 0 train clm --from t1.sotto --eps 4 --lambda 0.5 -o f.sotto
run 0 privatise f.sotto image.idx --labels label.idx --seed 3 -o rf
run 0 fit f.sotto rf --analyst t1.analyst --epochs 2 -o m.model
for more in "--residual --augment photo" "--network mlp --hidden 9,8" \
    "--widths 4,6 --temperature 0.2" "--eps-pre 20 --l 3" \
    "--augment corrupt --inside 0.5 --rate 0.01"; do
    # shellcheck disable=SC2086 # $small and $more are lists
    run 0 train clm $small $more --force -o o.sotto
    cmp -s t1.sotto o.sotto && fail "$more makes no difference"
done

# ---- Other columns ---------------------------------------------------------------
run 0 train clm --data "$data" --label diagnosis --eps 8 --d 4 --epochs 3 \
    --batch 64 -o w.sotto
run 0 privatise w.sotto "$data" --seed 3 -o rw

# ---- Killed, and gone on -----------------------------------------------------------
long="--data $data --label diagnosis --eps 8 --epochs 40 --batch 32 --seed 4 $same"
# shellcheck disable=SC2086 # $long is a list
run 0 train clm $long -o whole.sotto
interrupted=0
for signal in KILL INT TERM; do
    rm -f k.sotto k.analyst
    # shellcheck disable=SC2086 # $long is a list
    env --default-signal=INT "$SOTTO" train clm $long -o k.sotto >out 2>err &
    pid=$!
    while [ ! -e k.sotto.checkpoint ] && kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    if kill -$signal $pid 2>/dev/null; then
        wait $pid
        status=$?
        if [ -e k.sotto.checkpoint ]; then
            interrupted=$((interrupted + 1))
            absent k.sotto
            [ $signal = KILL ] || [ $status -eq 1 ] || fail "$signal: $status"
            [ $signal = KILL ] || says "run the same command again to go on"
            # shellcheck disable=SC2086 # $long is a list
            run 2 train clm $long --temperature 0.5 -o k.sotto
            says "is of a training with other options"
        fi
    fi
    # shellcheck disable=SC2086 # $long is a list
    run 0 train clm $long --json -o k.sotto
    cmp -s whole.sotto k.sotto || fail "$signal: another mechanism"
    cmp -s whole.analyst k.analyst || fail "$signal: another analyst file"
    absent k.sotto.checkpoint
done
[ $interrupted -gt 0 ] || fail "nothing was interrupted"

# ---- Wrong usage -----------------------------------------------------------------------
rm -f x.sotto
try() {
    words=$1
    shift
    # shellcheck disable=SC2086 # $words is a list
    run 2 train $words -o x.sotto
    says "$@"
}
try "clm --eps 1" "--data"
try "clm --data $data --eps 1 --linear" "--linear is not for clm"
try "vlm --data $data --eps 1 --widths 3" "--widths is not for vlm"
try "clm --data $data --eps 1 --widths 3,,4" "--widths 3,,4"
try "clm --data $data --eps 1 --batch 1" "--batch"
try "clm --data $data --eps 1 --temperature 0" "--temperature"
try "clm --data $data --eps 1 --l 3" "--l" "eps-pre"
try "clm --data $data --eps 1 --eps-pre 3 --inside 0.5" "--inside"
try "clm --data $data --eps 1 --network cnn" "8x8"
try "clm --data $data --eps 1 --network tree" "--network tree is none of cnn|mlp"
try "clm --data $data --eps 1 --augment line" "take corrupt"
try "pca --eps 1 --from t1.sotto" "layers: its KIND is not pca"
absent x.sotto
finish
