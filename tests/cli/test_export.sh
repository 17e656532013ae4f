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

# By its name: CSV as decode writes it, and nothing under a name that lies.
run 0 export m.sotto --store sqlite:real.db -o r.csv
run 0 decode m.sotto real.db.bin -o d.csv
cmp -s r.csv d.csv || fail "export and decode write other CSV"
head -1 r.csv | grep -q "^id,simulated,part1" || fail "$(head -1 r.csv)"
for name in x.parquet x.xlsx x.json; do
    run 2 export m.sotto --store sqlite:real.db -o $name
    says "-o '$name'" "not written here" "take .csv, .jsonl"
    run 2 decode m.sotto real.db.bin -o $name
    says "take .csv or .jsonl"
    run 2 privatise m.sotto small.csv -o $name
    says "take .jsonl"
    absent $name
done
run 2 privatise m.sotto small.csv -o x.csv
says "reports are no table" "sotto decode -o"
absent x.csv

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
