#!/usr/bin/python3
"""test_inquiry.py: what could not be read of people's records, told on the
owner's terminal: fields, lines behind the last label, lines that name nobody
on the list, and people on it without a line of their own. Nobody is told where
stderr is no terminal, since that may have other readers; and the reports are as
many in either case."""
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

SOTTO = os.environ["SOTTO"]
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)


def must(*words):
    done = subprocess.run([SOTTO, *words], capture_output=True, check=False)
    expect(done.returncode == 0, f"{words}: {done.stderr}")


def read_all(terminal):
    shown = b""
    while True:
        try:
            got = os.read(terminal, 4096)
        except OSError:  # the program is gone
            return shown.decode()
        shown += got
        if not got:
            return shown.decode()


def run_on_terminal(words):
    """Status, and what it says, with stderr a terminal of its own."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([SOTTO, *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=theirs) as child:
        os.close(theirs)
        said = read_all(ours)
    os.close(ours)
    return child.returncode, re.sub(r"\s+", " ", said)


def run_piped(words):
    done = subprocess.run([SOTTO, *words], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    return done.returncode, done.stderr.decode()


def check_notes(name, mechanism, records, reports, notes, *words):
    """Those notes on a terminal, in that order, and none elsewhere; as many
    reports in both cases."""
    pathlib.Path("records.csv").write_bytes(records)
    for where, run in (("terminal", run_on_terminal), ("pipe", run_piped)):
        must("ledger", "new", f"{name}-{where}", "--lifetime-eps", "2")
        output = pathlib.Path(f"{name}-{where}.jsonl")
        status, said = run(["privatise", mechanism, "records.csv", "--person",
                            "name", "--ledger", f"{name}-{where}", *words, "-o",
                            str(output)])
        expect(status == 0, f"{name}, {where}: {status} {said}")
        count = len(output.read_text().splitlines()) if status == 0 else 0
        expect(count == reports, f"{name}, {where}: {count} reports")
        wanted = notes if where == "terminal" else []
        at = 0
        for note in wanted:
            expect(note in said[at:], f"{name}: no '{note}' in '{said}'")
            at = max(at, said.find(note))
        expect(said.count("records.csv':") + said.count("labels.csv':") ==
               len(wanted), f"{name}, {where}: more was said: {said}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("small.csv").write_text("age,colour\n20,red\n40,blue\n")
        pathlib.Path("digits.csv").write_text("label\n7\n1\n")
        pathlib.Path("list.csv").write_text("name\nann\nbob\neve\n")
        must("train", "direct", "--data", "small.csv", "--eps", "2", "-o",
             "m.sotto")
        must("train", "direct", "--data", "small.csv", "--labels", "digits.csv",
             "--eps", "2", "-o", "l.sotto")
        head = b"name,colour,age\n"
        check_notes("good", "m.sotto", head + b"ann,red,30\n", 1, [])
        check_notes("field", "m.sotto", head + b"ann,red,30\nbob,\xff,2\n", 2,
                    ["'records.csv': 1 line, the first is line 3, with fields "
                     "that cannot be read"])
        check_notes("fields", "m.sotto",
                    head + b'ann,"red,30\nbob,red,2\neve,red\n', 3,
                    ["'records.csv': 2 lines, the first is line 2, with fields "
                     "that cannot be read"])
        pathlib.Path("labels.csv").write_text("label\n7\n1\n7\n")
        check_notes("labels", "l.sotto", head + b"ann,red,30\n", 1,
                    ["'labels.csv': 2 lines behind the last record's label"],
                    "--labels", "labels.csv")
        check_notes("stranger", "m.sotto",
                    head + b"ann,red,30\nmallory,red,2\nbob,red,2\neve,red,4\n",
                    3, ["'records.csv': 1 line, the first is line 3, that names "
                        "nobody on the list: dropped"],
                    "--people", "list.csv")
        check_notes("absent", "m.sotto",
                    head + b"ann,red,30\nbob,red,2\nbob,red,3\n", 3,
                    ["'records.csv': for 2 on the list there is no line, or "
                     "more than one: everything counts as missing"],
                    "--people", "list.csv")
        check_notes("all", "m.sotto",
                    head + b"ann,\xff,30\nmallory,red,2\nx,red,2\nbob,red,2\n",
                    3, ["1 line, the first is line 2, with fields",
                        "2 lines, the first is line 3, that name nobody",
                        "for 1 on the list there is no line"],
                    "--people", "list.csv")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


sys.exit(main())
