#!/usr/bin/env python3
"""docs/collector.md's first campaign runs as it stands, and its page's links
lead somewhere."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"])


def prepare(folder):
    (folder / "data").symlink_to(SOURCE / "data")
    (folder / "build").mkdir()
    (folder / "build" / "sotto").symlink_to(os.environ["SOTTO"])


def run(script, folder):
    """What it printed; whatever it has started ends with it."""
    process = subprocess.Popen(
        ["sh", "-e", "-x", "-c", script + "wait\n"], cwd=folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=300)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if process.returncode != 0:
        print(out[-2000:], err[-3000:], sep="\n")
        sys.exit(f"the page ends with status {process.returncode}")
    return out, err


def main():
    page = SOURCE / "docs" / "collector.md"
    text = page.read_text(encoding="utf-8")
    parts = re.findall(r"^```(.*?)\n(.*?)^```$", text, re.M | re.S)
    assert len(parts) == 3 and all(kind == "sh" for kind, _ in parts), parts
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lower()).replace(" ", "-")
                for line in re.findall(r"^#+ (.*)$", text, re.M)}
    for link in re.findall(r"\]\(#([a-z-]+)\)", text):
        assert link in headings, f"no heading for #{link}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        out, err = run("".join(lines for _, lines in parts), folder)
        over_http = folder / "campaign" / "over-http.reports"
        exported = folder / "campaign" / "wdbc.reports"
        assert over_http.read_bytes() == exported.read_bytes(), "other reports"
    for piece in ("569 released reports", "radius_mean", "POST /v1/campaigns/"):
        assert piece in out, f"no '{piece}' in {out[-2000:]}"
    assert "569 accepted" in out + err or "569" in out, out


main()
