#!/bin/sh
# test_send_content.sh: whatever a record holds, sotto send gives a report of it
# to a live collector, in as many requests and with the same exit status
# (invariant 4), and no record changes what another gives.
# shellcheck disable=SC2059 # records have bytes that printf writes by number
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

make_small
# h.sotto asks for c2 and c3 of a file without a header, l.sotto for a label,
# too.
printf 'x,red,20\ny,blue,40\nz,red,60\n' >headless.csv
printf '7\n1\n7\n' >digits.csv
run 0 train direct --data headless.csv --header no --drop c1 --eps 2 -o h.sotto
run 0 train direct --data headless.csv --labels digits.csv --header no \
    --drop c1 --eps 2 -o l.sotto
run 0 train direct --data small.csv --labels digits.csv --eps 2 -o b.sotto
mkdir served
for name in m h l b; do
    run 0 sign $name.sotto --key k.key
    cp $name.sotto $name.sotto.minisig served
done
run 0 ledger new ledger --lifetime-eps 2
"$SOTTO" serve --mechanism served --pub k.pub --store sqlite:served/s.db \
    --listen 127.0.0.1:0 --port-file served/port >served/out 2>&1 </dev/null &
collector=$!
trap 'kill "$collector" 2>/dev/null; rm -rf "$work"' EXIT
for _ in $(seq 300); do
    [ -s served/port ] && break
    sleep 0.1
done
[ -s served/port ] || fail "it does not listen: $(cat served/out)"
here="http://127.0.0.1:$(tr -d '\n' <served/port)/v1/campaigns"

# sends STATUS REPORTS M WORDS...: the file F gives so many reports, in one
# request, and nothing is said of what is in it. Everybody is new in it: @ in
# the file stands for the number of the case.
case=0
sends() {
    status=$1 reports=$2 mechanism=$3
    shift 3
    case=$((case + 1))
    LC_ALL=C sed "s/@/$case/g" F >F.csv
    run "$status" send "$mechanism.sotto" F.csv --ledger ledger --pub k.pub \
        --spread 0 --grid 0 --to "$here/$mechanism" --json "$@"
    grep -q "\"accepted\": $reports, .*\"left\": 0, \"requests\": $((reports > 0))," \
        out || fail "not $reports of: $(head -c 300 F | cat -v), $* $(cat out)"
    [ "$status" -ne 0 ] || [ ! -s err ] || fail "said: $(cat err)"
}

# ---- With a header -----------------------------------------------------------
# headed REST...: behind ann's name, alone, and, with the names in the last
# column, before it; then all of them in one file, where none silences another.
headed() {
    printf 'name,colour,age\n' >first
    printf 'colour,age,name\n' >last
    people=0
    for rest in "$@"; do
        people=$((people + 1))
        printf 'name,colour,age\nann@,'"$rest"'\n' >F
        sends 0 1 m --person name
        printf 'colour,age,name\n'"$rest"',ann@\n' >F
        sends 0 1 m --person name --header yes
        printf "p$people@,$rest"'\n' >>first
        printf "$rest,p$people@"'\n' >>last
    done
    for F in first last; do
        cp $F F
        sends 0 $people m --person name
    done
}
headed 'red,30' 'green,30' ',' 'NA,NA' 'red,thirty' 'red,1e999' 'red,nan' \
    'ros\351,30' 'r\000d,30' 'red,3\0000' 'red,13,5' 'red' '' 'red,30,,,,,' \
    'red,3\r0' '"red,30' '"red"x,30' 'red,"30' '"r""d",30' 'r"d,30' '"' \
    '\377\376,30' 'name,30' 'name,name' 'name,colour,age' 'colour,age' \
    '"a,b,c",30' '"",""' ' , ' '\357\273\277,30'
{
    printf 'name,colour,age\nann@,'
    head -c 1048577 /dev/zero | tr '\0' x
    printf ',30\nbob@,red,30\n'
} >F
sends 0 2 m --person name
# A line's end ends a record, in quotes, too: as many reports as lines.
printf 'name,colour,age\nann@,"red\nbob@,blue,20\n' >F
sends 0 2 m --person name
printf 'name,colour,age\r\nann@,red,30\r\nbob@,\377,20\r\n\r\n\n' >F
sends 0 2 m --person name
printf '\357\273\277name,colour,age\nann@,red,30' >F
sends 0 1 m --person name
# Column names and nobody; a line that names nobody, which stops nobody else.
printf 'name,colour,age\n' >F
sends 0 0 m --person name
sends 0 0 m --person name --header yes
printf 'name,colour,age\nann@,red,30\n,blue,20\n\nbob@,blue,20\n' >F
sends 2 2 m --person name
says "row 2 (line 3)" "nobody is named" "rows without a report: 2"
printf 'name,colour,age\n%0300d,red,30\nbob@,blue,20\n' 0 >F
sends 2 1 m --person name
says "too long"

