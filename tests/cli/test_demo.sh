#!/bin/sh
# test_demo.sh: the demo tells its story, the same for the same seed; its page
# stands alone; by-hand.sh makes the same files. A quick demo throughout: what
# the whole one takes and comes to is `make demo`'s.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

# ---- Stopped, and begun anew -------------------------------------------------
for signal in KILL INT; do
    : >out # not the words of the one before
    env --default-signal=INT "$SOTTO" demo >out 2>err &
    pid=$!
    while ! grep -q digits out && kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    kill -$signal $pid || fail "too fast for $signal"
    wait $pid
    status=$?
    [ $signal = KILL ] || [ $status -eq 1 ] || fail "$signal: status $status"
    [ $signal = KILL ] || says "stopped" "same command"
    absent sotto-demo/encoder.sotto
done
printf 'half a file' >sotto-demo/.sotto-1-0.tmp
echo "half a pair" >sotto-demo/collector.key

# ---- The whole of it ---------------------------------------------------------
run 0 demo --quick
rm sotto-demo/.sotto-1-0.tmp
tail -1 out | grep -q 'sotto-demo/report.html$' || fail "no path at the end"
grep -q "SIMULATED" out || fail "a simulation that does not say so"
grep -q "before any report is made; a device also pins" out ||
    fail "no word on the signature"
for file in encoder.sotto encoder.analyst numbers.sotto numbers.analyst \
    codes-4.sotto codes-4.sotto.minisig codes-4.analyst collected.db \
    codes-4.model numbers-4.sotto numbers-4.sotto.minisig numbers-4.reports \
    numbers-4.model plain-4.model clean.model collector.key collector.pub \
    by-hand.sh report.html; do
    [ -s sotto-demo/$file ] || fail "no $file"
done
for which in train people test; do
    for kind in images labels; do
        cmp "$SOTTO_SOURCE_DIR/data/digits-$which-$kind.idx.gz" \
            sotto-demo/$which-$kind.idx.gz || fail "other digits"
    done
done
cmp sotto-demo/codes-4.sotto sotto-demo/campaigns/codes-4.sotto ||
    fail "what was fetched is not what is served"
grep -q "90 devices sent the reports in 90 requests" out ||
    fail "nothing of the collector"
for word in "What is compared" "What a code does not keep" \
    "the contrastive one is told" "guarantee at all"; do
    grep -q "$word" sotto-demo/report.html || fail "the page hides: $word"
done
[ "$(find sotto-demo -type f ! -name '*.tags' | wc -l)" -eq 28 ] ||
    fail "left behind: $(find sotto-demo -type f)"
for which in encoder numbers codes-4; do
    [ "$(stat -c %a sotto-demo/$which.analyst)" = 600 ] ||
        fail "others may read $which.analyst"
done
run 0 export sotto-demo/codes-4.sotto --store sqlite:sotto-demo/collected.db \
    --simulation -o released
grep -q "9000 released" out || fail "not all is released"
run 0 verify sotto-demo/codes-4.sotto --pub sotto-demo/collector.pub
cp sotto-demo/report.html first.html
if [ -n "$SOTTO_SANITIZE" ]; then
    finish # a sanitizer has seen all of it; more of the same takes minutes
fi

# ---- One seed, one story; again into the same folder -------------------------
run 0 demo --quick --json
json out
cp out first
python3 - first <<'END_OF_ROWS' || fail "the rows"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
steps = [row["step"] for row in rows if "step" in row]
assert steps == ["digits", "encoder", "numbers", "signature",
                 "epsilon 4", "collector"], steps
found = {row["learner"]: row for row in rows if "learner" in row}
assert sorted(found) == ["clean", "codes", "numbers", "plain"], found
for name, row in found.items():
    assert 0 <= row["accuracy"] <= 1 and row["test"] == 1000, row
    assert row["eps"] == (None if name == "clean" else 4), row
    if name != "clean":
        assert 10 <= row["k"] <= 200, row
# Even so little training is no guessing.
assert found["clean"]["accuracy"] > 0.3, found
assert rows[-1]["page"] == "sotto-demo/report.html", rows[-1]
END_OF_ROWS
sed 's/timestamp:[0-9]*//' first.html >a
sed 's/timestamp:[0-9]*//' sotto-demo/report.html >b
cmp a b || fail "one seed, two pages"

# ---- By hand: the same files -------------------------------------------------
mkdir bin
ln -s "$SOTTO" bin/sotto
if ! command -v curl >/dev/null; then # it sends one file; so does Python
    cat >bin/curl <<'END_OF_CURL'
#!/bin/sh
exec python3 -c 'import sys, urllib.request as u
u.urlopen(u.Request(sys.argv[-1], open(sys.argv[-2][1:], "rb").read(),
                    {"Content-Type": "application/octet-stream"}))' "$@"
END_OF_CURL
    chmod +x bin/curl
fi
(cd sotto-demo && PATH=$work/bin:$PATH sh -e ./by-hand.sh) >out 2>err || {
    fail "by-hand.sh does not run"
    cat err
}
for file in encoder.sotto encoder.analyst numbers.sotto numbers.analyst \
    codes-4.sotto codes-4.analyst codes-4.model \
    numbers-4.sotto numbers-4.reports numbers-4.model plain-4.model; do
    cmp sotto-demo/$file sotto-demo/mine-$file || fail "another $file by hand"
