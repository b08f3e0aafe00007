#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks that every rule that comes with fuse stands on a page of docs/rules/ by its name, and that every header of rules/ stands on a page or is
included by one that does."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LISTED = ROOT / "examples/fuse-onnx/golden/rules.txt"  # what `fuse-onnx rules` prints, which its test compares
SETS = {"all.hpp", "norms.hpp"}  # include others, and have no rules of their own


def main():
    pages = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs/rules").glob("*.md")}
    named = {name for text in pages.values() for name in re.findall(r"`([\w-]+)`", text)}
    rules = [line.split()[0] for line in LISTED.read_text(encoding="utf-8").splitlines()[1:] if line]
    headers = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "include/fuse/rules").glob("*.hpp") if path.name not in SETS}
    shown = {name for name in headers if any(f"rules/{name})" in text for text in pages.values())}
    included = {name for shows in shown for name in re.findall(r"<fuse/rules/(\w+\.hpp)>", headers[shows])}

    problems = [f"{rule}: no page of docs/rules/ names it" for rule in rules if rule not in named]
    problems += [f"rules/{name}: no page of docs/rules/ leads to it" for name in sorted(headers.keys() - shown - included)]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"rules: {len(rules)} rules, {len(headers)} headers, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
