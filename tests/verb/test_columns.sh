#!/bin/sh
# test_columns.sh: a campaign on a table whose label hangs on one column of six,
# with a book for each: from records to a model, an audit, and what is said.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# rows SEED N: five columns that say nothing, and `income`, which says it all.
rows() {
    awk -v seed="$1" -v n="$2" 'BEGIN {
        srand(seed)
        print "region,age,sex,income,height,town,label"
        for (i = 0; i < n; i++) {
            income = rand() * 100
            printf "r%d,%d,%s,%.1f,%.1f,t%d,%s\n", int(rand() * 4),
                20 + int(rand() * 60), (rand() < 0.5 ? "f" : "m"), income,
                150 + rand() * 50, int(rand() * 3), (income > 50 ? "yes" : "no")
        }
    }'
}
rows 1 600 >aux.csv
rows 2 1200 >people.csv
rows 3 500 >test.csv

run 0 train codebook --data aux.csv --label label --eps 2 --people 1200 -o m.sotto
grep -q "A book of 2 codes for each of 6 columns" out ||
    fail "what is asked is not said: $(cat out)"
run 0 inspect m.sotto
grep -q "Of the 6 questions of part 1" out || fail "inspect does not tell of questions"
run 0 audit m.sotto --json
json out
run 0 privatise m.sotto people.csv --seed 5 -o r
for threads in 1 2; do
    run 0 fit m.sotto r --seed 1 --threads $threads -o model$threads
done
cmp -s model1 model2 || fail "another model at two threads"
run 0 evaluate model1 --data test.csv --json
json out
accuracy=$(sed -n 's/.*"accuracy": *\([0-9.]*\).*/\1/p' out | head -1)
awk -v a="$accuracy" 'BEGIN { exit !(a > 0.9) }' ||
    fail "the one column that says it is not found: $accuracy"

# A code of such a model is of one column: it is refused, but not its class, nor
# codes that are cut anew, of all columns.
run 2 train code --model model1 --eps 2 -o code.sotto
says "of one column" "send its class"
absent code.sotto
run 0 train class --model model1 --eps 4 -o class.sotto
run 0 train code --model model1 --data aux.csv --eps 4 --recut cut.model -o cut.sotto
run 0 inspect cut.sotto
grep -q "questions of part 1" out && fail "codes of all columns ask about one"
run 0 privatise cut.sotto test.csv --seed 6 -o cut.reports
run 0 predict cut.model cut.reports --mechanism cut.sotto -o named.csv

# Books that no report is about leave what they are about open.
head -9 people.csv >few.csv
run 0 privatise m.sotto few.csv --seed 8 -o few.reports
run 0 fit m.sotto few.reports --seed 1 -o few.model

# Cells of the columns themselves are no books of columns.
run 0 train codebook --data aux.csv --label label --eps 2 --people 1200 --unit \
    --candidates identity -o cells.sotto
grep -q "A book of" out && fail "cells were asked for"
run 0 privatise cells.sotto people.csv --seed 5 -o cells.reports
run 0 fit cells.sotto cells.reports --seed 1 -o cells.model

# Columns are for tables with people enough; what asks for cells gets them.
run 0 train codebook --data aux.csv --label label --eps 1 --people 60 \
    --candidates identity -o few.sotto
grep -q "tell little of 6 columns" out || fail "few people, no word: $(cat out)"
run 2 train codebook --data aux.csv --label label --eps 1 --people 1200 \
    --candidates identity --books 2 -o two.sotto
says "books" "each of the 6 columns"
absent two.sotto
finish
