#!/usr/bin/env python3
"""docs/task-codes.md runs as it stands: what training says is what the page
quotes, and the loss of decoded reports is what training said.

Reports have real noise: 20,000 of them, a loss of 0.63 with a standard error of
0.006.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"])
SAID = (
    "For weights wage=1, a report names one of 3 codes.",
    "The encoder gives no weight to age: a report tells of it no more than",
    'auxiliary data,\n    for the task: weights wage=1"',
    "The mechanism was made for weights wage=1: a report names one of 3 codes.",
    "Of a column's variance the codes explain",
)

if os.environ.get("SOTTO_SANITIZE"):
    sys.exit(77)  # ten times as long, and nothing that other tests do not do


def number(pattern, text):
    found = re.search(pattern, text, re.M)
    assert found, f"no '{pattern}'"
    return float(found[1])


def run(parts):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "build").mkdir()
        (pathlib.Path(folder) / "build" / "sotto").symlink_to(
            os.environ["SOTTO"])
        done = subprocess.run(["sh", "-e", "-c", "".join(parts)], cwd=folder,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            print(done.stdout[-2000:], done.stderr[-3000:], sep="\n")
            sys.exit(f"the page ends with status {done.returncode}")
        with open(pathlib.Path(folder) / "wage.csv", encoding="utf-8") as file:
            records = {line.split(",", 2)[2] for line in file}
    return done.stdout, len(records) - 1


def main():
    page = SOURCE / "docs" / "task-codes.md"
    text = page.read_text(encoding="utf-8")
    parts = re.findall(r"^```(.*?)\n(.*?)^```$", text, re.M | re.S)
    assert parts and all(kind == "sh" for kind, _ in parts), parts
    for link in re.findall(r"\]\(([a-z./_-]+)[)#]", text):
        assert (page.parent / link).exists(), f"there is no {link}"
    said, records = run([lines for _, lines in parts])
    for piece in SAID:
        assert piece in said, f"no '{piece}'"
    assert records == 3, f"{records} different records"
    told = number(r"loss for one report is ([0-9.]+); it is 1.001 w", said)
    loss = number(r"^loss ([0-9.]+)$", said)
    print("told", told, "loss", loss)
    assert abs(told - number(r"^    The task's loss .* is ([0-9.]+); it",
                             text)) < 0.02  # another awk, other people
    assert abs(loss - told) < 0.04


main()
