#!/usr/bin/python3
"""test_faults.py: scripts/faults for a few seconds each: kills, a full disk,
connections that are cut, a server that is killed beneath two collectors, a
clock that jumps. What cannot be tried here is skipped; if nothing can, so is
all of it."""
import os
import pathlib
import re
import subprocess
import sys

FAULTS = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"]) / "scripts/faults"
RUNS = (("kill", "5000", "10"), ("cut", "60"), ("full", "5000", "4"),
        ("postgres", "5000", "8"), ("clock", "4000", "20"))
if os.environ.get("SOTTO_SANITIZE"):
    RUNS = RUNS[:-1]  # sanitizer and libfaketime both want to be loaded first
failures = 0

for words in RUNS:
    done = subprocess.run([sys.executable, str(FAULTS), *words],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, check=False, text=True)
    print(done.stdout, end="")
    counts = {what: int(count) for count, what in re.findall(
        r"(\d+) ([a-z ]+)(?=,)", done.stdout)}
    right = done.returncode == 77 or (
        done.returncode == 0 and counts["acknowledged"] > 0 and
        counts["acknowledged"] == counts["stored once"] and
        counts["lost"] + counts["stored twice"] + counts["invented"] == 0)
    if not right:
        failures += 1
        print("FAILED:", *words, "status", done.returncode)

# A bad word harms nothing and is told.
for words in ((), ("kil",), ("kill", "0"), ("kill", "1", "1", "1")):
    status = subprocess.run([sys.executable, str(FAULTS), *words],
                            capture_output=True, check=False).returncode
    if status != 2:
        failures += 1
        print("FAILED:", words, status)
sys.exit(1 if failures else 0)
