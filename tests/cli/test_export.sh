#!/bin/sh
# test_export.sh: sotto export, and verbs that take a store in place of a file
# of reports. tests/collector/test_collector.py does it while a collector
# writes.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

make_small
run 2 export m.sotto --store s.db -o r.bin
says "sqlite:PATH"
run 2 export m.sotto --store sqlite:s.db
says "output"
run 1 export m.sotto --store sqlite:none.db -o r.bin
says "none.db"
run 1 decode m.sotto sqlite:none.db
says "none.db"
absent none.db
absent r.bin

python3 - "$SOTTO" <<'PYTHON' || fail "the collector did not do its part"
import http.client, os, subprocess, sys, time
sotto = sys.argv[1]
with open("many.csv", "w", encoding="utf-8") as f:
    f.write("age,colour\n" + "20,red\n60,blue\n" * 100)
for extra, store in (([], "real.db"), (["--seed", "1"], "simulated.db")):
    subprocess.run([sotto, "privatise", "m.sotto", "many.csv", "--force",
                    "-o", "all", *extra], check=True,
                   stdout=subprocess.DEVNULL)
    if os.path.exists("port"):
        os.unlink("port")
    serve = subprocess.Popen(
        [sotto, "serve", "--mechanism", "m.sotto", "--pub", "k.pub", "--store",
         "sqlite:" + store, "--listen", "127.0.0.1:0", "--port-file", "port",
         "--window", "1", "--batch-min", "150",
         *(["--simulation"] if extra else [])], stdout=subprocess.DEVNULL)
    while not os.path.exists("port"):
        assert serve.poll() is None
        time.sleep(0.02)
    http_ = http.client.HTTPConnection("127.0.0.1", int(open("port").read()))
    http_.request("POST", "/v1/campaigns/m/reports", open("all", "rb").read(),
                  {"Content-Type": "application/octet-stream"})
    answer = http_.getresponse()
    assert answer.status == 200 and b'"accepted":200,' in answer.read()
    http_.close()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        done = subprocess.run([sotto, "export", "m.sotto", "--store",
                               "sqlite:" + store, "-o", store + ".bin",
                               *(["--simulation"] if extra else [])],
                              stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            break
        assert done.returncode == 2 and b"has released no reports" in \
            done.stderr, done.stderr
        time.sleep(0.1)
    serve.terminate()
    assert serve.wait(60) == 0
PYTHON

run 0 export m.sotto --store sqlite:real.db -o r.jsonl --json
json out
grep -q '"reports": 200' out || fail "$(cat out)"
json r.jsonl
[ "$(wc -l <r.jsonl)" = 200 ] || fail "not 200 lines"
run 0 decode m.sotto r.jsonl
cp out from_file
run 0 decode m.sotto sqlite:real.db
cmp -s out from_file || fail "a file and a store give other estimates"
run 0 decode m.sotto real.db.bin
cmp -s out from_file || fail "binary and lines give other estimates"
grep -q "^colour = red " out || fail "$(cat out)"

# By its name, or as it is asked for: a table for other tools, which has no ids.
run 0 export m.sotto --store sqlite:real.db -o r.csv
run 0 export m.sotto --store sqlite:real.db -o r.parquet --json
grep -q '"last_batch": 1' out || fail "$(cat out)"
run 0 export m.sotto --store sqlite:real.db --format parquet -o r.table
cmp -s r.parquet r.table || fail "--format and a name give other files"
run 2 export m.sotto --store sqlite:real.db --format xlsx -o r.table
says "--format takes parquet, csv, jsonl or binary"
python3 - <<'PYTHON' || fail "CSV and Parquet are not the reports"
import csv, json, os, sys
sys.path.insert(0, os.environ["SOTTO_SOURCE_DIR"] + "/tests/table")
import parquet_reader
reports = [json.loads(line) for line in open("r.jsonl")]
want = [[1, False] + [v for part in r["parts"] for v in part] for r in reports]
columns, facts, groups = parquet_reader.read("r.parquet")
assert list(columns) == ["batch", "simulated", "age", "colour"], list(columns)
assert [list(row) for row in zip(*columns.values())] == want
assert groups == [200], groups
lines = list(csv.reader(open("r.csv")))
assert lines[0] == list(columns), lines[0]
assert [[int(a), b == "yes", int(c), int(d)] for a, b, c, d in lines[1:]] == want
assert facts["sotto.mechanism"] == reports[0]["mechanism"]
assert (facts["sotto.reports"], facts["sotto.last_batch"],
        facts["sotto.simulated"]) == ("200", "1", "false"), facts
ids = {r["id"] for r in reports}
data = open("r.parquet", "rb").read() + open("r.csv", "rb").read()
assert not any(bytes.fromhex(i) in data or i.encode() in data for i in ids)
age, colour = json.loads(facts["sotto.columns"])
mean = age["offset"] + age["unit"] * sum(columns["age"]) / 200
red = colour["factors"][0]["categories"].index("red")
named = sum(v == red for v in columns["colour"]) / 200
share = (named - colour["rate_other"]) / (colour["rate_true"] - colour["rate_other"])
rows = [l.split() for l in open("from_file") if l.startswith(("age ", "colour = red"))]
got = [float(rows[0][2]), float(rows[1][4])]
assert abs(got[0] - mean) < 1e-4 * abs(mean) and abs(got[1] - share) < 1e-4, (
    got, mean, share)
PYTHON
run 0 decode m.sotto real.db.bin -o d.csv
head -1 d.csv | grep -q "^id,simulated,part1" || fail "$(head -1 d.csv)"
for name in x.xlsx x.json; do
    run 2 export m.sotto --store sqlite:real.db -o $name
    says "-o '$name'" "not written here" "take .parquet, .csv, .jsonl"
done
for name in x.parquet x.xlsx x.json; do
    run 2 decode m.sotto real.db.bin -o $name
    says "take .csv or .jsonl"
    run 2 privatise m.sotto small.csv -o $name
    says "take .jsonl"
    absent $name
done
run 2 privatise m.sotto small.csv -o x.csv
says "reports are no table" "sotto decode -o"
absent x.csv

# A report that is damaged in the store costs itself.
python3 - <<'PYTHON' || fail "cannot damage the store"
import sqlite3
chunks = [chunk for (chunk,) in sqlite3.connect("real.db").execute(
    "SELECT reports FROM released")]
chunk = chunks[0]  # 16 bytes of where it belongs come first
size = sum(len(each) - 16 for each in chunks) // 200
key = chunk[16 + 6 * size:][:16]
with open("real.db", "rb") as file:
    data = bytearray(file.read())
data[data.index(key) + 16] = 0xFF  # a colour that there is not
with open("damaged.db", "wb") as file:
    file.write(data)
PYTHON
chmod 600 damaged.db
run 0 export m.sotto --store sqlite:damaged.db -o d.jsonl
says "1 of 200 reports is damaged and was left out: batch 1"
[ "$(wc -l <d.jsonl)" = 199 ] || fail "not 199 lines"
run 0 export m.sotto --store sqlite:damaged.db -o d.jsonl --json
grep -q '"damaged": 1' out || fail "$(cat out)"
run 0 decode m.sotto sqlite:damaged.db
says "1 of 200 reports is damaged and was left out: batch 1"
grep -q "^199 reports" out || fail "$(cat out)"

# Batches that are there already are not asked for again.
run 2 export m.sotto --store sqlite:real.db --after 1 -o more.parquet
says "no batch of this mechanism behind number 1 yet"
absent more.parquet
run 0 export m.sotto --store sqlite:real.db --after 0 -o again.parquet
cmp -s r.parquet again.parquet || fail "the same batches give other bytes"
run 2 export m.sotto --store sqlite:real.db --after x -o more.parquet

# Simulated reports never pass for people's.
run 3 export m.sotto --store sqlite:simulated.db -o x.bin
says "simulated"
run 3 export m.sotto --store sqlite:real.db -o x.bin --simulation
says "people's reports"
absent x.bin
run 0 decode m.sotto sqlite:simulated.db
says "simulated: for experiments only"
# What is there already is no store, and an input is not overwritten.
run 2 export m.sotto --store sqlite:small.csv -o x.bin
says "small.csv"
run 2 export m.sotto --store sqlite:real.db -o real.db
# Another mechanism's are not among them.
run 0 train direct --data small.csv --label colour --eps 1 -o n.sotto
run 2 export n.sotto --store sqlite:real.db -o x.bin
says "released no reports of this mechanism"
absent x.bin
finish