done
# What devices sent, what curl did, and what both stores released: ids and
# order apart, the same.
python3 - released sotto-demo/mine-codes-4.reports \
    sotto-demo/mine-codes-4.released <<'END_OF_PAYLOADS' || fail "other reports"
import sys
found = []
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    size = len(data) // 9000
    rows = [data[i:i + size] for i in range(0, len(data), size)]
    assert len(rows) == 9000 and all(r[:4] == b"SIM1" for r in rows), path
    found.append((sorted(r[52:] for r in rows), [r[36:52] for r in rows]))
payloads, ids = zip(*found)
assert payloads[0] == payloads[1] == payloads[2], "payloads"
assert not set(ids[0]) & set(ids[1]) and not set(ids[2]) & set(ids[1]), "ids"
END_OF_PAYLOADS
sed -n 's/^accuracy \([0-9.]*\) .*/\1/p' out >by-hand
python3 - first by-hand <<'END_OF_FIGURES' || fail "other figures by hand"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
found = {row["learner"]: row["accuracy"] for row in rows if "learner" in row}
hand = [float(line) for line in open(sys.argv[2])]
assert hand == [found[name] for name in ("codes", "numbers", "plain")], hand
END_OF_FIGURES
python3 - sotto-demo <<'END_OF_PAGE' || fail "the page has other commands"
import html, re, sys
page = open(sys.argv[1] + "/report.html", encoding="utf-8").read()
script = open(sys.argv[1] + "/by-hand.sh", encoding="utf-8").read()
commands = html.unescape(re.search(r"<pre>(.*?)</pre>", page, re.S).group(1))
assert commands and script.endswith(commands), commands
END_OF_PAGE

# ---- Bad options, before anything is written ---------------------------------
for eps in 0 0.001 33 1e1 -1 4,,2 "" "," 4,4 x 1,2,3,4,5,6,7 \
    4.0000000000000000000000000000000001; do
    run 2 demo --quick -o bad --eps "$eps"
    says "--eps"
    absent bad
done
run 2 demo -o bad --seed x
absent bad
run 2 demo -o "$(head -c 5000 /dev/zero | tr '\0' x)"

# ---- Never among files of others ---------------------------------------------
mkdir taken
echo theirs >taken/people-images.idx.gz
run 2 demo --quick -o taken
says "taken"
echo "not a mechanism" >taken/encoder.sotto
run 2 demo --quick -o taken
printf 'age\n20\n40\n' >small.csv
run 0 train direct --data small.csv --eps 1 --force -o taken/encoder.sotto
run 2 demo --quick -o taken
[ "$(cat taken/people-images.idx.gz)" = theirs ] ||
    fail "the demo overwrote a file"
[ "$(find taken -type f | wc -l)" -eq 2 ] || fail "written: $(ls taken)"
run 1 demo --quick -o taken/people-images.idx.gz
says "taken/people-images.idx.gz"
mkdir temporary
echo x >temporary/.sotto-1-0.tmp
echo theirs >temporary/train-images.idx.gz
run 2 demo --quick -o temporary
says "holds other files"

# ---- Several epsilons, not in order; another seed ----------------------------
run 0 demo --quick -o several --eps 0.5,20 --seed 2
[ -s several/codes-20.reports ] || fail "no reports at 20"
[ -s several/campaigns/codes-0_5.sotto ] || fail "no campaign at 0.5"
for eps in 0.5 20; do
    grep -q "^  $eps  *[0-9]*  *[0-9.]*% " out || fail "no row for $eps"
done
cmp -s sotto-demo/encoder.sotto several/encoder.sotto &&
    fail "two seeds, one story"

# ---- The page stands alone ---------------------------------------------------
for page in sotto-demo several; do
    python3 - $page/report.html <<'END_OF_CHECK' || fail "$page/report.html"
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
budgets = text.count("<th>report, epsilon ")
# The plot; six people, with a report at each epsilon; codes, up to 20 of each.
codes = [int(k) for k in re.findall(r"commonest of (\d+) codes", text)]
codes += [int(k) for k in re.findall(r"all (\d+) codes", text)]
assert len(codes) == budgets, codes
shown = sum(min(k, 20) for k in codes)
assert page.seen["svg"] == 1 + 6 * (1 + budgets) + shown, page.seen
# Every report names as many pairs as its column says.
wanted = [int(n) for n in re.findall(r"<br>(\d+) of \d+ pairs</th>", text)]
drawn = [svg.count("M") for svg in
         re.findall(r'<svg class="report".*?<path d="(.*?)"/></svg>', text)]
assert drawn == wanted * 6, (wanted, drawn)
assert page.seen["h1"] == 1 and page.seen["polyline"] == 3, page.seen
assert page.seen["circle"] == 3 * budgets, page.seen
for tag in ("script", "link", "img", "iframe", "object", "base"):
    assert tag not in page.seen, tag
# One address, in the commands: the collector's, on this machine.
text = text.replace("http://127.0.0.1:", "", 1)
for word in ("http:", "https:", "url(", "@import", "nan", "inf\"", "NaN"):
    assert not re.search(r"(?<![a-z])" + re.escape(word), text), word
assert "prefers-color-scheme:dark" in text
END_OF_CHECK
done
finish
