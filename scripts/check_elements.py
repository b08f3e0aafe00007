#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks that every element of the language is one header of dsl/ with one test and one page of its name, and that none stands without a header.

Layers below the language have tests of their headers, too, but no pages.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
UMBRELLA = "dsl"  # includes the others


def main():
    headers = {path.stem for path in (ROOT / "include/fuse/dsl").glob("*.hpp")} - {UMBRELLA}
    tests = {path.stem.removeprefix("dsl_") for path in (ROOT / "tests/unit").glob("dsl_*.cpp")}
    pages = {path.stem for path in (ROOT / "docs/elements").glob("*.md")} - {"README"}
    listing = (ROOT / "docs/elements/README.md").read_text(encoding="utf-8")
    umbrella = (ROOT / "include/fuse/dsl/dsl.hpp").read_text(encoding="utf-8")

    problems = []
    for name in sorted(headers | tests | pages):
        if name not in headers:
            problems.append(f"{name}: has a test or a page, but no header include/fuse/dsl/{name}.hpp")
        if name not in tests:
            problems.append(f"{name}: has no test tests/unit/dsl_{name}.cpp")
        if name not in pages:
            problems.append(f"{name}: has no page docs/elements/{name}.md")
        elif f"({name}.md)" not in listing:
            problems.append(f"{name}: docs/elements/README.md does not list it")
        if name in headers and name != "expression" and f"<fuse/dsl/{name}.hpp>" not in umbrella:
            problems.append(f"{name}: dsl.hpp does not include it")
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"elements: {len(headers)} headers, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
