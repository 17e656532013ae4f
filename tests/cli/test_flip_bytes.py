#!/usr/bin/python3
"""test_flip_bytes.py: every byte of a signed mechanism changed in turn, and
the file cut at every length: verify and privatise --pub refuse (status 3) and
nothing crashes; inspect of what was cut is bad input (status 2). The same for
every byte of the signature."""
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SOTTO = os.environ["SOTTO"]
# The same verbs, without the libraries that learning needs: starts sooner.
SMALL = SOTTO + "-collector"


def sotto(folder, *words):
    program = SMALL if words[0] in ("verify", "inspect") else SOTTO
    done = subprocess.run([program, *words], cwd=folder, capture_output=True,
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stderr.decode(errors="replace")


def must(folder, *words):
    status, message = sotto(folder, *words)
    if status != 0:
        sys.exit(f"sotto {' '.join(words)}: status {status}: {message}")


def check(job):
    """One changed pair of files; the failures found."""
    base, name, mechanism, signature, wanted = job
    with tempfile.TemporaryDirectory(dir=base) as folder:
        folder = pathlib.Path(folder)
        (folder / "m.sotto").write_bytes(mechanism)
        (folder / "m.sotto.minisig").write_bytes(signature)
        failures = []
        for words, status in wanted:
            got, message = sotto(folder, *words)
            if got != status or not message.startswith("sotto"):
                failures.append(f"{name}: {words[0]}: status {got}, not "
                                f"{status}: {message}")
        if set(os.listdir(folder)) != {"m.sotto", "m.sotto.minisig"}:
            failures.append(f"{name}: left behind: {os.listdir(folder)}")
        return failures


def jobs(base):
    """Every change: (folder, name, mechanism, signature, what to expect)."""
    mechanism = (base / "m.sotto").read_bytes()
    signature = (base / "m.sotto.minisig").read_bytes()
    verify = (("verify", "m.sotto", "--pub", "../k.pub"), 3)
    privatise = (("privatise", "m.sotto", "../small.csv", "--pub", "../k.pub",
                  "-o", "r"), 3)
    inspect = (("inspect", "m.sotto"), 2)
    for i in range(len(mechanism)):
        changed = bytearray(mechanism)
        changed[i] ^= 1 << (i % 8)
        wanted = [verify] + ([privatise] if i % 16 == 0 else [])
        yield base, f"byte {i} changed", changed, signature, wanted
    for i in range(len(mechanism)):
        yield (base, f"cut to {i}", mechanism[:i], signature,
               [verify, inspect] + ([privatise] if i % 16 == 0 else []))
    yield (base, "one byte more", mechanism + b" ", signature,
           [verify, privatise, inspect])
    lines = signature.split(b"\n")
    free = len(b"untrusted comment: ")  # the rest of line 1 is unsigned
    for i in range(len(signature)):
        if free <= i < len(lines[0]) or i == len(signature) - 1:
            continue
        changed = bytearray(signature)
        changed[i] ^= 1
        yield base, f"signature byte {i}", mechanism, changed, [verify]
    for i in range(len(signature) - 1):
        yield (base, f"signature cut to {i}", mechanism, signature[:i],
               [verify])


def main():
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        (base / "small.csv").write_text("a,b\n1,x\n2,y\n")
        must(base, "train", "direct", "--data", "small.csv", "--label", "b",
             "--eps", "1", "-o", "m.sotto")
        must(base, "keygen", "-o", "k", "--no-password")
        must(base, "sign", "m.sotto", "--key", "k.key")
        must(base, "verify", "m.sotto", "--pub", "k.pub")
        must(base, "inspect", "m.sotto")
        # A sanitizer makes every start of the program dear.
        every = 7 if os.environ.get("SOTTO_SANITIZE") else 1
        work = [job for i, job in enumerate(jobs(base)) if i % every == 0
                or any(words[0] == "privatise" for words, _ in job[-1])]
        with ThreadPoolExecutor(2) as pool:
            failures = [line for found in pool.map(check, work)
                        for line in found]
    for line in failures[:20]:
        print(line)
    print(f"{len(work)} changed files, {len(failures)} failures")
    return 1 if failures or len(work) * every < 500 else 0


sys.exit(main())
