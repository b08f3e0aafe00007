#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes single_include/fuse/fuse.hpp: fuse.hpp with all that it includes, in one file, to paste or to copy.

    scripts/amalgamate.py            writes it
    scripts/amalgamate.py --check    fails where it is not what would be written
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = ROOT / "single_include" / "fuse" / "fuse.hpp"
INCLUDE = re.compile(r"#include <(.*)>\n")
# What the headers say about themselves in whole lines stays in them; so do empty lines beside it.
COMMENT = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
EMPTY_LINES = re.compile(r"\n{3,}")

HEAD = """\
// SPDX-License-Identifier: BSL-1.0
// fuse {version}, all of <fuse/fuse.hpp> in one file. Made by scripts/amalgamate.py; documentation stands in the headers it is made of.
#pragma once

"""


def version():
    text = (ROOT / "include/fuse/core/version.hpp").read_text(encoding="utf-8")
    return ".".join(re.findall(r"#define FUSE_REWRITE_VERSION_[A-Z]+ (\d+)", text))


def amalgamated():
    standard, parts, seen = set(), [], set()

    def add(name):
        if name in seen:
            return
        seen.add(name)
        kept = []
        for line in (ROOT / "include" / name).read_text(encoding="utf-8").splitlines(keepends=True):
            include = INCLUDE.fullmatch(line)
            if include and include[1].startswith("fuse/"):
                add(include[1])
            elif include:
                standard.add(include[1])
            elif line.lstrip().startswith("#include"):
                sys.exit(f"amalgamate: {name}: expected '#include <NAME>', found '{line.strip()}'")
            elif line != "#pragma once\n":
                kept.append(line)
        parts.append(COMMENT.sub("", "".join(kept)).strip("\n"))

    add("fuse/fuse.hpp")
    includes = "".join(f"#include <{name}>\n" for name in sorted(standard))
    code = "\n\n".join(part for part in parts if part)
    return HEAD.format(version=version()) + includes + "\n" + EMPTY_LINES.sub("\n\n", code) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the file is not current")
    parser.add_argument("--output", type=pathlib.Path, default=RESULT, help="write there")
    options = parser.parse_args()
    made, output = amalgamated(), options.output
    if not options.check:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(made, encoding="utf-8")
    elif not output.is_file() or output.read_text(encoding="utf-8") != made:
        sys.exit(f"amalgamate: {output} is not current; scripts/amalgamate.py writes it")
    print(f"amalgamate: {len(made.splitlines())} lines, {len(made) // 1000} kB, {'current' if options.check else 'written'}")


if __name__ == "__main__":
    main()
