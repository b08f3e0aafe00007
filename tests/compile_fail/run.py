# SPDX-License-Identifier: BSL-1.0
"""Tests that a program does not compile, for the reason that it states, or, if it states none, that it compiles.

A program says in comments what is expected of it:
    // expect: WORDS        one line or several; the first error, or the first line that says where it arose, holds the words
    // twin: FILE           the same program without the mistake, in the same folder, which states no reason
"""

import argparse
import pathlib
import re
import subprocess
import sys

LONGEST_OUTPUT = 10  # lines, without the source that compilers quote below some of them
HEADER = "#include <fuse/fuse.hpp>"
INCLUDE = re.compile(r"^#include ")
ERROR = re.compile(r"\berror: ")
NOTE = re.compile(r"\bnote: ")
ORIGIN = re.compile(r"[Ii]n instantiation of|required (from|by|for)|expansion of|in call to")


def directive(source, name):
    return re.findall(rf"^// {name}: (.*\S)", source.read_text(encoding="utf-8"), re.MULTILINE)


def is_clang(compiler):
    version = subprocess.run([compiler[0], "--version"], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return "clang" in version.stdout


def precompile(compiler, include, folder):
    """Makes the header that most of these programs begin with, and that takes most of their time."""
    header = folder / "fuse" / "fuse.hpp.gch"
    header.parent.mkdir(parents=True, exist_ok=True)
    # No warnings: a compiler has one for "#pragma once" in what it is asked to compile. What the header instantiates is instantiated here.
    once = ["-fpch-instantiate-templates"] if is_clang(compiler) else []
    subprocess.run([*compiler, "-w", *once, f"-I{include}", "-x", "c++-header", f"{include}/fuse/fuse.hpp", "-o", header],
                   check=True)


def precompiled(compiler, folder, text):
    header = folder / "fuse" / "fuse.hpp.gch"
    if first(INCLUDE, text.splitlines()) != HEADER:
        return []
    return ["-include-pch", header] if is_clang(compiler) else [f"-I{folder}"]


def compile_text(compiler, options, text):
    unquoted = "-fno-caret-diagnostics" if is_clang(compiler) else "-fno-diagnostics-show-caret"
    command = [*compiler, "-fsyntax-only", unquoted, *precompiled(compiler, options.precompiled, text), f"-I{options.include}",
               "-x", "c++", "-"]
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
                          check=False)


def named(source):
    return f'#line 1 "{source.name}"\n{source.read_text(encoding="utf-8")}'


def together(sources):
    """One program of several that include nothing but the header: each in a namespace of its own."""
    wrapped = [f"namespace {source.stem} {{\n{named(source).replace(HEADER, '')}}}\n" for source in sources]
    return "\n".join([HEADER, *wrapped])


def first(pattern, lines):
    return next((line for line in lines if pattern.search(line)), "")


def check_programs(compiler, options, sources):
    result = compile_text(compiler, options, together(sources))
    return None if result.returncode == 0 else f"{result.stdout}\nnot all of them compile"


def check_program(compiler, options, source):
    expected = directive(source, "expect")
    result = compile_text(compiler, options, named(source))
    if not expected:
        return None if result.returncode == 0 else f"{result.stdout}\n{source.name} does not compile"
    if result.returncode == 0:
        return f"{source.name} compiles"
    lines = result.stdout.splitlines()
    error = first(ERROR, lines)
    after = lines[lines.index(error):] if error else []
    head = "\n".join([error, first(ORIGIN, lines), first(NOTE, after)])
    for words in expected:
        if words not in head:
            return f"{result.stdout}\nexpected in the first error or its origin: {words}\nfound there:\n{head}"
    if len(lines) > LONGEST_OUTPUT:
        return f"{result.stdout}\n{len(lines)} lines, more than {LONGEST_OUTPUT}"
    return None


def check_files(folder):
    sources = set(folder.glob("*.cpp"))
    programs = {source for source in sources if directive(source, "expect")}
    twins = {folder / twin for source in programs for twin in directive(source, "twin")}
    if lonely := sorted(source.name for source in programs if len(directive(source, "twin")) != 1):
        return f"each needs one line '// twin: FILE': {', '.join(lonely)}"
    if missing := sorted(twin.name for twin in twins - (sources - programs)):
        return f"no twin that compiles: {', '.join(missing)}"
    if alone := sorted(source.name for source in sources - programs - twins):
        return f"neither a program nor the twin of one: {', '.join(alone)}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="only look for files that no test uses")
    parser.add_argument("--precompile", action="store_true", help="only make the precompiled header")
    parser.add_argument("--precompiled", type=pathlib.Path, help="the folder of the precompiled header")
    parser.add_argument("--include", help="the folder of the headers")
    parser.add_argument("--source", type=pathlib.Path, nargs="+", help="one, or several that compile and include nothing but fuse.hpp")
    parser.add_argument("compiler", nargs="*", help="the compiler and its flags")
    options = parser.parse_args()
    if options.files:
        sys.exit(check_files(pathlib.Path(__file__).resolve().parent))
    if options.precompile:
        sys.exit(precompile(options.compiler, options.include, options.precompiled))
    if len(options.source) > 1:
        sys.exit(check_programs(options.compiler, options, options.source))
    sys.exit(check_program(options.compiler, options, options.source[0]))


main()
