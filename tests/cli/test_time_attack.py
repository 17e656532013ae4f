#!/usr/bin/python3
"""test_time_attack.py: scripts/time_attack in short: a hostile encoder that
would take twice as long for one record as for another does not. The processor's
time counts, of the fastest of some runs: what else the machine does makes runs
longer. By hand, at full length, the attack tells a bit from the other by chance."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"])


def main():
    if os.environ.get("SOTTO_SANITIZE"):
        sys.exit(77)
    told = subprocess.run(
        [ROOT / "scripts/time_attack", "2", os.environ["SOTTO"]], check=True,
        env=os.environ | {"SIDE": "256", "KNOWN": "10"},
        stdout=subprocess.PIPE, text=True).stdout
    print(told)
    found = re.search(r"least ([0-9.]+) s and ([0-9.]+) s", told)
    ratio = float(found[2]) / float(found[1])
    if not 0.7 < ratio < 1.4:
        print(f"FAILED: one record takes {ratio:.1f} times as long as another")
        sys.exit(1)


main()
