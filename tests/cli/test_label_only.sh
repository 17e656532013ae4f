#!/bin/sh
# test_label_only.sh: reports about the label alone, where whoever gets them
# holds the records: what is said of them, who refuses them, and learning.
# shellcheck disable=SC2086 # files and pairs are lists
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

make_small

# ---- What the mechanism says of itself ---------------------------------------
run 0 train direct --data small.csv --label colour --eps 2 --label-only \
    -o only.sotto
run 0 inspect only.sotto
[ "$(head -c 28 out)" = "The record is not protected." ] ||
    fail "inspect begins '$(head -1 out)'"
run 0 inspect only.sotto --json
grep -q '"label_only":true' out || fail "inspect --json does not say it"
run 0 inspect m.sotto
grep -q "not protected" out && fail "a plain mechanism is said to be label-only"
run 2 train direct --data small.csv --eps 2 --label-only -o none.sotto
says "label-only" "name one"
run 2 train direct --data small.csv --label age --eps 2 --label-only \
    -o none.sotto
says "label-only" "category"
absent none.sotto

# ---- Neither sent nor collected ----------------------------------------------
run 0 sign only.sotto --key k.key
run 0 ledger new l --lifetime-eps 3
printf 'name,colour\nann,red\nbob,blue\n' >people.csv
run 3 send only.sotto people.csv --person name --ledger l --pub k.pub \
    --to http://127.0.0.1:1/v1/campaigns/c --tries 1 --spread 0
says "for the label only" "neither sent nor collected"
run 0 ledger show l --person ann --json
grep -q '"id"' out && fail "ann was charged for what is not sent"
run 3 serve --mechanism only.sotto --pub k.pub --store sqlite:s.db \
    --listen 127.0.0.1:0
says "for the label only" "neither sent nor collected"
absent s.db

# ---- Learning beside the records ---------------------------------------------
python3 - <<'END'
rows = [(f"p{i}", (i * 37 % 200 - 99.5) / 100) for i in range(200)]
with open("all.csv", "w") as to:
    print("person,a,colour", file=to)
    for name, a in rows:
        print(f"{name},{a},{'red' if a > 0 else 'blue'}", file=to)
with open("held.csv", "w") as to:  # other people's order, and no label
    print("a,person", file=to)
    for name, a in sorted(rows, key=lambda row: row[1]):
        print(f"{a},{name}", file=to)
END
run 0 privatise only.sotto all.csv --key person --keys keys.csv -o r.jsonl
[ "$(wc -l <keys.csv)" -eq 201 ] || fail "keys.csv has not a row a report"
[ "$(head -1 keys.csv)" = "id,person" ] || fail "the keys' header"
run 0 fit only.sotto r.jsonl --records held.csv --keys keys.csv -o a.model
says "the record is not protected"
run 0 evaluate a.model --data all.csv --json
python3 -c 'import json; assert json.loads(open("out").readline())["accuracy"] > 0.85' ||
    fail "it did not learn"
run 0 inspect a.model
[ "$(head -c 28 out)" = "The record is not protected." ] ||
    fail "inspect of a model begins '$(head -1 out)'"
run 0 inspect a.model --json
grep -q '"label_only": true' out || fail "inspect --json of a model"
run 0 predict a.model held.csv -o p.csv
run 2 evaluate a.model --data all.csv --private
says "records in the clear"
run 2 fit only.sotto r.jsonl -o b.model
says "--records F"
run 2 fit only.sotto r.jsonl --records small.csv -o b.model
says "small.csv" "3 records and 200 reports"
run 2 fit only.sotto r.jsonl --records small.csv --keys keys.csv -o b.model
says "small.csv" 'no column "person"'
run 2 fit only.sotto r.jsonl --records all.csv --keys all.csv -o b.model
says "all.csv" "keys have two"
run 2 fit m.sotto r.jsonl --records all.csv -o b.model
says "protects the records"
run 2 fit only.sotto r.jsonl --records all.csv --aux all.csv -o b.model
says "neither --aux"
run 2 fit m.sotto r.jsonl --keys keys.csv -o b.model
says "belongs to --records"
absent b.model
run 2 privatise m.sotto small.csv --key age --keys k.csv -o r2
says "must not be tied to a person"
run 2 privatise only.sotto all.csv --keys k.csv -o r2
says "go together"
run 2 privatise only.sotto all.csv --key nobody --keys k.csv -o r2
says "nobody"

# A key is never what the reports protect.
run 2 privatise only.sotto all.csv --key colour --keys k.csv -o r2
says "--key" '"colour"' "in clear"
printf 'person,colour\np1,red\np2,blue\n' >two.csv
printf 'second\nred\nblue\n' >second.csv
run 2 privatise only.sotto two.csv --labels second.csv --header yes \
    --key second --keys k.csv -o r2
says "--key" '"second"' "--labels"
run 0 privatise only.sotto two.csv --labels second.csv --header yes \
    --key person --keys labelled.csv -o labelled
run 2 privatise only.sotto people.csv --ledger l --person name \
    --key colour --keys k.csv -o r2
says "--key" '"colour"' "in clear"

# A row without a key leaves neither file.
printf 'person,colour\np1,red\n,blue\n' >gap.csv
run 2 privatise only.sotto gap.csv --header yes --key person --keys k.csv -o r2
says "gap.csv" "row 2" "no key"
absent k.csv
absent r2

# ---- --keys beside other files -------------------------------------------------
run 0 privatise only.sotto people.csv --ledger l --person name -o charged
printf 'name\nann\nbob\n' >list.csv
mkdir before
files="only.sotto people.csv list.csv k.pub l l.secret l.mark"
cp $files before
ln people.csv hard.csv
ln -s people.csv soft.csv
for file in $files ./people.csv hard.csv soft.csv; do
    run 2 privatise only.sotto people.csv --ledger l --person name \
        --people list.csv --pub k.pub --key name --keys $file -o r2
    says "--keys names an input itself" "choose another name"
done
run 2 privatise only.sotto two.csv --labels second.csv --header yes \
    --key person --keys second.csv -o r2
says "--keys names an input itself ('second.csv')"
for file in l-journal l-wal ./l-shm; do
    run 2 privatise only.sotto people.csv --ledger l --person name --key name \
        --keys $file -o r2
    says "--keys" "ledger needs for itself"
    absent $file
done
for file in $files; do
    cmp -s $file before/$file || fail "$file was overwritten"
done
mkdir folder
ln -s folder other
cp charged old
for pair in "x x" "x ./x" "folder/x other/../folder/x" "folder/x other/x" \
    "old ./old"; do
    set -- $pair
    run 2 privatise only.sotto all.csv --key person --keys "$1" -o "$2"
    says "-o and --keys name one file"
done
absent x
absent folder/x
cmp -s charged old || fail "reports were overwritten"
run 0 privatise only.sotto all.csv --key person --keys x -o folder/x

# The keys are complete before there are reports.
if [ -c /dev/full ]; then
    run 1 privatise only.sotto all.csv --key person --keys /dev/full -o r2
    says "/dev/full"
fi
absent r2
run 1 privatise only.sotto all.csv --key person --keys none/k.csv -o r2
says "none/k.csv"
absent r2

finish
