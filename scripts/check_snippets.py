#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks that the C++ in README.md and docs/ compiles: scripts/check_snippets.py g++ -std=c++20

A block that is quoted from an example ('<!-- from: examples/... -->', which check_links.py compares) is compiled there. Every other
```cpp block is put into a context, a source of tests/snippets that declares what the page speaks of, in place of its line '// <code>':
that of its page (docs/a/b.md: a/b.cpp) or else that of the page's folder (a.cpp). A context with several such lines takes the blocks
of its page in turn.

Code without indentation that does not end a statement is an expression, and is computed by the compiler. One that begins with a dot
goes on from `begun` of its context. What is included, in contexts and blocks alike, is included first: all is one source, and each
context with its code a namespace of it.
"""

import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONTEXTS = ROOT / "tests/snippets"
PLACE = "// <code>"
BLOCK = re.compile(r"^ *(?:<!-- from: (?P<source>\S+) -->\n+ *)?(?P<fence>```+|~~~+) *(?P<language>[\w+-]+)[^\n]*\n(?P<code>.*?)^ *(?P=fence) *$",
                   re.MULTILINE | re.DOTALL)
FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-unused", "-Wno-unused-parameter", "-DFUSE_REWRITE_KERNELS_SEPARATE",
         "-DHWY_COMPILE_ONLY_STATIC"]


def blocks_of(page):
    """The blocks of a page that nothing else compiles: the number of the first line, and the lines."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        if found["language"].lower() not in ("cpp", "c++", "cxx", "cc"):
            continue
        if not (found["source"] or "").startswith("examples/"):
            yield text.count("\n", 0, found.start("code")) + 1, textwrap.dedent(found["code"]).splitlines()


def context_of(page):
    docs = ROOT / "docs"
    name = CONTEXTS / page.relative_to(docs if docs in page.parents else ROOT).with_suffix(".cpp")
    return next((path for path in (name, name.parent.with_suffix(".cpp")) if path.is_file()), None)


class source:
    """What the compiler is given: includes first, every other line as if it stood where it was written."""

    def __init__(self):
        self.includes, self.lines, self.expressions = [], [], 0

    def add(self, path, number, line):
        if line.lstrip().startswith("#include"):
            self.includes.append(line)
        else:
            self.lines += [f'#line {number} "{path.relative_to(ROOT)}"', line]

    def add_block(self, page, number, lines):
        starts = [at for at, line in enumerate(lines) if line and not line.startswith((" ", "}", ")", "//"))]
        for at, end in zip(starts, [*starts[1:], len(lines)]):
            piece = lines[at:end]
            last = re.sub("//.*", "", "\n".join(piece)).rstrip()[-1]
            if not piece[0].startswith("#") and last not in ";}":
                self.expressions += 1
                begun = "begun" if piece[0].startswith(".") else ""
                piece = [f"constexpr auto expression_{self.expressions} = {begun}{piece[0]}", *piece[1:], ";"]
            for offset, line in enumerate(piece):
                self.add(page, number + at + offset, line)

    def add_context(self, context, page, blocks):
        """One copy of the context, with the blocks in its places."""
        blocks = iter(blocks)
        self.lines.append(f"namespace context_{len(self.lines)} {{")
        for number, line in enumerate(context.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() == PLACE:
                self.add_block(page, *next(blocks))
            else:
                self.add(context, number, line)
        self.lines.append("}")

    def text(self):
        return "\n".join([*dict.fromkeys(self.includes), *self.lines, ""])


def main():
    made, used, problems, count = source(), set(), [], 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        blocks = list(blocks_of(page))
        if not blocks:
            continue
        count += len(blocks)
        context = context_of(page)
        if context is None:
            problems.append(f"{page.relative_to(ROOT)}: has code, but no context in tests/snippets")
            continue
        used.add(context)
        places = sum(line.strip() == PLACE for line in context.read_text(encoding="utf-8").splitlines())
        if places not in (1, len(blocks)):
            problems.append(f"{page.relative_to(ROOT)}: has {len(blocks)} blocks, {context.relative_to(ROOT)} {places} places")
            continue
        for at in range(0, len(blocks), places):
            made.add_context(context, page, blocks[at:at + places])
    problems += [f"{path.relative_to(ROOT)}: is the context of no page" for path in sorted(set(CONTEXTS.rglob("*.cpp")) - used)]
    print(*problems, sep="\n", end="\n" if problems else "")
    command = [*sys.argv[1:], *FLAGS, f"-I{ROOT / 'include'}", "-xc++", "-"]
    compiled = subprocess.run(command, input=made.text(), encoding="utf-8", cwd=ROOT, check=False).returncode == 0
    print(f"snippets: {count} blocks, " + ("compiled" if compiled else "not compiled"))
    return 0 if compiled and count and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
