#!/bin/sh
# test_inspect_model.sh: inspect and evaluate say which classes reports leave in
# doubt: hardly any report leaves both, many leave none; a model that does not
# know says so; what is neither model nor mechanism is refused as before.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# people N SEED: two groups on a plane.
people() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed); print "x,y,who"
        for (i = 0; i < n; i++) {
            g = int(2 * rand())
            printf "%.3f,%.3f,%s\n", 6 * (g == 1) + 2 * rand(), 2 * rand(),
                substr("annbob", 3 * g + 1, 3)
        }
    }'
}
prints() {
    grep -q -F -e "$1" out || fail "not printed: $1"
}
people 300 1 >aux.csv
people 900 2 >people.csv
head -41 people.csv >few.csv
run 0 train pca --data aux.csv --label who --eps 1 --d 2 -o e.sotto
book() {
    run 0 train codebook --encoder e.sotto --data aux.csv --label who --k 4 \
        --channel subset --threads 1 "$@"
}

# ---- Little is known -----------------------------------------------------------
book --eps 0.1 -o low.sotto
run 0 privatise low.sotto few.csv --seed 1 -o low.reports
run 0 fit low.sotto low.reports --threads 1 -o low.model
run 0 inspect low.model
prints 'A model: it tells 2 classes apart: "ann", "bob".'
prints '"ann" and "bob" may be exchanged: the reports leave a probability of'
run 0 inspect low.model --json
prints '"kind": "model"'
prints '"exchanged": 0.'
run 0 evaluate low.model --data aux.csv
prints 'may be exchanged'
run 0 evaluate low.model --data aux.csv --json
prints '"other": "bob", "exchanged": 0.'

# ---- Much is known -------------------------------------------------------------
book --eps 2 -o high.sotto
run 0 privatise high.sotto people.csv --seed 1 -o high.reports
run 0 fit high.sotto high.reports --threads 1 -o high.model
run 0 inspect high.model
prints 'named below, if there are any'
grep -q exchanged out && fail "a doubt, where there is none"
run 0 evaluate high.model --data people.csv
grep -q exchanged out && fail "a doubt, where there is none"

# ---- Nothing is known of it ----------------------------------------------------
run 0 privatise e.sotto people.csv --seed 1 -o e.reports
run 0 fit e.sotto e.reports --aux aux.csv --epochs 2 --threads 1 -o e.model
run 0 inspect e.model
prints 'It does not say how sure it is which class is which.'
run 0 inspect e.model --json
prints '"doubt_known": false'
run 2 inspect aux.csv
says 'sotto inspect'
finish
