#!/bin/sh
# test_sources.sh: reports from several files and from standard input, and an
# output that nobody reads to its end.
# shellcheck source=tests/cli/check.sh
. "$SOTTO_SOURCE_DIR/tests/cli/check.sh"

make_small
python3 - <<'END'
rows = ["age,colour"] + ["%d,%s" % (20 + i % 41, ("red", "blue")[i % 3 == 0])
                         for i in range(300)]
open("people.csv", "w").write("\n".join(rows) + "\n")
END
run 0 privatise m.sotto people.csv --seed 1 -o all.reports
size=$(($(wc -c <all.reports) / 300))
head -c $((200 * size)) all.reports >first.reports
tail -c $((150 * size)) all.reports >last.reports # 50 are in both
run 0 privatise m.sotto people.csv --seed 1 -o all.jsonl

# ---- Several files -----------------------------------------------------------
run 0 decode m.sotto all.reports
cp out whole
run 0 decode m.sotto first.reports last.reports
says "50 reports came more than once and count once"
cmp -s out whole || fail "two files do not say what one does"
tail -n 150 all.jsonl >last.jsonl
run 0 decode m.sotto first.reports last.jsonl
cmp -s out whole || fail "two forms do not say what one does"
"$SOTTO" decode m.sotto - first.reports <last.reports >out 2>err ||
    fail "standard input: $(cat err)"
cmp -s out whole || fail "standard input does not say what a file does"
"$SOTTO" decode m.sotto /dev/stdin <all.reports 2>err | cmp -s - whole ||
    fail "/dev/stdin"

fit="--aux people.csv --epochs 3 --seed 2"
# shellcheck disable=SC2086 # a list of options
{
    run 0 fit m.sotto all.reports $fit -o one.model
    run 0 fit m.sotto first.reports last.reports $fit -o two.model
    cmp -s one.model two.model || fail "fit: two files are not one"
    "$SOTTO" fit m.sotto - $fit -o piped.model <all.reports >out 2>err ||
        fail "fit from standard input: $(cat err)"
    cmp -s one.model piped.model || fail "fit: standard input is no file"
    run 2 fit m.sotto first.reports last.reports $fit -o last.reports
    says "last.reports" "input"
}

# ---- What cannot be joined ---------------------------------------------------
run 2 decode m.sotto - first.reports -
says "standard input (-) can be read once only"
run 2 decode m.sotto first.reports sqlite:x.db
says "sqlite:x.db" "give it alone"
run 2 decode m.sotto first.reports last.reports -o last.reports
says "last.reports"
run 1 decode m.sotto first.reports none.reports
says "none.reports"
run 0 privatise m.sotto people.csv -o real.reports
run 2 decode m.sotto real.reports all.reports
says "and the others mix 300 simulated with 300 real"
run 0 train direct --data small.csv --label colour --eps 3 -o other.sotto
run 0 privatise other.sotto people.csv --seed 1 -o other.reports
run 2 decode m.sotto first.reports other.reports
says "other.reports" "give the mechanism file"

# ---- A reader that has seen enough -------------------------------------------
# ends_silently ARGUMENTS...: with an output that nobody reads.
ends_silently() {
    python3 - "$SOTTO" "$@" <<'END' || fail "a closed pipe: $*"
import os, signal, subprocess, sys
reading, writing = os.pipe()
os.close(reading)
done = subprocess.run(sys.argv[1:], stdout=writing, stderr=subprocess.PIPE,
                      stdin=subprocess.DEVNULL)
if done.returncode != -signal.SIGPIPE or done.stderr != b"":
    sys.exit("status %d, said %r" % (done.returncode, done.stderr))
END
}
run 0 privatise m.sotto people.csv --seed 1 -o all.reports
ends_silently --help
ends_silently decode --help
ends_silently decode m.sotto real.reports
ends_silently decode m.sotto real.reports --json
ends_silently decode m.sotto real.reports -o /dev/stdout
ends_silently inspect m.sotto
ends_silently predict one.model people.csv
ends_silently predict one.model people.csv -o /dev/stdout
ends_silently evaluate one.model --data people.csv
# A full disk is another matter, and so is a mistake.
if [ -e /dev/full ]; then
    "$SOTTO" inspect m.sotto >/dev/full 2>err
    [ $? -eq 1 ] || fail "a full disk"
    says "cannot write to standard output: No space left"
fi
python3 - "$SOTTO" <<'END' || fail "a mistake is not told"
import os, subprocess, sys
reading, writing = os.pipe()
os.close(reading)
done = subprocess.run([sys.argv[1], "inspect", "none.sotto"], stdout=writing,
                      stderr=subprocess.PIPE)
assert done.returncode == 1 and b"none.sotto" in done.stderr, done
END
finish
