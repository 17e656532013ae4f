#!/bin/sh
# test_evaluate.sh: what evaluate says of a model: whether it is better than
# always naming the largest class, which classes it never names, all scores
# with their intervals, and what is missing in the table.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# 600 rows whose label follows a or not; a third class is rare.
python3 - <<'END'
import random
random.seed(5)
def write(path, rule, rows=600):
    with open(path, "w") as to:
        to.write("a,b,label\n")
        for i in range(rows):
            a, b = random.random(), random.random()
            to.write("%.4f,%.4f,%s\n" % (a, b, rule(i, a)))
names = ["Mild-to-moderate", "Mild-to-severe"]
write("clear.csv", lambda i, a: names[a > 0.5])
write("flat.csv", lambda i, a: names[i % 4 == 0])
write("rare.csv", lambda i, a: "rare" if i % 40 == 0 else names[a > 0.5])
write("short.csv", lambda i, a: "yes" if a > 0.6 else "no")
END

# fit NAME: a mechanism and a model of NAME.csv, from reports at epsilon 16.
fit() {
    run 0 train direct --data "$1.csv" --label label --range a=0:1 \
        --range b=0:1 --eps 16 -o "$1.sotto"
    run 0 privatise "$1.sotto" "$1.csv" --seed 1 -o "$1.reports"
    run 0 fit "$1.sotto" "$1.reports" --aux "$1.csv" --seed 1 -o "$1.model"
}
# prints PATTERN...: the last run's output has each of them.
prints() {
    for pattern in "$@"; do
        grep -q -e "$pattern" out || {
            fail "the output does not say '$pattern'"
            sed 's/^/    /' out
        }
    done
}
for name in clear flat rare short; do
    fit $name
done

# ---- A model that learnt, and one that did not -------------------------------
run 0 evaluate clear.model --data clear.csv
prints '^accuracy 0.9[0-9]* on 600 clean records, 95% interval' \
    'is better than always naming "Mild-to-[a-z]*", the largest class' \
    'exact McNemar test, p ' '^balanced accuracy  *0.9' '^AUC  *0.9' \
    '^log loss  .* the class shares alone$' '^calibration error'
grep -q -e "NO BETTER" -e "never names" out && fail "blamed: $(cat out)"
# Long names stand in full, and numbers in their place above the columns.
prints '^   1 Mild-to-moderate' '^   2   Mild-to-severe' \
    ' truth         1         2  <- predicted$'

run 0 evaluate flat.model --data flat.csv
prints 'names "Mild-to-moderate", the largest class, for every record' \
    'right for 0.7500' 'it tells nothing apart' '^balanced accuracy  *0.5000'
run 0 evaluate flat.model --data flat.csv --json
json out
prints '"verdict": "same"' '"largest_share": 0.75,' '"balanced_accuracy": 0.5,'

run 0 evaluate rare.model --data rare.csv
prints 'never names "rare" (15 records)' '^mean AUC .*each class against the'
run 0 evaluate short.model --data short.csv
prints '^     truth        no       yes  <- predicted$'

# A model of other labels, asked about records without structure.
sed 's/Mild-to-moderate/x/; s/Mild-to-severe/Mild-to-moderate/
     s/,x$/,Mild-to-severe/' clear.csv >swapped.csv
run 0 evaluate clear.model --data swapped.csv
prints 'is WORSE than always naming' \
    'probabilities are worse than the class shares alone'
run 0 evaluate short.model --data short.csv --private --seed 2
prints '^accuracy 0.[0-9]* on 600 privatised records'

# ---- JSON against a computation of its own ------------------------------------
run 0 evaluate clear.model --data clear.csv --json
json out
cp out scores
run 0 predict clear.model clear.csv -o p.csv
python3 - <<'END' || fail "the scores are not what predict's numbers say"
import csv, json, math
lines = [json.loads(line) for line in open("scores")]
head = lines[0]
cells = [c for c in lines if "truth" in c]
classes = {c["class"]: c for c in lines if "class" in c}
bins = [c for c in lines if "said" in c]
truth = [r["label"] for r in csv.DictReader(open("clear.csv"))]
p = list(csv.DictReader(open("p.csv")))
names = sorted(classes)
score = [float(r[names[1]]) for r in p]
pos = [s for s, t in zip(score, truth) if t == names[1]]
neg = [s for s, t in zip(score, truth) if t == names[0]]
auc = sum((a > b) + (a == b) / 2 for a in pos for b in neg)
assert abs(auc / len(pos) / len(neg) - head["auc"]) < 1e-3
assert head["auc_low"] < head["auc"] < head["auc_high"]
loss = -sum(math.log(float(r[t])) for r, t in zip(p, truth)) / len(truth)
assert abs(loss - head["log_loss"]) < 1e-3 and head["log_p"] == -head["log_loss"]
shares = [truth.count(n) / len(truth) for n in names]
entropy = -sum(s * math.log(s) for s in shares)
assert abs(entropy - head["log_loss_shares"]) < 1e-9
assert head["largest_share"] == max(shares)
recalls = []
for n in names:
    rows = sum(c["rows"] for c in cells if c["truth"] == n)
    right = sum(c["rows"] for c in cells
                if c["truth"] == n == c["predicted"])
    assert classes[n]["records"] == rows and classes[n]["right"] == right
    assert classes[n]["recall_low"] < right / rows < classes[n]["recall_high"]
    recalls.append(right / rows)
assert abs(sum(recalls) / 2 - head["balanced_accuracy"]) < 1e-12
assert sum(b["records"] for b in bins) == len(truth)
error = sum(b["records"] * abs(b["said"] - b["right"]) for b in bins)
assert abs(error / len(truth) - head["calibration_error"]) < 1e-9
END

# ---- What the reports can support ----------------------------------------------
size=$(($(wc -c <clear.reports) / 600))
head -c $((2 * size)) clear.reports >two.reports
run 0 fit clear.sotto two.reports --aux clear.csv -o two.model
says "2 reports: nothing can be learnt" "do not use the model"
run 0 fit clear.sotto two.reports --aux clear.csv --json -o two.model
json out
prints '"support": "nothing"' '"labels_worth": 1.' '"log_p": ' '"validation": '
head -c $((60 * size)) clear.reports >sixty.reports
run 0 fit clear.sotto sixty.reports --aux clear.csv -o sixty.model
says "60 reports: little can be learnt"
run 0 fit clear.sotto clear.reports --aux clear.csv -o all.model
prints 'tell of the label at most what [0-9]* labels in the clear would'
grep -q -e "can be learnt" err && fail "600 reports are called few: $(cat err)"
grep -q -e "log-likelihood" out && fail "the log-likelihood is for --json"
run 2 fit clear.sotto clear.reports -o no.model
says "'clear.sotto': this mechanism has no analyst file" "public records" \
    "(--aux)"

# ---- What is missing ----------------------------------------------------------
cut -d, -f 1,2 clear.csv >unlabelled.csv
run 2 evaluate clear.model --data unlabelled.csv
says "'unlabelled.csv': " 'has no column "label"' '(--labels)'
sed 's/Mild.*/strange/' clear.csv >strange.csv
run 2 evaluate clear.model --data strange.csv
says "no row has a label that the model knows"
finish
