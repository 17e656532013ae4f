#!/bin/sh
# test_ledger.sh: sotto ledger, and sotto privatise with one.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

printf 'name,age\nann,31\nbob,47\n' >people.csv
printf 'name,age\nann,99\nbob,\ncy,20\n' >changed.csv
make() { # NAME CAMPAIGN EPS: a mechanism
    run 0 train direct --data people.csv --keep age --range age=0:100 \
        --eps "$3" --name "$1" --campaign "$2" -o "$1.sotto"
}
make a spring 1
make b spring 1.5
make c autumn 1
# asked NEW REPLAYED REFUSED: what the last run says of people.
asked() {
    grep -q "^new: $1; replayed: $2; refused: $3$" out ||
        fail "not $1 new, $2 replayed, $3 refused: $(cat out)"
}

# ---- Making ------------------------------------------------------------------
run 0 ledger new l --lifetime-eps 3 --campaign-eps 2
grep -q "epsilon 2 in a campaign, epsilon 3 in all" out || fail "$(cat out)"
[ "$(stat -c %a l l.secret l.mark | tr -d '\n')" = 600600600 ] ||
    fail "others may read"
cp l l.was
run 1 ledger new l --lifetime-eps 9
says "'l' is there already"
cmp -s l l.was || fail "a ledger was overwritten"
run 2 ledger new x
says "lifetime-eps"
run 2 ledger new x --lifetime-eps 1e3
says "lifetime's epsilon" "1e3"
run 2 ledger new x --lifetime-eps 1 --campaign-eps 2
says "campaign's epsilon"
run 2 ledger new x --lifetime-eps 1 --lifetime-delta 2
says "lifetime's delta"
run 2 ledger new x --lifetime-eps 1 --person ann
run 2 ledger nwe x --lifetime-eps 1
says "did you mean new"
run 2 ledger show l
says "needs --person"
run 2 ledger show l --person ann --campaign-eps 1
says "caps never change"
run 1 ledger show none --person ann
says "there is no ledger 'none'" "sotto ledger new"
run 2 ledger show people.csv --person ann
says "people.csv" "no ledger"
absent x
absent x.secret
run 0 ledger new j --lifetime-eps 5 --lifetime-delta 0.5 --json
json out
grep -q '"campaign_eps": null, "campaign_delta": null}' out || fail "json of new: $(cat out)"

# ---- Asking ------------------------------------------------------------------
run 0 privatise a.sotto people.csv --ledger l --person name -o 1.reports
asked 2 0 0
grep -q ignored err && fail "the column of people is called ignored"
run 0 privatise a.sotto changed.csv --ledger l --person name -o 2.reports
asked 1 2 0
cmp -s -n 112 1.reports 2.reports || fail "a changed record, another report"
[ "$(wc -c <2.reports)" -eq 168 ] || fail "not three reports"
run 3 privatise b.sotto people.csv --ledger l --person name -o 3.reports
asked 0 0 2
says "'people.csv', row 1 (line 2)" "another mechanism of this campaign" \
    "--again"
run 3 privatise b.sotto people.csv --ledger l --person name --again \
    -o 3.reports
asked 0 0 2
says "'people.csv', row 1 (line 2)" \
    "epsilon in a campaign is 2; 1 is spent, 1.5 was asked, 1 is left"
run 0 privatise c.sotto people.csv --ledger l --person name -o 4.reports
asked 2 0 0
printf 'name,age\nann,1\ndan,2\nann,3\n' >mixed.csv
run 3 privatise b.sotto mixed.csv --ledger l --person name -o 5.reports
asked 1 0 2
run 0 decode b.sotto 5.reports --json
grep -q '"reports": 1,' out || fail "the others' reports are not written"
run 3 privatise a.sotto mixed.csv --ledger l --person name -o 6.jsonl --json
json out
grep -q '"reports": 2, .*"new": 0, "replayed": 2, "refused": 1}' out ||
    fail "json: $(cat out)"
run 0 decode a.sotto 6.jsonl
says "came more than once"

# A ledger without a campaign's cap: the first mechanism's cost is the cap.
run 0 ledger new d --lifetime-eps 3
grep -q "what the first mechanism costs in a campaign, epsilon 3 in all" out ||
    fail "$(cat out)"
run 0 privatise a.sotto people.csv --ledger d --person name -o d.reports
printf 'name,age\neve,1\n' >eve.csv
run 3 privatise b.sotto eve.csv --ledger d --person name -o d2.reports
says "what its first mechanism costs" "is 1; 0 is spent, 1.5 was asked"
run 3 privatise b.sotto people.csv --ledger d --person name -o d2.reports
says "another mechanism of this campaign" "--again"
run 0 privatise b.sotto people.csv --ledger d --person name --again \
    -o d2.reports
asked 2 0 0
run 0 privatise b.sotto people.csv --ledger d --person name -o d3.reports
asked 0 2 0
run 0 ledger show d --person ann
grep -q '^Campaign "spring": epsilon 2.5 spent of at most what the first ' \
    out || fail "no balance: $(cat out)"
