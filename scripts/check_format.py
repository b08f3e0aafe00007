#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks that every C++ source is laid out as clang-format lays it out, and begins with its licence; --fix lays it out."""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["include", "examples", "tests", "bench", "packaging"]
LICENCE = "// SPDX-License-Identifier: BSL-1.0"
# The layout of a source is part of the check, so the version that the style was written for decides.
VERSION = 14


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clang-format", default="clang-format-14")
    parser.add_argument("--fix", action="store_true")
    options = parser.parse_args()
    sources = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.[ch]pp"))
    status = 0
    for source in sources:
        if not source.read_text(encoding="utf-8").startswith(LICENCE):
            print(f"{source.relative_to(ROOT)}: does not begin with '{LICENCE}'")
            status = 1
    found = subprocess.run([options.clang_format, "--version"], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    if int(re.search(r"version (\d+)", found).group(1)) != VERSION:
        print(f"format: layout not checked, it needs clang-format {VERSION}, and this is {found.strip()}")
        return status
    for source in sources:
        laid_out = subprocess.run([options.clang_format, str(source)], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
        before, after = source.read_text(encoding="utf-8").splitlines(), laid_out.splitlines()
        if before != after and options.fix:  # what is laid out already keeps its time, and is not built again
            source.write_text(laid_out, encoding="utf-8")
        elif before != after:
            line = next((i for i, (old, new) in enumerate(zip(before, after), 1) if old != new), min(len(before), len(after)))
            print(f"{source.relative_to(ROOT)}:{line}: not laid out as clang-format does; scripts/check_format.py --fix does it")
            status = 1
    print(f"format: {len(sources)} sources checked")
    return status


sys.exit(main())
