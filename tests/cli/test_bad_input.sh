#!/bin/sh
# test_bad_input.sh: wrong usage and wrong files: the status, a message that
# names what is wrong, and nothing half-written.
# shellcheck disable=SC2086 # small_files is a list
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
make_small

# ---- Usage -----------------------------------------------------------------
run 2 trian
says "unknown verb 'trian'" "sotto train"
run 2 inspect m.sotto --jsno
says "sotto inspect: unknown option '--jsno'" "did you mean --json"
run 2 inspect
says "is missing" "usage"
run 2 inspect m.sotto m.sotto
says "one word too many"
run 2 train direct --data small.csv -o x.sotto
says "--eps"
run 2 train vml --data small.csv --eps 1 -o x.sotto
says "unknown kind 'vml'" "did you mean vlm" direct
run 2 train direct --data small.csv --eps 1 --eps 2 -o x.sotto
says "twice"
run 2 train direct --data small.csv --eps 1 --label color -o x.sotto
says '"color"' '"colour"'
printf 'a,b,l\n1,,x\n2,,y\n' >gap.csv
run 0 train direct --data gap.csv --label l --eps 1 -o x.sotto
grep -q 'no row has a value' out || fail "train does not say why b is left out"
run 2 train direct --data gap.csv --label b --eps 1 -o y.sotto
says 'refused: "b" cannot be the label: no row has a value'
rm gap.csv x.sotto
run 2 train direct --data small.csv --eps 1 --range age=9:3 -o x.sotto
says "age=9:3"
run 2 train direct --data small.csv --eps 1 --range agee=1:3 -o x.sotto
says agee
for l in 0 1048577 4294967296 18446744073709551615; do
    run 2 train direct --data small.csv --eps 1 --l $l -o x.sotto
done
run 0 train direct --data small.csv --eps 1 --l 1048576 -o x.sotto
rm x.sotto
run 2 keygen -o x --password --password-file small.csv
says "exclude each other"
run 2 train direct --data small.csv --eps 1 --header maybe -o x.sotto
says "yes or no"
run 2 privatise m.sotto small.csv --seed -1 -o r
says "whole number"
run 2 decode m.sotto r --confidence 1.5
says "confidence"
only $small_files

# Bytes of others never reach the terminal as controls.
run 1 inspect "$(printf 'x\233y\302\233z\377.sotto')"
says "x.*y.*z"
[ -z "$(LC_ALL=C tr -d -c '\233\377' <err)" ] || fail "controls in a message"
run 2 inspect m.sotto "$(printf 'x\2331my')"
says "x?1my"

# ---- -o that names an input ---------------------------------------------------
run 0 privatise m.sotto small.csv -o r
printf 'label\n1\n2\n1\n' >labels.csv
mkdir before
cp $small_files labels.csv r before
ln small.csv hard.csv
ln -s small.csv soft.csv
for out in small.csv ./small.csv hard.csv soft.csv labels.csv; do
    run 2 train direct --data small.csv --labels labels.csv --eps 1 -o $out
    says "-o names an input itself" "choose another name"
done
for out in m.sotto small.csv labels.csv k.pub hard.csv soft.csv; do
    run 2 privatise m.sotto small.csv --labels labels.csv --pub k.pub -o $out
    says "-o names an input itself"
done
for out in m.sotto r; do
    run 2 decode m.sotto r -o $out
    says "-o names an input itself ('$out'): choose another name"
done
for file in $small_files labels.csv r; do
    cmp -s $file before/$file || fail "$file was overwritten"
done
rm -r before hard.csv soft.csv labels.csv r
only $small_files

# ---- Epsilon ---------------------------------------------------------------
long=$(head -c 100000 /dev/zero | tr '\0' 1)
for eps in 0 -1 1e-9 0.000000001 1e9 1000000000 nan "" 0x1 " 1" "1," "$long"; do
    run 2 train direct --data small.csv --eps="$eps" -o x.sotto
    says "--eps $(echo "$eps" | cut -c 1-80)" "0.000001 to 32"
    only $small_files
done

