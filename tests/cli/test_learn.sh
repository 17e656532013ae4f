#!/bin/sh
# test_learn.sh: fit, predict and evaluate: what they write and print, that
# seeds and threads behave, and what they say of what is wrong.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
cp "$SOTTO_SOURCE_DIR/data/wdbc.csv" .
run 0 train direct --data wdbc.csv --label diagnosis --eps 12 \
    --keep radius_mean --keep texture_mean -o m.sotto
run 0 privatise m.sotto wdbc.csv --seed 1 -o r.reports
run 0 privatise m.sotto wdbc.csv --seed 1 -o r.jsonl

# ---- Fitting -----------------------------------------------------------------
fit="fit m.sotto r.reports --aux wdbc.csv --epochs 20"
# shellcheck disable=SC2086 # words on purpose
{
    run 0 $fit -o a.model
    says "simulated"
    grep -q "learnt from 569 reports" out || fail "fit: $(cat out)"
    grep -q "prior of 569 points" out || fail "fit: $(cat out)"
    run 0 $fit --threads 1 --json -o b.model
    json out
    cmp -s a.model b.model || fail "threads change the model"
    for word in '"objective": "marginal"' '"reports": 569' '"points": 569' \
        '"truncated": 0' '"classes": 2'; do
        grep -q "$word" out || fail "fit --json has no $word: $(cat out)"
    done
    run 0 $fit --seed 2 -o c.model
    cmp -s a.model c.model && fail "two seeds, one model"
    run 0 $fit --prior-most 100 --json -o c.model
    grep -q '"points": 100,' out || fail "--prior-most: $(cat out)"
    run 0 $fit --linear --restarts 2 --decay 0 --rate 0.01 --batches 4 \
        --share-weight 0.1 --other -o c.model
    run 0 $fit --level feature --hidden 8,4 -o feature.model
    run 0 $fit --balanced --json -o c.model
    cmp -s a.model c.model && fail "--balanced changes nothing"
    run 0 $fit --balanced --share-weight 0.1 -o d.model
    cmp -s c.model d.model || fail "--balanced is not --share-weight 0.1"
    run 0 $fit --entropy 0.05 -o c.model
    cmp -s a.model c.model && fail "--entropy changes nothing"
    run 2 $fit --entropy -1 -o x.model
    says "--entropy"
    run 2 $fit --objective label --entropy 0.05 -o x.model
    says "entropy" "objective marginal"
}
run 0 fit m.sotto r.jsonl --objective label --epochs 5 -o label.model
run 0 fit m.sotto r.reports --objective plain --epochs 5 -o plain.model

# ---- Using -------------------------------------------------------------------
for model in a feature label plain; do
    run 0 evaluate $model.model --data wdbc.csv --json
    json out
done
run 0 evaluate a.model --data wdbc.csv
accuracy=$(sed -n 's/^accuracy \([0-9.]*\) on 569 clean records.*/\1/p' out)
[ "${accuracy#0.}" -gt 7500 ] ||
    fail "learnt nothing: $(cat out)"
grep -q "<- predicted" out || fail "no confusion matrix"
run 0 evaluate a.model --data wdbc.csv --private --seed 3 --json
cp out once
json out
run 0 evaluate a.model --data wdbc.csv --private --seed 3 --json
cmp -s out once || fail "one seed, two evaluations"
grep -q '"private": true' out || fail "not said to be private"
python3 - once <<'END' || fail "the counts of the confusion do not add up"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
head, cells = lines[0], [c for c in lines[1:] if "truth" in c]
assert head["rows"] == sum(c["rows"] for c in cells) == 569
right = sum(c["rows"] for c in cells if c["truth"] == c["predicted"])
assert abs(right / 569 - head["accuracy"]) < 1e-12
assert head["low"] <= head["accuracy"] <= head["high"]
END

run 0 predict a.model wdbc.csv -o classes.csv
[ "$(wc -l <classes.csv)" -eq 570 ] || fail "predict: not a line a record"
head -1 classes.csv | grep -q '^row,class,B,M$' ||
    fail "predict's header: $(head -1 classes.csv)"
