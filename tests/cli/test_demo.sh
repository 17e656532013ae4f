#!/bin/sh
# test_demo.sh: the demo runs in under a minute, its page stands alone, and its
# commands run as printed.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"
"$SOTTO_SOURCE_DIR/scripts/make_demo_data" --check || fail "stale demo data"

begin=$(date +%s)
run 0 demo
[ $(($(date +%s) - begin)) -lt 60 ] || fail "the demo takes over a minute"
tail -1 out | grep -q 'sotto-demo/report.html$' || fail "no path at the end"
for file in auxiliary.csv people.csv demo.sotto demo.sotto.minisig \
    collector.key collector.pub people.reports report.html; do
    [ -s sotto-demo/$file ] || fail "no $file"
done
[ "$(find sotto-demo -type f | wc -l)" -eq 8 ] ||
    fail "left behind: $(find sotto-demo -type f)"
cat sotto-demo/auxiliary.csv sotto-demo/people.csv | sort -u >both
sort -u "$SOTTO_SOURCE_DIR/data/wdbc.csv" | cmp -s - both || fail "other data"
run 0 verify sotto-demo/demo.sotto --pub sotto-demo/collector.pub

# Again into the same folder, and with other settings.
run 0 demo
run 0 demo -o seeded --seed 3 --eps 8
grep -q "SIMULATED" out || fail "a simulation that does not say so"
cp out first
run 0 demo -o seeded --seed 3 --eps 8
cmp -s out first || fail "one seed, two results"
run 0 demo -o tiny --eps 0.001
run 0 demo -o huge --eps 32
run 0 demo -o least --eps 0.000004
for eps in 0 0.000001 0.000003999999 33 1e-9; do
    run 2 demo -o bad --eps $eps
    says "--eps $eps"
    absent bad
done
run 2 demo -o bad --seed x
absent bad

# Never among files of others: nothing of theirs is touched, nothing written.
mkdir taken void
echo theirs >taken/people.csv
run 2 demo -o taken
says "taken"
echo "not a mechanism" >taken/demo.sotto
run 2 demo -o taken
[ "$(cat taken/people.csv)" = theirs ] || fail "the demo overwrote a file"
[ "$(find taken -type f | wc -l)" -eq 2 ] || fail "written: $(ls taken)"
run 0 train direct --data sotto-demo/people.csv --keep diagnosis --eps 1 \
    -o taken/demo.sotto
run 2 demo -o taken
[ "$(find taken -type f | wc -l)" -eq 2 ] || fail "written: $(ls taken)"
run 0 demo -o void
run 1 demo -o taken/people.csv
says "taken/people.csv"

# Every epsilon it prints is the one that was asked for.
run 0 demo -o json --eps 0.3 --json
grep '"eps"' out | grep -v '"eps": 0.3}' && fail "another epsilon"
[ "$(grep -c '"eps": 0.3}' out)" -ge 9 ] || fail "lines without an epsilon"
run 0 demo -o json
grep -q "before any report is made; a device also pins" out ||
    fail "no word on the signature"
grep -q "before any report is made; a device also pins" json/report.html ||
    fail "no word on the signature on the page"

for page in sotto-demo seeded tiny huge; do
    python3 - $page/report.html <<'END' || fail "$page/report.html"
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
VOID = {"meta", "br", "line", "rect", "circle"}

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], {}
    def handle_starttag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        for name, value in attrs:
            assert name not in ("href", "src", "srcset", "data", "action",
                                "onload", "onclick"), (tag, name)
        if tag not in VOID:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())

page = Page()
page.feed(text)
page.close()
assert not page.open, page.open
assert page.seen["svg"] == 3 and page.seen["h1"] == 1, page.seen
for tag in ("script", "link", "img", "iframe", "object", "base"):
    assert tag not in page.seen, tag
for word in ("http:", "https:", "url(", "@import", "nan", "inf\"", "NaN"):
    assert not re.search(r"(?<![a-z])" + re.escape(word), text), word
assert "prefers-color-scheme:dark" in text
END
done

# The commands on the page.
sed -n '/^<h2>By hand/,/<\/section>/p' sotto-demo/report.html |
    sed -n '/<pre>/,/<\/pre>/p' | sed 's/.*<pre>//; s/<\/pre>.*//' >commands
[ "$(wc -l <commands)" -ge 7 ] || fail "no commands on the page"
mkdir bin
ln -s "$SOTTO" bin/sotto
(cd sotto-demo && PATH=$work/bin:$PATH sh -e ../commands) >out 2>&1 || {
    fail "the page's commands do not run"
    cat out
}
finish