# ---- Files that are not there, empty, cut short, folders ---------------------
run 1 train direct --data none.csv --eps 1 -o x.sotto
says "none.csv"
run 1 inspect none.sotto
says "none.sotto"
run 1 verify none.sotto --pub k.pub
says "none.sotto"
run 1 verify m.sotto --pub none.pub
says "none.pub"
run 1 sign m.sotto --key none.key
says "none.key"
run 1 privatise m.sotto none.csv -o r
says "none.csv"
run 1 decode m.sotto none.reports
says "none.reports"
run 1 inspect .
says "folder"
: >empty
run 2 train direct --data empty --eps 1 -o x.sotto
says empty
run 2 inspect empty
says empty
run 2 sign empty --key k.key
run 2 sign m.sotto --key empty
says empty
run 2 verify m.sotto --pub empty
says empty
run 2 privatise m.sotto empty -o r
says empty
run 2 privatise empty small.csv -o r
run 3 verify empty --pub k.pub
run 3 privatise empty small.csv --pub k.pub -o r
head -c 100 m.sotto >cut.sotto
cp m.sotto.minisig cut.sotto.minisig
run 2 inspect cut.sotto
says cut.sotto
run 2 sign cut.sotto --key k.key
run 3 verify cut.sotto --pub k.pub
rm cut.sotto cut.sotto.minisig empty
run 0 privatise m.sotto small.csv --force -o r
for size in 1 3 10 100; do
    head -c $size r >"cut"
    run 2 decode m.sotto cut -o d.csv
    says cut
done
rm cut
only $small_files r

# ---- Signatures --------------------------------------------------------------
cp m.sotto unsigned.sotto
run 3 verify unsigned.sotto --pub k.pub
says unsigned.sotto
run 3 privatise unsigned.sotto small.csv --pub k.pub -o r2
run 0 keygen -o other --no-password
run 3 verify m.sotto --pub other.pub
run 3 privatise m.sotto small.csv --pub other.pub -o r2
absent r2
run 1 keygen -o other --no-password
says "other"
echo secret >password
echo wrong >wrong
run 0 keygen -o locked --password-file password
run 3 sign m.sotto --key locked.key --password-file wrong
run 0 sign m.sotto --key locked.key --password-file password
run 0 verify m.sotto --pub locked.pub
setsid -w "$SOTTO" sign m.sotto --key locked.key </dev/null >out 2>err
[ $? -eq 2 ] || fail "sign without a terminal for the password"
says "password-file"
: >wrong
run 2 keygen -o l2 --password-file wrong
says "empty"
run 0 sign m.sotto --key k.key
rm unsigned.sotto other.* locked.* password wrong