grep -q "569 records" out || fail "predict: $(cat out)"
run 0 predict a.model r.reports --json
head -2 out >few
json few
[ "$(wc -l <out)" -eq 569 ] || fail "predict --json: not a line a report"
cp out once
run 0 predict a.model r.jsonl --json
cmp -s out once || fail "the forms of reports are classified differently"
run 0 predict a.model r.reports
grep -q "569 reports" out || fail "reports are not told from records"
"$SOTTO" predict a.model wdbc.csv -o /dev/stdout 2>err >piped
cmp -s classes.csv piped || fail "predict to standard output"

# The prior and decoder of a trained mechanism, found beside it.
run 0 train pca --data wdbc.csv --label diagnosis --eps 12 --d 2 -o p.sotto
run 0 privatise p.sotto wdbc.csv --seed 1 -o p.reports
run 0 fit p.sotto p.reports --epochs 5 --json -o p.model
grep -q '"points": 569,' out || fail "the analyst file was not found: $(cat out)"
run 0 fit p.sotto p.reports --level feature --objective label --epochs 2 \
    -o pf.model
run 0 evaluate pf.model --data wdbc.csv
run 2 predict pf.model p.reports
says p.reports "objective marginal"
mv p.analyst elsewhere
run 2 fit p.sotto p.reports --epochs 5 -o no.model
says "--aux" "no analyst file"
run 0 fit p.sotto p.reports --analyst elsewhere --epochs 5 -o p2.model
cmp -s p.model p2.model || fail "--analyst: another model"
run 2 fit m.sotto r.reports --analyst elsewhere -o no.model
says "'elsewhere': the analyst file belongs to another mechanism"
run 2 fit m.sotto r.reports --analyst r.reports -o no.model
says "r.reports" "safetensors"
absent no.model

# ---- Labels in the clear -----------------------------------------------------
run 0 train direct --data wdbc.csv --eps 12 --keep radius_mean \
    --keep texture_mean -o u.sotto
run 0 privatise u.sotto wdbc.csv --seed 1 -o u.jsonl
cut -d, -f 1 wdbc.csv >known.csv
python3 - <<'END'
import csv, json, random
ids = [json.loads(line)["id"] for line in open("u.jsonl")]
labels = [row[0] for row in csv.reader(open("known.csv"))][1:]
rows = [[i, label] for i, label in zip(ids, labels)]
random.Random(1).shuffle(rows)
def write(name, header, rows):
    csv.writer(open(name, "w"), lineterminator="\n").writerows([header] + rows)
write("ids.csv", ["id", "diagnosis"], rows)
write("turned.csv", ["diagnosis", "id"], [r[::-1] for r in rows])
write("some.csv", ["id", "diagnosis"], rows[:400])
write("twice.csv", ["id", "diagnosis"], rows + rows[-1:])
write("patients.csv", ["id", "diagnosis"], [[n, r[1]] for n, r in enumerate(rows)])
write("others.csv", ["id", "diagnosis"], [[r[0][::-1], r[1]] for r in rows])
write("three.csv", ["id", "diagnosis", "x"], [r + ["1"] for r in rows])
END
known="fit u.sotto u.jsonl --aux wdbc.csv --epochs 20 --known-labels"
# shellcheck disable=SC2086
{
    run 0 $known known.csv --json -o k.model
    json out
    grep -q '"known_labels": true' out || fail "not said: $(cat out)"
    for file in ids turned; do
        run 0 $known $file.csv -o k2.model
        says "569 of 569 reports have a label in the clear"
        cmp -s k.model k2.model || fail "$file.csv: another model"
    done
    run 0 $known some.csv -o k2.model
    says "400 of 569 reports have a label in the clear"
    grep -q "learnt from 400 reports" out || fail "without a label: $(cat out)"
    head -400 known.csv >few.csv
    run 2 $known few.csv -o no.model
    says "'few.csv': there are 399 labels of 569 reports"
    run 2 $known twice.csv -o no.model
    says "'twice.csv': rows .* have the same id"
    run 2 $known patients.csv -o no.model
    says "'patients.csv': row 1: the column id has the id of a report"
    run 2 $known others.csv -o no.model
    says "'others.csv': no report has one of the ids"
    run 2 $known three.csv -o no.model
    says "three.csv" "one beside the column \"id\""
    run 2 $known known.csv -o known.csv
    says "known.csv"
}
run 0 evaluate k.model --data wdbc.csv --json
accuracy=$(sed -n 's/.*"accuracy": 0.\([0-9][0-9]\).*/\1/p' out)
[ "$accuracy" -gt 80 ] || fail "learnt nothing: $(cat out)"
run 0 evaluate k.model --data wdbc.csv --private --mechanism u.sotto --json
json out
run 0 predict k.model u.jsonl --mechanism u.sotto --json
[ "$(wc -l <out)" -eq 569 ] || fail "reports of the mechanism: $(cat out)"
run 2 predict k.model u.jsonl
says "another mechanism"
run 2 predict k.model r.jsonl --mechanism m.sotto
says "its own mechanism only"
run 2 fit m.sotto r.jsonl --aux wdbc.csv --known-labels known.csv -o no.model
says "a label of their own"
run 2 fit u.sotto sqlite:none.db --aux wdbc.csv --known-labels known.csv \
    -o no.model
