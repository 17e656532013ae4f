#!/bin/sh
# test_learnt_channels.sh: gaussian and duchi on learnt representations go
# through all that follows: inspect, privatise, fit, evaluate, decode, plan,
# audit, another budget; and what does not go together is refused.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
wdbc=$SOTTO_SOURCE_DIR/data/wdbc.csv

# make KIND CHANNEL SETTINGS...: trains KIND, privatises, fits and evaluates.
make() {
    kind=$1 channel=$2 least=$3
    shift 3
    run 0 train "$kind" --data "$wdbc" --label diagnosis --eps 12 \
        --channel "$channel" "$@" -o m.sotto --force
    run 0 inspect m.sotto
    grep -q "$channel" out || fail "inspect does not name $channel"
    run 0 privatise m.sotto "$wdbc" --seed 1 -o m.reports --force
    rm -f m.model
    run 0 fit m.sotto m.reports --analyst m.analyst -o m.model --threads 1
    run 0 evaluate m.model --data "$wdbc" --json
    awk -F'"accuracy": ' -v least="$least" '{ exit !($2 + 0 > least) }' out ||
        fail "$kind $channel is no good: $(cat out)"
    run 0 decode m.sotto m.reports
}

for kind in pca vlm clm; do
    case $kind in
    pca) set -- --d 2 ;;
    *) set -- --d 2 --epochs 20 --seed 1 ;;
    esac
    make "$kind" gaussian 0.75 --delta 0.00001 "$@"
    make "$kind" duchi 0.6 "$@"
done

# ---- What follows --------------------------------------------------------------
run 0 train pca --data "$wdbc" --label diagnosis --eps 8 --d 2 --steps 64 \
    --channel gaussian --delta 0.00001 -o g.sotto
run 0 train pca --data "$wdbc" --label diagnosis --eps 8 --d 2 --steps 64 \
    --channel duchi -o d.sotto
for m in g d; do
    run 0 privatise $m.sotto "$wdbc" --seed 1 -o $m.reports
    run 0 decode $m.sotto $m.reports --analyst $m.analyst -o $m.csv
    [ "$(wc -l <$m.csv)" -eq 570 ] || fail "not a record a report"
    run 0 inspect $m.analyst
    run 0 plan $m.sotto --people 1000
    run 0 audit $m.sotto --samples 2000 --branches 20000 --steps 30000
    grep -q "^Verdict: the claim holds" out || fail "no verdict: $(tail -1 out)"
    run 0 train pca --from $m.sotto --eps 2 -o $m.less.sotto
    run 0 privatise $m.less.sotto "$wdbc" --seed 1 -o $m.less.reports
    run 0 fit $m.less.sotto $m.less.reports --analyst $m.analyst \
        -o $m.less.model --threads 1
done
run 0 inspect g.less.sotto --json
grep -q '"delta_text":"0.00001"' out || fail "the delta is gone"
run 0 train task-linear --data "$wdbc" --label diagnosis --eps 8 \
    --weights radius_mean=1,texture_mean=1 --channel gaussian --delta 0.00001 \
    -o t.sotto
grep -q "directions* .* kept" out || fail "not a word on directions"

# ---- Mistakes ------------------------------------------------------------------
refused() {
    run 2 train "$@" --data "$wdbc" --label diagnosis --eps 8 -o no.sotto
    absent no.sotto
}
refused pca --channel gaussian
says "--delta is missing"
refused vlm --channel duchi --delta 0.00001
says "--delta is for gaussian"
refused clm --channel subset
says "the channels for a representation are laplace, gaussian, duchi"
refused vlm --channel duchi --eps-pre 40
says "--eps-pre is 40"
run 2 train pca --data "$wdbc" --label diagnosis --eps 8 --channel gaussian \
    --delta 0.00001 --steps 1048576 -o no.sotto
says "--steps is too large"
run 2 train pca --from g.sotto --eps 0.00001 -o no.sotto
says "'gaussian' cannot make the noise for 64 steps"
absent no.sotto
run 2 train pca --from d.sotto --eps 2 --channel laplace -o no.sotto
says "leave --channel out"
# A cube's analyst file is not a ball's.
run 2 fit g.sotto g.reports --analyst d.analyst -o no.model
absent no.model

finish