# ---- Tables ------------------------------------------------------------------
printf 'age,colour\n20,red\n40\n' >short.csv
run 2 privatise m.sotto short.csv -o r2
says short.csv "row 2" "line 3"
printf 'age,colour\n20,red,9\n' >long.csv
run 2 privatise m.sotto long.csv -o r2
says long.csv "row 1"
printf 'age\n20\n40\n' >narrow.csv
run 2 privatise m.sotto narrow.csv -o r2
says narrow.csv '"colour"'
printf '20,red\n' >headless.csv
run 2 privatise m.sotto headless.csv -o r2
says '"age"' "--header yes"
run 0 train direct --data headless.csv --header no --eps 1 -o c.sotto
run 2 privatise c.sotto small.csv -o r2
says '"c1"' "--header no"
run 2 train direct --data small.csv --label c9 --eps 1 -o x.sotto
says '"c9"' "--header no"
run 2 train direct --data headless.csv --label size --eps 1 -o x.sotto
says '"size"' "--header yes"
rm c.sotto
printf 'age;colour\n20;red\n40;blue\n' >semicolon.csv
run 0 privatise m.sotto semicolon.csv -o r2
says "semicolons" "decimal points"
rm r2
run 2 privatise m.sotto semicolon.csv --separator comma -o r2
says '"age"'
run 2 privatise m.sotto semicolon.csv --separator dash -o r2
says "comma, semicolon, tab, pipe"
printf 'a,b\n1,2\n' >two.csv
run 2 privatise m.sotto narrow.csv --labels two.csv -o r2
says two.csv "columns"
printf 'colour\nred\n' >one.csv
run 2 privatise m.sotto narrow.csv --labels one.csv -o r2
says one.csv rows "--header"
printf 'colour\nred\nred\nred\nred\n' >four.csv
run 2 privatise m.sotto narrow.csv --labels four.csv -o r2
says four.csv rows
grep -q 'first row' err && fail "a hint at --header for two rows too many"
run 2 decode m.sotto small.csv
says small.csv
rm ./*.csv
printf 'age,colour\n20,red\n40,blue\n60,red\n' >small.csv
run 0 train direct --data small.csv --eps 3 -o m2.sotto
run 2 decode m2.sotto r
says "mechanism"
rm m2.sotto
only $small_files r

# ---- Places that cannot be written -------------------------------------------
for out in nowhere/x /dev/full; do
    run 1 train direct --data small.csv --eps 1 -o $out
    says "$out"
    run 1 privatise m.sotto small.csv -o $out
    says "$out"
    run 1 privatise m.sotto small.csv --seed 1 -o $out
    says "$out"
    run 1 decode m.sotto r -o $out
    says "$out"
done
run 1 keygen -o nowhere/x --no-password
says nowhere/x
run 1 demo -o nowhere/x
says nowhere/x
run 1 decode m.sotto r -o .
for words in --help "inspect m.sotto" "decode m.sotto r" \
    "verify m.sotto --pub k.pub"; do
    "$SOTTO" $words >/dev/full 2>err
    [ $? -eq 1 ] || fail "sotto $words >/dev/full is not status 1"
    says "standard output"
done
only $small_files r

# A file that is there survives a failure.
cp r old
(
    ulimit -f 0
    "$SOTTO" privatise m.sotto small.csv --force -o old >/dev/null 2>&1
    [ $? -eq 1 ]
) || fail "a file at its size limit is not status 1"
cmp -s r old || fail "the old file was lost"
(
    ulimit -f 0
    "$SOTTO" decode m.sotto r -o old >/dev/null 2>&1
    [ $? -eq 1 ]
) || fail "decode: a file at its size limit is not status 1"
cmp -s r old || fail "decode: the old file was lost"
rm old
only $small_files r

# A full disk without a disk: no file may grow. What was there stays.
full() {
    (
        ulimit -f 0
        "$SOTTO" "$@" >/dev/null 2>&1
        [ $? -eq 1 ]
    ) || fail "$1: a file at its size limit is not status 1"
}
cp m.sotto old.sotto
cp m.sotto.minisig old.sotto.minisig
full train direct --data small.csv --eps 1 -o x.sotto
full train direct --data small.csv --eps 1 --force -o old.sotto
full sign old.sotto --key k.key
full keygen -o x --no-password
cmp -s m.sotto old.sotto || fail "train: the old file was lost"
cmp -s m.sotto.minisig old.sotto.minisig || fail "sign: the old file was lost"
rm old.sotto old.sotto.minisig
only $small_files r

# A disk of four pages that is full: nothing is left on it. Needs root.
mkdir disk
if mount -t tmpfs -o size=16k none disk 2>/dev/null; then
    i=0
    while [ $i -lt 2000 ]; do
        echo "$i,red"
        i=$((i + 1))
    done | sed '1i age,colour' >many.csv
    run 1 privatise m.sotto many.csv -o disk/r
    says disk/r "space"
    run 1 privatise m.sotto many.csv -o disk/r.jsonl
    run 0 privatise m.sotto many.csv -o many
    run 1 decode m.sotto many -o disk/d.csv
    says disk/d.csv "space"
    run 1 demo -o disk/demo
    says "space"
    find disk -name '.*' -type f | grep . && fail "left on the full disk"
    [ -z "$(find disk -maxdepth 1 -type f)" ] || fail "half-written: $(ls disk)"
    umount disk
    rm many many.csv
else
    echo "skipped: a small disk that is full: nothing may be mounted here"
fi
rmdir disk

# A folder we may not write in, a file we may not read. As somebody else.
chmod 755 "$work"
mkdir locked
cp m.sotto locked
chmod 555 locked
cp k.key open.key
chmod 644 open.key
chmod 600 k.key
if [ "$(id -u)" -eq 0 ]; then
    # The program itself may lie where that somebody cannot go.
    cp "$SOTTO" ./program
    nobody() {
        setpriv --reuid=65534 --regid=65534 --clear-groups ./program "$@"
    }
else
    ln -s "$SOTTO" program
    chmod 000 k.key
    nobody() { ./program "$@"; }
fi
if nobody --version >/dev/null 2>&1; then
    nobody privatise m.sotto small.csv -o locked/r >out 2>err
    [ $? -eq 1 ] || fail "privatise into a locked folder"
    says locked/r "ermission"
    nobody decode m.sotto r -o locked/d.csv >out 2>err
    [ $? -eq 1 ] || fail "decode into a locked folder"
    says locked/d.csv "ermission"
    nobody train direct --data small.csv --eps 1 -o locked/x.sotto >out 2>err
    [ $? -eq 1 ] || fail "train into a locked folder"
    says locked/x.sotto "ermission"
    nobody train direct --data small.csv --eps 1 --force -o locked/m.sotto >out 2>err
    [ $? -eq 1 ] || fail "train over a locked file"
    nobody sign locked/m.sotto --key open.key >out 2>err
    [ $? -eq 1 ] || fail "sign in a locked folder"
    says locked/m.sotto "ermission"
    nobody keygen -o locked/k --no-password >out 2>err
    [ $? -eq 1 ] || fail "keygen into a locked folder"
    says locked/k "ermission"
    cmp -s m.sotto locked/m.sotto || fail "a locked file was overwritten"
    nobody sign m.sotto --key k.key >out 2>err
    [ $? -eq 1 ] || fail "a key that may not be read"
    says k.key "ermission"
else
    echo "skipped: cannot become somebody else"
fi
rm program open.key
chmod 755 locked
rm locked/m.sotto
rmdir locked || fail "the locked folder is not empty"
only $small_files r
finish
