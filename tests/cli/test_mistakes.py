#!/usr/bin/env python3
"""mistakes.md: every mistake gets its status and its words; none is silent."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"])
PAGE = SOURCE / "tests" / "cli" / "mistakes.md"
ROWS_LEAST = 70


def run(script, folder, tools):
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder, stdin=subprocess.DEVNULL,
        capture_output=True, timeout=200, check=False,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    return done.returncode, said


def rows_of(text):
    """Number, mistake, command, status and words of each row."""
    for line in text.splitlines():
        found = re.fullmatch(
            r"\| (\d+[a-z]?) \| (.+?) \| `(.+)` \| (\d) \| (.+?) \|", line)
        if found:
            yield found.groups()


def is_said(words, said):
    """Whether the pieces of `words` stand in what was said, in order."""
    at = 0
    for piece in words.split(" ... "):
        at = said.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def main():
    text = PAGE.read_text(encoding="utf-8")
    setup = re.search(r"^```sh\n(.*?)^```$", text, re.M | re.S).group(1)
    failures = count = 0
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        (top / "tools").mkdir()
        (top / "tools" / "sotto").symlink_to(os.environ["SOTTO"])
        (top / "folder").mkdir()
        status, said = run("set -e\n" + setup, top / "folder", top / "tools")
        if status != 0:
            sys.exit(f"the folder cannot be made: {said}")
        for number, mistake, command, wanted, words in rows_of(text):
            shutil.copytree(top / "folder", top / "copy")
            status, said = run(command, top / "copy", top / "tools")
            shutil.rmtree(top / "copy")
            count += 1
            if status != int(wanted) or not is_said(words, said):
                failures += 1
                print(f"FAILED: {number}, {mistake}: status {status}, not "
                      f"{wanted}; it says:\n{said[-1200:]}")
    if count < ROWS_LEAST:
        sys.exit(f"only {count} rows were read")
    print(f"{count} mistakes, {failures} failures")
    sys.exit(failures != 0)


main()
