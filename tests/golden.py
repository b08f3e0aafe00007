# SPDX-License-Identifier: BSL-1.0
"""Runs PROGRAM and compares what it prints with the file GOLDEN, whose first line may be "$ ARGUMENTS"."""

import difflib
import shlex
import subprocess
import sys

program, golden = sys.argv[1:]
with open(golden, encoding="utf-8") as file:
    expected = file.read()
arguments = []
if expected.startswith("$ "):
    first, _, expected = expected.partition("\n")
    arguments = shlex.split(first[2:])

result = subprocess.run([program, *arguments], stdout=subprocess.PIPE, encoding="utf-8", check=False, timeout=60)
if result.returncode != 0:
    sys.exit(f"{program} ended with status {result.returncode}")
if result.stdout != expected:
    lines = difflib.unified_diff(expected.splitlines(), result.stdout.splitlines(), golden, "printed", lineterm="")
    print(*lines, sep="\n")
    sys.exit(1)
