#!/usr/bin/python3
"""test_operate.py: docs/operate.md explains every event that the collector's
log can have, and no other; its rules for alerts ask for metrics that there
are."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get(
    "SOTTO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PAGE = (ROOT / "docs" / "operate.md").read_text()
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)
        print("FAILED:", what)


def events_in_sources():
    """Strings that look like a code, behind a level or in the table of
    refusals."""
    found = set()
    for path in (*ROOT.glob("src/collector/*.c"),
                 ROOT / "src/verb/cmd_serve.c"):
        text = path.read_text()
        found.update(re.findall(
            r'SOTTO_LOG_\w+,\s*"([a-z]+(?:-[a-z]+)*)"', text))
        if path.name == "refusals.c":
            found.update(re.findall(
                r'=\s*\{"\w+",\s*"\w+",\s*"([a-z-]+)"', text))
    return {event.removesuffix("-over") for event in found}


def events_on_page():
    found, before = set(), ""
    table = PAGE.split("| event |")[1].split("\n\n")[0]
    for row in table.splitlines()[2:]:
        for event in re.findall(r"`([a-z-]+)`", row.split("|")[1]):
            if event.startswith("-"):
                event = before.rsplit("-", 1)[0] + event
            found.add(event)
            before = event
    return found


def metrics_in_sources():
    text = "".join(path.read_text()
                   for path in ROOT.glob("src/collector/*.c"))
    return set(re.findall(r'(?:sotto_|\{?")([a-z]+(?:_[a-z]+)+)', text)) | {
        "healthy", "info"}


def main():
    sources, page = events_in_sources(), events_on_page()
    expect(len(sources) > 20, f"only {sources}")
    expect(sources == page, f"only in the sources: {sources - page}, only on "
           f"the page: {page - sources}")
    metrics = metrics_in_sources()
    rules = PAGE.split("```yaml\ngroups:")[1].split("```")[0]
    asked = set(re.findall(r"sotto_([a-z_]+)", rules))
    expect(len(asked) > 8, f"only {asked}")
    for name in asked:
        expect(name.removesuffix("_bucket") in metrics, f"no metric {name}")
    sys.exit(1 if failures else 0)


main()
