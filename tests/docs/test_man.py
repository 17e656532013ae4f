#!/usr/bin/env python3
"""Every option that `sotto VERB --help` has is in docs/man/sotto.1, in the
part of that verb, with its default; and the page has no others.

A default is what stands in parentheses in the help; each of its words must be
in the option's paragraph of the page.
"""
import os
import re
import subprocess
import sys

SHARED = {"--json", "-h", "--help"}  # once for all verbs
NO_DEFAULT = {"sotto ledger new"}  # parentheses that are a remark

failures = []


def fail(text):
    failures.append(text)
    print("FAILED:", text)


def help_of(*words):
    done = subprocess.run([os.environ["SOTTO"], *words, "--help"],
                          capture_output=True, text=True, check=True)
    return done.stdout


def kinds_in_help(verb):
    """The words that have options of their own, as train's kinds do."""
    part = help_of(verb).partition(" is one of:\n")[2].split("\n\n")[0]
    return re.findall(r"^  ([\w-]+)(?: {2,}\S|$)", part, re.M)


def options_in_help(verb, *kind):
    """Name to texts; a short name has the same texts as its long one."""
    part = help_of(verb, *kind).split("\nOptions:\n")[1].split("\n\n")[0]
    found = {}
    for entry in re.split(r"\n(?=  -)", "\n" + part)[1:]:
        head, _, text = entry.strip().partition("  ")
        for name in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", head):
            found[name] = [" ".join(text.split())]
    for each in kinds_in_help(verb) if not kind else ():
        for name, texts in options_in_help(verb, each).items():
            found.setdefault(name, []).extend(texts)
    return found


def plain(roff):
    """A paragraph's words, without requests and fonts."""
    roff = re.sub(r"^\.\w+ ?", "", roff, flags=re.M)
    roff = re.sub(r"\\f[A-Z]", "", roff).replace("\\-", "-")
    return " ".join(roff.replace('"', "").split())


def options_on_page():
    """Of each part of OPTIONS, its title and its tags with their texts."""
    path = os.path.join(os.environ["SOTTO_SOURCE_DIR"], "docs/man/sotto.1")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    part = page.split("\n.SH OPTIONS\n")[1].split("\n.SH ")[0]
    for section in ("\n.SS all\n" + part).split("\n.SS ")[1:]:
        title, _, body = section.partition("\n")
        tags = {}
        for entry in body.split(".TP\n")[1:]:
            tag, _, text = entry.partition("\n")
            for name in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", plain(tag)):
                tags.setdefault(name, []).append(plain(text))
        yield re.split(r", | and ", title), tags


def words(text):
    return set(re.findall(r"[\w./~-]*\w", text))


def check_default(verb, name, said, texts):
    for default in re.findall(r"\(([^()]*)\)", said):
        wanted_words = words(default)
        if default not in NO_DEFAULT and not any(
                wanted_words <= words(text) for text in texts):
            fail(f"sotto.1, {verb} {name}: the default ({default}) is not "
                 f"in {texts}")


page = list(options_on_page())
verbs = re.findall(r"^  ([a-z]+) {2,}\S", help_of().split("\nVerbs:\n")[1], re.M)
if len(verbs) < 15:
    fail(f"only the verbs {verbs}")
known = {}  # of each part, what its verbs have
for verb in verbs:
    options = options_in_help(verb)
    parts = [(titles, tags) for titles, tags in page if verb in titles]
    wanted = {n: t for n, t in options.items() if n not in SHARED}
    if not wanted:
        continue
    if len(parts) != 1:
        fail(f"sotto.1 has {len(parts)} parts for {verb}")
        continue
    titles, tags = parts[0]
    known.setdefault(tuple(titles), set()).update(wanted)
    for name, texts in wanted.items():
        if name not in tags:
            fail(f"sotto.1, {verb}: no {name}")
        for said in texts if name in tags else ():
            check_default(verb, name, said, tags[name])
for titles, tags in page:
    extra = set(tags) - (SHARED if titles == ["all"]
                         else known.get(tuple(titles), set()))
    if extra:
        fail(f"sotto.1, {', '.join(titles)}: {sorted(extra)} are no options")
sys.exit(1 if failures else 0)
