#!/usr/bin/python3
"""test_send_fuzz.py: random files through sotto send to a live collector:
whatever the records hold, everybody in a file gives one report, in one request,
and the exit status is 0 (invariant 4).

    SOTTO=build/sotto tests/cli/test_send_fuzz.py [FILES [PEOPLE [SEED]]]

8 files of 100 people. On a disk a file takes some seconds, since every charge is
flushed; with TMPDIR in memory 2,000 take some minutes. Files have a header, with the
name first or last, or none, or there is a list of people: then records may hold
line breaks and others' names. Everybody is new in each file, so that the
ledger replays nothing, and in the end it holds as many charges as there were
people."""
import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

SOTTO = str(pathlib.Path(os.environ["SOTTO"]).resolve())
FILES, PEOPLE, SEED = (
    [int(word) for word in sys.argv[1:4]] +
    [8, 100, random.randrange(1 << 30)][len(sys.argv[1:4]):])
PIECES = [b",", b'"', b'""', b"\r", b"red", b"30", b"NA", b" ", b"\t", b",,",
          b'"x', b'x"', b"\xff", b"\0", b"c1", b"age", b"name", b"colour",
          b"\xc3\xa9", b"1e999", b'"a,b"', b"\xef\xbb\xbf", b"label"]
FILES_A_LEDGER = 20  # its size decides how long it takes to open
KINDS = ("first", "last", "headless", "listed")


def sotto(*words):
    done = subprocess.run([SOTTO, *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


def must(*words):
    status, _, said = sotto(*words)
    if status != 0:
        sys.exit(f"sotto {words}: {said.decode()}")


def record(names, breaks):
    """One person's fields; line breaks and others' names where they may be."""
    if random.random() < 0.2:
        return b"red,30"
    pieces = PIECES + ([b"\n", b"\n" + random.choice(names)] if breaks else [])
    made = b""
    for _ in range(random.randrange(12)):
        byte = bytes([random.randrange(256)])
        made += random.choice(pieces + [byte if byte != b"\n" else b""] * 8)
    return b"x" * ((1 << 20) + 1) if random.random() < 1e-4 else made


def write(kind, names):
    """Writes the file of a kind, and gives the words that send it."""
    header = {"headless": b"", "last": b"colour,age,name\n"}.get(
        kind, b"name,colour,age\n")
    lines = []
    for name in names:
        fields = record(names, kind == "listed")
        lines.append(fields + b"," + name if kind == "last" else
                     name + b"," + fields)
    pathlib.Path("F.csv").write_bytes(
        header + b"\n".join(lines) + random.choice([b"", b"\n", b"\r\n", b"\n\n"]))
    if kind == "headless":
        return ["h", "--person", "c1", "--no-header"]
    if kind == "listed":
        pathlib.Path("P.csv").write_bytes(b"name\n" + b"\n".join(names) + b"\n")
        return ["m", "--person", "name", "--people", "P.csv"]
    return ["m", "--person", "name"]


def prepare():
    pathlib.Path("m.csv").write_text("age,colour\n20,red\n40,blue\n60,red\n")
    pathlib.Path("h.csv").write_text("c3,c2\n20,red\n40,blue\n60,red\n")
    must("keygen", "-o", "k", "--no-password")
    os.mkdir("served")
    for name in "mh":
        must("train", "direct", "--data", f"{name}.csv", "--eps", "2", "-o",
             f"served/{name}.sotto")
        must("sign", f"served/{name}.sotto", "--key", "k.key")


def listen():
    program = subprocess.Popen(
        [SOTTO, "serve", "--mechanism", "served", "--pub", "k.pub", "--store",
         "sqlite:s.db", "--listen", "127.0.0.1:0", "--port-file", "port"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for _ in range(600):
        if pathlib.Path("port").exists() and pathlib.Path("port").read_text():
            break
        time.sleep(0.1)
    port = pathlib.Path("port").read_text().strip()
    return program, f"http://127.0.0.1:{port}/v1/campaigns/"


def ledger_of(number):
    return f"ledger-{number // FILES_A_LEDGER}"


def charges(ledger):
    file = sqlite3.connect(ledger)
    count = file.execute("SELECT count(*) FROM charge").fetchone()[0]
    file.close()
    return count


def send(number, to):
    if number % FILES_A_LEDGER == 0:
        must("ledger", "new", ledger_of(number), "--lifetime-eps", "2")
    kind = KINDS[number % len(KINDS)]
    names = [b"p%d-%d" % (number, i) for i in range(PEOPLE)]
    mechanism, *words = write(kind, names)
    status, out, said = sotto(
        "send", f"served/{mechanism}.sotto", "F.csv", "--ledger",
        ledger_of(number), "--pub", "k.pub", "--spread", "0", "--grid", "0", "--json", "--batch",
        str(PEOPLE), "--to", to + mechanism, *words)
    told = json.loads(out) if status == 0 else {}
    if (status, told.get("accepted"), told.get("new"), told.get("requests"),
            told.get("left"), said) != (0, PEOPLE, PEOPLE, 1, 0, b""):
        print(f"FAILED: file {number} ({kind}): status {status}, {told} {said}")
        return False
    return True


def main():
    random.seed(SEED)
    print(f"seed {SEED}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        program, to = listen()
        try:
            good = sum(send(number, to) for number in range(FILES))
        finally:
            program.terminate()
            ended = program.wait()
        charged = sum(charges(ledger_of(number))
                      for number in range(0, FILES, FILES_A_LEDGER))
        os.chdir("/")
    print(f"{good} of {FILES} files: {PEOPLE} reports each; the ledgers have "
          f"{charged} charges of {FILES * PEOPLE} people; the collector ended "
          f"with {ended}")
    sys.exit((good, charged, ended) != (FILES, FILES * PEOPLE, 0))


main()
