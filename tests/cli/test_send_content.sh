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
# headed REST...: behind ann's name, alone; with bob, whom it must not silence;
# and with the names in the last column.
headed() {
    for rest in "$@"; do
        printf 'name,colour,age\nann@,'"$rest"'\n' >F
        sends 0 1 m --person name
        printf 'name,colour,age\nann@,'"$rest"'\nbob@,red,30\n' >F
        sends 0 2 m --person name
        printf 'colour,age,name\n'"$rest"',ann@\nblue,20,bob@' >F
        sends 0 2 m --person name --header yes
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
for rest in red,30 'red,' red,NA red,thirty c1,30 c2,c3 c2,c3,c1 label,30 ',' '' \
    '"red,30' \
    'ros\351,30' 'r\000,30' 'red,13,5' '\r,30' red NA,NA; do
    for words in "" "--header no"; do
        printf 'ann@,'"$rest"'\n' >F
        # shellcheck disable=SC2086
        sends 0 1 h --person c1 $words
        printf 'ann@,'"$rest"'\nbob@,blue,30\n' >F
        # shellcheck disable=SC2086
        sends 0 2 h --person c1 $words
        printf 'bob@,blue,30\nann@,'"$rest" >F
        # shellcheck disable=SC2086
        sends 0 2 h --person c1 $words
    done
done
# A header may name c1, c2, ... itself.
printf 'c1,c3,c2\nann@,red,30\n' >F
sends 0 1 h --person c1
# The first bytes of a record do not say what the file is.
printf 'red,20,x\nblue,40,y\nred,60,z\n' >last.csv
run 0 train direct --data last.csv --header no --drop c3 --eps 2 -o t.sotto
run 0 ledger new other --lifetime-eps 9
for begin in '\000\000\010\001' '\037\213\010' '\223NUMPY'; do
    printf "$begin"',30,ann\nred,20,bob\n' >F.csv
    run 0 privatise t.sotto F.csv --ledger other --person c3 -o r.jsonl
    [ "$(wc -l <r.jsonl)" -eq 2 ] || fail "not two reports of $begin"
done

# ---- Labels ------------------------------------------------------------------
# labelled M PERSON FIRST: files with the first line FIRST, if it is one.
labelled() {
    for label in '7\n' '7' 'NA\n' '\n' '' '\n\n\n' 'ros\351\n' '\000\n' '"7\n' \
        '7,1\n' 'eight\n' 'c1\n' '\r\n' '7\n1\n7\n'; do
        printf "$3"'ann@,red,30\n' >F
        printf "$4$label" >L
        sends 0 1 "$1" --person "$2" --labels L
    done
    for label in '7\n1\n' '7\n\n' '7\n' '7' '\n1\n' '\n\n' '\377\n1\n' '"7\n1\n' \
        'NA\nNA\n' ''; do
        printf "$3"'ann@,red,30\nbob@,blue,30\n' >F
        printf "$4$label" >L
        sends 0 2 "$1" --person "$2" --labels L
    done
}
labelled l c1 '' ''
labelled l c1 '' 'label\n'
labelled b name 'name,colour,age\n' 'label\n'
labelled b name 'name,colour,age\n' ''

# ---- Public facts are errors, whatever the record holds ----------------------
for rest in red,30 'ros\351,30' '' '"'; do
    for names in 'nme,colour,age' 'name,age'; do
        printf "$names"'\nann,'"$rest"'\n' >F.csv
        run 2 send m.sotto F.csv --person name --ledger ledger --pub k.pub \
            --to "$here/m"
        says "no column"
    done
    says 'no column "colour"'
done
kill -TERM "$collector"
wait "$collector" || fail "the collector: $(cat served/out)"

finish