# ---- Without one -------------------------------------------------------------
people=0
: >all
for rest in red,30 'red,' red,NA red,thirty c1,30 c2,c3 c2,c3,c1 label,30 ',' '' \
    '"red,30' \
    'ros\351,30' 'r\000,30' 'red,13,5' '\r,30' red NA,NA; do
    printf 'ann@,'"$rest"'\n' >F
    sends 0 1 h --person c1 --no-header
    people=$((people + 1))
    printf "p$people@,$rest"'\n' >>all
done
cp all F
sends 0 $people h --person c1 --header no
# What the first line is, the caller says: no content makes a header or a record
# of it. A header may name c1, c2, ... itself.
printf 'c1,c2,c3\n' >F
sends 0 0 h --person c1
sends 0 1 h --person c1 --no-header
printf 'c1,c3,c2\nann@,red,30\n' >F
sends 0 1 h --person c1

# ---- Labels ------------------------------------------------------------------
# labelled M PERSON FIRST LABEL WORDS...: files with these first lines.
labelled() {
    mechanism=$1 person=$2 first=$3 name=$4
    shift 4
    for label in '7\n' '7' 'NA\n' '\n' '' '\n\n\n' 'ros\351\n' '\000\n' '"7\n' \
        '7,1\n' 'eight\n' 'label\n' '\r\n' '7\n1\n7\n'; do
        printf "$first"'ann@,red,30\n' >F
        printf "$name$label" >L
        sends 0 1 "$mechanism" --person "$person" --labels L "$@"
    done
    for label in '7\n' '\n1\n' '\n\n' '\377\n1\n' '"7\n1\n' '' 'label\n7\n'; do
        printf "$first"'ann@,red,30\nbob@,blue,30\n' >F
        printf "$name$label" >L
        sends 0 2 "$mechanism" --person "$person" --labels L "$@"
    done
}
labelled l c1 '' '' --no-header
labelled b name 'name,colour,age\n' 'label\n'

# ---- People on a list --------------------------------------------------------
# One report each, whatever the lines are: breaks in quotes, names that are
# others' text, nobody, everybody twice.
listed() {
    for lines in "$@"; do
        printf 'name\nann@\nbob@\neve@\n' >P
        printf 'name,colour,age\n'"$lines" >F
        LC_ALL=C sed "s/@/$((case + 1))/g" P >P.csv
        sends 0 3 m --person name --people P.csv
    done
}
listed 'ann@,red,30\nbob@,blue,20\neve@,red,1\n' '' 'ann@,"red\nblue",30\n' \
    'ann@,"x\nbob@,x",30\nbob@,blue,20\n' 'ann@,"\n\n\n\n\n' '\377\n' \
    'ann@\nann@\nann@\n' 'zoe@,red,30\n' '\n\neve@,\000' '"' ',,,,\n,\n'
