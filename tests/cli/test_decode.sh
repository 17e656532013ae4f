#!/bin/sh
# test_decode.sh: what decode prints of combinations: the label and the codes
# alone, then together; and frequencies as shares.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

cp "$SOTTO_SOURCE_DIR/data/wdbc.csv" .
run 0 train codebook --data wdbc.csv --label diagnosis --candidates pca:d=2 \
    --k 3 --books 2 --eps 4 -o c.sotto
run 0 privatise c.sotto wdbc.csv --seed 1 -o c.reports

# ---- The label first ---------------------------------------------------------
run 0 decode c.sotto c.reports
sed -n 4p out | grep -q '^diagnosis = B  *frequency  *0\.[56]' ||
    fail "the label does not come first: $(cat out)"
says '"(other)" is a value that is missing' "do not show that anybody has one"
run 0 decode c.sotto c.reports --shares --json
json out
python3 - out <<'END' || fail "margins: $(head -20 out)"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
margins = [r for r in rows if r["kind"] == "margin"]
table = [r for r in rows if r["kind"] == "frequency"]
assert rows == margins + table and len(margins) == 3 + 2 * 3
assert len(table) == 2 * 3 * 3
label = {r["category"]: r for r in margins if r["name"] == "diagnosis"}
assert label["B"]["low"] < 357 / 569 < label["B"]["high"]
assert label["M"]["low"] < 212 / 569 < label["M"]["high"]
# Narrower than the sum of the table's: the noise is shared.
book = [r for r in table if r["category"].endswith(" x B")
        and "book 0" in r["name"]]
assert len(book) == 3
summed = sum(r["noise_deviation"] ** 2 for r in book) ** 0.5
assert label["B"]["noise_deviation"] < 0.9 * summed
# A margin of one book is the sum of its row.
for code in range(3):
    row = sum(r["value"] for r in table if "book 1" in r["name"]
              and r["category"].startswith("code %d " % code))
    own = [r["value"] for r in margins if r["name"] == "part 1 (book 1)"
           and r["category"] == "code %d" % code]
    assert len(own) == 1 and abs(own[0] - row) < 1e-9, (own, row)
# Shares of each name are at least 0 and add up to 1; values are as they were.
for name in {(r["kind"], r["name"]) for r in rows}:
    shares = [r["share"] for r in rows if (r["kind"], r["name"]) == name]
    assert min(shares) >= 0 and abs(sum(shares) - 1) < 1e-9, (name, shares)
assert min(r["value"] for r in rows) < 0
END
run 0 decode c.sotto c.reports --shares
grep -q -e ' -0\.[0-9]' out && fail "a share below 0: $(cat out)"
says "none is below 0 and whose sum is 1" "too large on average"

# Columns stand under one another, whatever the letters; a mean is no share; a
# share that is nobody's is 0.
python3 - <<'END'
import random
random.seed(5)
with open("town.csv", "w", encoding="utf-8") as f:
    f.write("age,town\n")
    for i in range(400):
        f.write(f"{random.randint(20, 60)},{random.choice(['Bern', 'Genève'])}\n")
END
run 0 train direct --data town.csv --eps 8 --range age=0:200 -o t.sotto
run 0 privatise t.sotto town.csv --seed 1 -o t.reports
run 0 decode t.sotto t.reports --shares --histogram 8
python3 - out <<'END' || fail "rows are out of line: $(cat out)"
import sys
text = open(sys.argv[1], encoding="utf-8").read()
lines = text.split("\n\n")[1].splitlines()
assert lines[0].split() == ["name", "kind", "estimate", "low", "high",
                            "1%", "forged", "5%", "forged"], lines
assert len({len(line) for line in lines}) == 1, lines
assert any("Genève" in line and " share " in line for line in lines), lines
assert any(line.startswith("age ") and " mean " in line for line in lines)
assert "e-" not in text.split("share 0 to")[1], text
END

# ---- A page to look at, and liars beside every estimate ----------------------
run 0 decode c.sotto c.reports --html c.html
python3 - c.html out <<'END' || fail "the page: $(head -c 2000 c.html)"
import html, re, sys
page = html.unescape(open(sys.argv[1], encoding="utf-8").read())
assert "569" in page and "diagnosis" in page and "code 0" in page, page
assert "{{" not in page and "<script" not in page and len(page) < 100000
for line in open(sys.argv[2], encoding="utf-8"):
    row = re.match(r"diagnosis = (\w) +frequency +([-.\d]+)", line)
    if row:  # in percent, with the same first digits
        assert re.search(rf"{row[1]}\n<svg[^\n]*\n</th><td class=.r.><b>"
                         rf"{100 * float(row[2]):.1f}%", page), (line, page)
END
run 2 decode c.sotto c.reports --html c.reports
says "c.reports"
run 2 decode c.sotto c.reports --plan c.html
says "--html"
run 2 decode c.sotto c.reports --html d.html --plan c.html
says "line 1"
[ ! -e d.html ] || fail "a page in spite of a plan that is none"
run 0 decode c.sotto c.reports --json
python3 - out <<'END' || fail "liars: $(head -3 out)"
import json, sys
for line in open(sys.argv[1], encoding="utf-8"):
    row = json.loads(line)
    one, five = row["forged_1pct"], row["forged_5pct"]
    assert 0 < row["false_1pct"] < row["false_5pct"] < 0.06, row
    assert 0 < one < five and row["false_1pct"] < one, row
    if row["name"] == "diagnosis":  # all books' reports
        assert abs(five / one - 0.05 / 0.95 / (0.01 / 0.99)) < 0.01, row
END

# ---- Numbers and a label of their own ----------------------------------------
run 0 train direct --data wdbc.csv --label diagnosis --keep radius_mean --eps 4 \
    -o d.sotto
run 0 privatise d.sotto wdbc.csv --seed 1 -o d.reports
run 0 decode d.sotto d.reports --json
grep -q '"kind": "margin"' out && fail "margins of what is alone"
grep -q '"share"' out && fail "shares that were not asked for"
run 0 decode d.sotto d.reports --shares --json
python3 - out <<'END' || fail "shares: $(cat out)"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert "share" not in rows[0] and rows[0]["kind"] == "mean"
assert abs(sum(r["share"] for r in rows[1:]) - 1) < 1e-9
END

# ---- A number that tells what is missing ---------------------------------------
awk 'BEGIN { print "x"; for (i = 0; i < 3000; i++) print i % 5 ? i % 97 : "NA" }' \
    >gaps.csv
run 0 train direct --data gaps.csv --eps 8 -o g.sotto
run 0 privatise g.sotto gaps.csv --seed 1 -o g.reports
run 0 decode g.sotto g.reports --shares --json
python3 - out <<'END' || fail "the share that is missing: $(cat out)"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
gone = [r for r in rows if r["category"] == "(missing)"]
assert len(gone) == 1 and abs(gone[0]["share"] - 0.2) < 0.05
assert abs(gone[0]["share"] - gone[0]["value"]) < 1e-9
END

# ---- signs tells no margins ----------------------------------------------------
run 0 train codebook --data wdbc.csv --label diagnosis --candidates pca:d=2 \
    --k 3 --channel signs --balanced --eps 1 -o s.sotto
run 0 privatise s.sotto wdbc.csv --seed 1 -o s.reports
run 0 decode s.sotto s.reports --json
grep -q '"kind": "margin"' out && fail "signs tells no margins"
finish
