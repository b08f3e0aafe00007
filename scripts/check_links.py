#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks README.md, CHANGELOG.md and docs/: links lead somewhere, and code said to come from a file stands in it.

A comment before a code block names the file that it was copied from, without the indentation that the whole block shares:
    <!-- from: examples/custom_rule/main.cpp -->
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^( *)(```+|~~~+).*?\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"<!-- from: (\S+) -->\n+(```+)[^\n]*\n(.*?)^\2 *$", re.MULTILINE | re.DOTALL)
MARKED = re.compile(r"<!-- from: \S+ -->")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.MULTILINE)


def anchors(text):
    """The anchors of a page's headings, spelled as code hosts spell them."""
    found = {}
    names = set(re.findall(r'<a (?:name|id)="([^"]+)"', text))
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
        names.add(name if found[name] == 0 else f"{name}-{found[name]}")
    return names


def check_links(page, text):
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if ROOT not in [path, *path.parents] or not path.exists():
            yield f"the link {target} leads nowhere"
        elif anchor and anchor not in anchors(path.read_text(encoding="utf-8")):
            yield f"the link {target} leads to no heading"


def check_quotes(text):
    quotes = QUOTED.findall(text)
    if len(quotes) != len(MARKED.findall(text)):
        yield "a comment '<!-- from: FILE -->' without a code block after it"
    for name, _, code in quotes:
        if not (ROOT / name).is_file():
            yield f"code from {name}, which does not exist"
            continue
        source = (ROOT / name).read_text(encoding="utf-8")
        indents = {" " * width for width in range(0, 9, 2)}
        if not any(textwrap.indent(code.strip("\n"), indent) in source for indent in indents):
            yield f"the code from {name} does not stand there: {code.strip().splitlines()[0]}"


def main():
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    problems = []
    for page in pages:
        name = page.relative_to(ROOT)
        if not page.is_file():
            problems.append(f"{name}: is missing")
            continue
        text = page.read_text(encoding="utf-8")
        problems += [f"{name}: {problem}" for check in (check_links(page, text), check_quotes(text)) for problem in check]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"links: {len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