run 0 ledger show d --person ann --json
json out
grep -q '"eps_cap": null' out || fail "json of show: $(cat out)"
run 2 privatise a.sotto people.csv --again -o r
says "--ledger"

# ---- What a person sees ------------------------------------------------------
run 0 ledger show l --person ann
grep -q '^Campaign "spring": epsilon 1 spent of at most epsilon 2; left: epsi' \
    out || fail "no balance: $(cat out)"
grep -q '^In all: epsilon 2 spent of at most epsilon 3; left: epsilon 1\.' \
    out || fail "no total: $(cat out)"
run 0 ledger show l --person ann --json --reports
json out
[ "$(wc -l <out)" -eq 5 ] || fail "not five lines: $(cat out)"
sent=$(od -An -v -tx1 -N56 1.reports | tr -d ' \n')
grep -q "\"report\": \"$sent\"" out || fail "not what was sent: $(cat out)"
run 0 ledger show l --person ann --reports
grep -q "$sent" out || fail "not what was sent"
run 0 ledger show l --person nobody
grep -q "Nothing was asked" out || fail "somebody unknown: $(cat out)"
run 2 ledger show l --person "$(printf '%0300d' 0)"
grep -a -q -e ann -e bob l l.secret && fail "a name is on the disk"

# ---- Bad use -----------------------------------------------------------------
run 2 privatise a.sotto people.csv --ledger l --person name --seed 1 -o r
says "seed"
run 2 privatise a.sotto people.csv --ledger l -o r
says "needs --person"
run 2 privatise a.sotto people.csv --person name -o r
says "ledger"
run 2 privatise a.sotto people.csv --ledger l --person nmae -o r
says "nmae"
run 2 privatise a.sotto people.csv --ledger l --person age -o r
says "asks for"
for file in l l.secret l.mark; do
    run 2 privatise a.sotto people.csv --ledger l --person name -o $file
    says "input itself"
done
ln -s l link
cp l.secret link.secret
for file in l-journal l-wal ./l-shm; do
    run 2 privatise a.sotto people.csv --ledger link --person name -o $file
    says "ledger needs for itself"
    absent $file
done
# A row that names nobody is told, and stops nobody else (invariant 4).
printf 'name,age\neve,1\n,2\nfay,3\n' >nobody.csv
run 2 privatise a.sotto nobody.csv --ledger l --person name -o n.jsonl
says "nobody.csv" "row 2" "line 3" "nobody is named" "without a report: 1"
asked 2 0 0
[ "$(wc -l <n.jsonl)" -eq 2 ] || fail "a row that names nobody stops others"
printf 'name,age\n' >empty.csv
run 2 privatise a.sotto empty.csv --ledger l --person name -o r
says "names columns and nobody"
mv l.secret kept
run 2 privatise a.sotto people.csv --ledger l --person name -o r
says "l.secret" "not there"
cp j.secret l.secret
run 2 ledger show l --person ann
says "l.secret" "another ledger"
cp kept l.secret
run 0 ledger show l --person ann
absent r

# ---- Names that are equal in Unicode -----------------------------------------
printf 'name,age\nZo\303\253,1\n' >composed.csv
printf 'name,age\nZoe\314\210,1\nhal,2\n' >decomposed.csv
run 0 privatise a.sotto composed.csv --ledger l --person name -o z.reports
run 3 privatise a.sotto decomposed.csv --ledger l --person name -o z2.reports
asked 1 0 1
says "'decomposed.csv', row 1 (line 2)" "'Zoe.u0308'" "'Zo.u00eb'" \
    "another spelling"
run 3 privatise c.sotto decomposed.csv --ledger l --person name -o z3.reports
run 0 privatise c.sotto composed.csv --ledger l --person name -o z4.reports

# ---- Put back from a backup --------------------------------------------------
cp l l.backup
printf 'name,age\ngus,1\n' >gus.csv
run 0 privatise a.sotto gus.csv --ledger l --person name -o g.reports
cp l l.newest
cp l.backup l
run 3 privatise a.sotto gus.csv --ledger l --person name -o g2.reports
says "backup" "nobody new is asked"
printf 'name,age\nann,1\ngus,1\n' >both.csv
run 3 privatise a.sotto both.csv --ledger l --person name -o g3.reports
asked 0 1 1
cmp -s -n 56 1.reports g3.reports || fail "a stored report does not go"
run 0 ledger show l --person ann
mv l.mark mark
run 3 privatise a.sotto gus.csv --ledger l --person name -o g4.reports
says "l.mark" "put it back"
cp l.newest l
run 3 privatise c.sotto gus.csv --ledger l --person name -o g4.reports
mv mark l.mark
run 0 privatise a.sotto gus.csv --ledger l --person name -o g5.reports
asked 0 1 0
cmp -s g.reports g5.reports || fail "the newest ledger has another report"
finish
