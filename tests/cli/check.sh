# check.sh: what the scripts in this folder share; sourced, not run.
#
# SOTTO is the program, SOTTO_SOURCE_DIR the tree. Each script works in a
# folder of its own, $work, which is removed at the end. A failed check is the
# script's exit status, also where it ends without `finish`.

set -u
: "${SOTTO:?the program to test}" "${SOTTO_SOURCE_DIR:?the source tree}"
work=$(mktemp -d)
failures=0
leave() {
    status=$?
    rm -rf "$work"
    [ "$failures" -eq 0 ] || status=1
    exit "$status"
}
trap leave EXIT
cd "$work" || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# run STATUS ARGUMENTS...: runs sotto; its output is in out and err.
run() {
    wanted=$1
    shift
    "$SOTTO" "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" -ne "$wanted" ]; then
        fail "sotto $(echo "$*" | cut -c 1-200): status $got, not $wanted"
        sed 's/^/    /' out err | cut -c 1-200 | head -20
    fi
}

# says PATTERN...: the last run's message has each of them.
says() {
    for pattern in "$@"; do
        grep -q -e "$pattern" err || {
            fail "the message does not say '$pattern'"
            sed 's/^/    /' err | cut -c 1-200
        }
    done
}

# only NAMES...: the folder holds these files (and out, err), nothing else.
only() {
    extra=$(find . -mindepth 1 -maxdepth 1 | sed 's/^..//' |
        grep -v -x -e out -e err)
    for name in "$@"; do
        extra=$(echo "$extra" | grep -v -x -F -e "$name")
    done
    [ -z "$extra" ] || fail "left behind: $extra"
}

# absent NAME: there is no such file, whole or in part.
absent() {
    [ ! -e "$1" ] || fail "$1 was written all the same"
}

# json FILE: every line is a JSON object.
json() {
    [ -s "$1" ] || fail "$1 is empty"
    python3 -c '
import json, sys
def refuse(word):
    raise ValueError(word)
for line in open(sys.argv[1], encoding="utf-8", newline="\n"):
    try:
        assert line.endswith("\n")
        assert type(json.loads(line, parse_constant=refuse)) is dict
    except (AssertionError, ValueError):
        sys.exit("not a JSON object: " + ascii(line))' "$1" ||
        fail "$1 is not JSON objects, one a line"
}

finish() {
    [ "$failures" -eq 0 ] && echo "all checks passed"
    exit "$((failures != 0))"
}

# A small mechanism, m.sotto, made from small.csv; k.key and k.pub.
make_small() {
    printf 'age,colour\n20,red\n40,blue\n60,red\n' >small.csv
    run 0 train direct --data small.csv --label colour --eps 2 -o m.sotto
    run 0 keygen -o k --no-password
    run 0 sign m.sotto --key k.key
}
# shellcheck disable=SC2034 # the scripts use it
small_files="small.csv m.sotto m.sotto.minisig k.key k.pub"