says "shuffles"
cat u.jsonl u.jsonl >again.jsonl
run 2 fit u.sotto again.jsonl --aux wdbc.csv --known-labels known.csv -o no.model
says "came twice"
run 0 fit u.sotto again.jsonl --aux wdbc.csv --epochs 20 \
    --known-labels ids.csv -o k2.model
cmp -s k.model k2.model || fail "copies of reports change the model"
absent no.model

# ---- What is wrong -----------------------------------------------------------
run 2 fit m.sotto r.reports -o no.model
says "--aux" "no analyst file"
run 2 fit m.sotto r.reports --aux wdbc.csv --objective margin -o no.model
says "objective" "marginal"
run 2 fit m.sotto r.reports --aux wdbc.csv --hidden 5,x -o no.model
says "hidden"
for hidden in "5," ,5 5,,4; do
    run 2 fit m.sotto r.reports --aux wdbc.csv --hidden $hidden -o no.model
    says "hidden $hidden"
done
run 2 fit m.sotto r.reports --aux wdbc.csv --hidden 5 --linear -o no.model
says "linear"
run 2 fit m.sotto r.reports --aux wdbc.csv --restarts 99 -o no.model
says "restarts" "32"
run 2 fit m.sotto r.reports --labels wdbc.csv -o no.model
says "labels"
run 2 fit m.sotto p.reports --aux wdbc.csv -o no.model
says p.reports
run 2 fit m.sotto r.reports --aux wdbc.csv -o r.reports
says "r.reports"
printf 'x,y\n1,2\n' >other.csv
run 2 fit m.sotto r.reports --aux other.csv -o no.model
says "'other.csv':" '"radius_mean"'
run 2 evaluate a.model --data other.csv
says other.csv '"radius_mean"'
cut -d, -f 2-31 wdbc.csv >unlabelled.csv
run 2 evaluate a.model --data unlabelled.csv
says unlabelled.csv
run 2 predict m.sotto wdbc.csv
says m.sotto "model"
head -c 500 a.model >cut.model
run 2 predict cut.model wdbc.csv
says cut.model
run 1 predict none.model wdbc.csv
says none.model
run 2 predict a.model p.reports
says p.reports

# An output that cannot be written is told before anything is read, and a file
# that is there stays until there is another.
run 1 fit m.sotto none.reports --aux wdbc.csv -o no/such/a.model
says "cannot write 'no/such/a.model'"
mkdir folder
run 1 fit m.sotto none.reports --aux wdbc.csv -o folder
says "folder"
cp a.model kept.model
run 1 fit m.sotto none.reports --aux wdbc.csv -o kept.model
says none.reports
cmp -s a.model kept.model || fail "a failed fit changed its output"

# What comes through a pipe is read once, all of it.
run 0 predict a.model wdbc.csv -o whole.csv
cat wdbc.csv | "$SOTTO" predict a.model /dev/stdin -o through.csv >out 2>err ||
    fail "predict from a pipe"
cmp -s whole.csv through.csv || fail "a pipe lost records"

# Rows that do not count are told; an analyst file found is an input too.
sed '2,11s/^[MB],/Z,/' wdbc.csv >strange.csv
run 0 evaluate a.model --data strange.csv
says "10 rows were left out"
cp m.sotto beside.sotto
: >beside.analyst
run 2 fit beside.sotto r.reports --aux wdbc.csv -o beside.analyst
says "input"

head -20 r.jsonl >few.jsonl
run 0 privatise m.sotto wdbc.csv -o real.jsonl
head -3 real.jsonl >>few.jsonl
run 2 fit m.sotto few.jsonl --aux wdbc.csv -o no.model
says few.jsonl "simulated"
absent no.model
finish
