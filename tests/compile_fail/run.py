# SPDX-License-Identifier: BSL-1.0
"""Tests that a program does not compile, for the reason that it states, and that its twin compiles.

A program says in comments what is expected of it:
    // expect: WORDS        one line or several; the first error, or the first line that says where it arose, holds the words
    // twin: FILE           the same program without the mistake, in the same folder
"""

import argparse
import pathlib
import re
import subprocess
import sys

LONGEST_OUTPUT = 15
ERROR = re.compile(r"\berror: ")
NOTE = re.compile(r"\bnote: ")
QUOTE = re.compile(r"^ *\d* \|")  # g++ 14 quotes the source below every line that says where an error arose
ORIGIN = re.compile(r"[Ii]n instantiation of|required (from|by|for)|expansion of|in call to")


def directive(source, name):
    return re.findall(rf"^// {name}: (.*\S)", source.read_text(encoding="utf-8"), re.MULTILINE)


def compile_source(compiler, include, source):
    command = [*compiler, "-fsyntax-only", f"-I{include}", source.name]
    return subprocess.run(command, cwd=source.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace", check=False)


def first(pattern, lines):
    return next((line for line in lines if pattern.search(line)), "")


def check_program(compiler, include, source):
    expected, twins = directive(source, "expect"), directive(source, "twin")
    if not expected or len(twins) != 1:
        return f"{source.name} needs lines '// expect: WORDS' and one line '// twin: FILE'"
    result = compile_source(compiler, include, source)
    if result.returncode == 0:
        return f"{source.name} compiles"
    lines = result.stdout.splitlines()
    error = first(ERROR, lines)
    after = lines[lines.index(error):] if error else []
    head = "\n".join([error, first(ORIGIN, lines), first(NOTE, after)])
    for words in expected:
        if words not in head:
            return f"{result.stdout}\nexpected in the first error or its origin: {words}\nfound there:\n{head}"
    if (length := sum(not QUOTE.match(line) for line in lines)) > LONGEST_OUTPUT:
        return f"{result.stdout}\n{length} lines, more than {LONGEST_OUTPUT}"
    result = compile_source(compiler, include, source.parent / twins[0])
    if result.returncode != 0:
        return f"{result.stdout}\nthe twin {twins[0]} does not compile"
    return None


def check_files(folder):
    sources = set(folder.glob("*.cpp"))
    programs = {source for source in sources if directive(source, "expect")}
    twins = {folder / twin for source in programs for twin in directive(source, "twin")}
    if alone := sorted(source.name for source in sources - programs - twins):
        return f"neither a program nor the twin of one: {', '.join(alone)}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="only look for files that no test uses")
    parser.add_argument("--include", help="the folder of the headers")
    parser.add_argument("source", nargs="?", type=pathlib.Path)
    parser.add_argument("compiler", nargs="*", help="the compiler and its flags")
    options = parser.parse_args()
    if options.files:
        sys.exit(check_files(pathlib.Path(__file__).resolve().parent))
    sys.exit(check_program(options.compiler, options.include, options.source.resolve()))


main()
