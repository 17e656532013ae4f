#!/usr/bin/env python3
"""docs/results.md is what `sotto experiment page` makes from results/, twice
the same; its links hold; and README's table has the numbers of these rows."""
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"])
SOTTO = os.environ["SOTTO"]
COLUMNS = ("mnist-collection-codebook", "mnist-collection-vlm")
failures = []


def fail(text):
    failures.append(text)
    print("FAILED:", text)


def make(folder, *options):
    return subprocess.run([SOTTO, "experiment", "page", *options], cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)


def check_page():
    page = SOURCE / "docs" / "results.md"
    kept = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "results").symlink_to(SOURCE / "results")
        (folder / "docs").mkdir()
        for options in ((), ("--results", "results", "-o", "docs/again.md")):
            done = make(folder, *options)
            if done.returncode != 0:
                fail(f"sotto experiment page: {done.stderr}")
                return
        made = (folder / "docs" / "results.md").read_text(encoding="utf-8")
        again = (folder / "docs" / "again.md").read_text(encoding="utf-8")
    if made != again:
        fail("two pages of the same files differ")
    if made != kept:
        first = next(i for i, (a, b) in enumerate(
            zip(made.splitlines() + [None], kept.splitlines() + [None]))
            if a != b)
        fail(f"docs/results.md is not what results/ makes: line {first + 1}; "
             "run sotto experiment page")
    headings = {heading.replace(".", "") for heading in
                re.findall(r"^#+ (\S+)$", made, re.M)}
    for link in re.findall(r"\]\(([^)]+)\)", made):
        if not (link[1:] in headings if link[0] == "#"
                else (page.parent / link).exists()):
            fail(f"docs/results.md: there is no {link}")


def check_refused():
    with tempfile.TemporaryDirectory() as name:
        (pathlib.Path(name) / "later.csv").write_text("experiment,more\nx,y\n",
                                                      encoding="utf-8")
        done = make(name, "--results", ".", "-o", "page.md")
        if done.returncode != 2 or "later.csv: line 1" not in done.stderr:
            fail(f"later.csv: {done.returncode}, {done.stderr}")
        for wrong in ("--eps=1", "--plan"):
            done = make(name, wrong)
            if done.returncode != 2 or wrong[:5] not in done.stderr:
                fail(f"page {wrong}: {done.returncode}, {done.stderr}")
        done = subprocess.run([SOTTO, "experiment", "eq13", "--results", "."],
                              cwd=name, capture_output=True, text=True,
                              check=False)
        if done.returncode != 2 or "--results" not in done.stderr:
            fail(f"eq13 --results: {done.returncode}, {done.stderr}")


def means(name):
    """Of a table, epsilon to what its row of means has."""
    with open(SOURCE / "results" / f"{name}.csv", encoding="utf-8",
              newline="") as file:
        return {row["eps"]: row for row in csv.DictReader(file)
                if row["kind"] == "mean"}


def percent(row, column):
    return f"{100 * float(row[column]):.1f}"


def check_readme():
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    part = readme.split("| epsilon | `codebook` | `vlm` | V-RLM |\n|---|---|---"
                        "|---|\n")[1].split("\n\n")[0]
    codebook, vlm = (means(name) for name in COLUMNS)
    lines = part.splitlines()
    for line in lines:
        eps, *said = (cell.strip() for cell in line.strip("|").split("|"))
        eps = "none" if eps == "no noise" else eps
        wanted = [percent(codebook[eps], "accuracy"),
                  percent(vlm[eps], "accuracy"), percent(vlm[eps], "paper")]
        if said != wanted:
            fail(f"README.md, epsilon {eps}: {said}, the rows have {wanted}")
    if len(lines) != 7:
        fail(f"README.md: {len(lines)} rows in the table")
    for text in (f"right on **{percent(codebook['1'], 'accuracy')}%** of clean "
                 "test images at epsilon 1.",
                 f"have {percent(codebook['1'], 'paper')}%: Mansbridge"):
        if text not in re.sub(r"\s+", " ", readme):
            fail(f"README.md does not say '{text}'")


check_page()
check_refused()
check_readme()
sys.exit(1 if failures else 0)
