#!/bin/sh
# test_reading.sh: a file that is read bit by bit is read as one that is read
# whole: from a file, gzipped, from a pipe; errors name their row; nothing is
# left half-written.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
make_small

# More rows than are read at a time (16,384), with line breaks in quotes.
awk 'BEGIN { print "age,note,colour"
    for (i = 0; i < 40000; i++)
        printf "%d,%s,%s\n", i % 100, i % 5 ? "x" : "\"a\nb, \"\"c\"\"\"",
            i % 3 ? "red" : "blue" }' >large.csv
gzip -k large.csv

run 0 privatise m.sotto large.csv --seed 5 -o plain.reports
grep -q '40000 reports' out || fail "not 40000 reports"
run 0 privatise m.sotto large.csv.gz --seed 5 -o packed.reports
cmp plain.reports packed.reports || fail "a gzipped file gives other reports"
"$SOTTO" privatise m.sotto - --seed 5 -o piped.reports <large.csv >out 2>err ||
    fail "no reports of the standard input"
cmp plain.reports piped.reports || fail "a pipe gives other reports"

# Read whole, since the labels are in a file of their own.
awk 'BEGIN { print "age"; for (i = 0; i < 40000; i++) print i % 100 }' >age.csv
awk 'BEGIN { print "colour"
    for (i = 0; i < 40000; i++) print i % 3 ? "red" : "blue" }' >colour.csv
run 0 privatise m.sotto age.csv --labels colour.csv --header yes --seed 5 \
    -o whole.reports
cmp plain.reports whole.reports || fail "read whole, it gives other reports"
rm ./*.reports age.csv colour.csv large.csv.gz

# An error behind the first rows: row 40001, whose line counts those in quotes.
echo '7,x' >>large.csv
run 2 privatise m.sotto large.csv --seed 5 -o r
says 'row 40001 (line 48002) has 2 fields, expected 3'
rm large.csv
# shellcheck disable=SC2086 # small_files is a list
only $small_files
finish