printf 'ann@,"c1\nbob@,"red\n' >F
LC_ALL=C sed "s/@/$((case + 1))/g" >P.csv <<'END'
ann@
bob@
END
sends 0 2 h --person c1 --people P.csv --no-header
# Nobody who is not on the list is charged.
run 0 ledger new few --lifetime-eps 9
printf 'name\nann\n' >P.csv
printf 'name,colour,age\nann,"red\nbob,blue",30\n' >F.csv
run 0 privatise m.sotto F.csv --ledger few --person name --people P.csv -o r.jsonl
[ "$(wc -l <r.jsonl)" -eq 1 ] || fail "not one report"
run 0 ledger show few --person bob
grep -q "Nothing was asked" out || fail "bob is charged for what ann said"

# ---- The same through privatise ----------------------------------------------
# made REPORTS WORDS...: privatise gives so many of F.csv.
run 0 ledger new other --lifetime-eps 2
made() {
    reports=$1
    shift
    case=$((case + 1))
    LC_ALL=C sed "s/@/$case/g" F >F.csv
    run 0 privatise "$@" --ledger other -o r.jsonl
    [ "$(wc -l <r.jsonl)" -eq "$reports" ] || fail "not $reports of $(cat -v F)"
}
for rest in red,30 c2,c3 'ros\351,30' 'r\000d,30' 'red,13,5' '3\r0' '"red,30' red \
    '' '"red\nbob@,30'; do
    both=$((1 + $(printf "$rest" | grep -c bob)))
    printf 'name,colour,age\nann@,'"$rest"'\n' >F
    made $both m.sotto F.csv --person name
    printf 'ann@,'"$rest"'\n' >F
    made $both h.sotto F.csv --person c1 --no-header
    made $both h.sotto F.csv --person c1 --header no
    made $both l.sotto F.csv --person c1 --no-header --labels F.csv
done
# A file's name says what it is, not its first bytes.
for begin in '\000\000\010\001' '\037\213\010' '\223NUMPY'; do
    printf 'colour,age,name\n'"$begin"',30,ann@\nred,20,bob@\n' >F
    made 2 m.sotto F.csv --person name
done

# ---- Public facts are errors, whatever the record holds ----------------------
for rest in red,30 'ros\351,30' '' '"'; do
    for names in 'nme,colour,age' 'name,age'; do
        printf "$names"'\nann,'"$rest"'\n' >F.csv
        run 2 send m.sotto F.csv --person name --ledger ledger --pub k.pub \
            --to "$here/m"
        says "no column"
    done
    says 'no column "colour"'
    # Between two others the name could be moved by a comma; and a label file
    # has a header, as the records do.
    printf 'colour,name,age\nred,ann,'"$rest"'\n' >F.csv
    run 2 send m.sotto F.csv --person name --ledger ledger --pub k.pub --to "$here/m"
    says "put it first, or last" F.csv '"name"'
    printf 'name,colour,age\nann,'"$rest"'\n' >F.csv
    printf "$rest"'\n' >L
    run 2 send b.sotto F.csv --person name --ledger ledger --pub k.pub \
        --to "$here/b" --labels L
    grep -q 'no column "label"\|has 2 columns' err || fail "labels: $(cat err)"
    run 2 send h.sotto F.csv --person c1 --ledger ledger --pub k.pub --to "$here/h"
    says 'no column "c' "no-header" F.csv
    run 2 send m.sotto F.csv --person name --ledger ledger --pub k.pub \
        --to "$here/m" --no-header
    says 'no column "name"'
done
printf 'name\nann\nann\n' >P.csv
run 2 send m.sotto F.csv --person name --ledger ledger --pub k.pub --to "$here/m" \
    --people P.csv
says "line 3" "twice"
run 2 send m.sotto F.csv --person name --ledger ledger --pub k.pub --to "$here/m" \
    --header yes --no-header
says "exclude"
run 2 send b.sotto F.csv --person name --ledger ledger --pub k.pub --to "$here/b" \
    --labels L --people P.csv
says "exclude"
run 2 privatise m.sotto F.csv --people P.csv -o r.jsonl
says "ledger"
kill -TERM "$collector"
wait "$collector" || fail "the collector: $(cat served/out)"

finish
