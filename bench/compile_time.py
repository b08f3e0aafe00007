# SPDX-License-Identifier: BSL-1.0
"""What rules cost at compile time: seconds, peak memory, and (clang) template instantiations.

    python3 bench/compile_time.py [g++ clang++-14 ...] [--rounds 3]

Each file holds rules of real size (generated_rules.py) and asks for their program; the first only includes fuse.hpp, and the last
two rewrite an owned graph with the norms and with every rule of fuse, which instantiates the engine. Seconds are processor time of
the compiler, the least of the rounds, at -O0.
"""
import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import generated_rules

INCLUDE = Path(__file__).resolve().parent.parent / "include"
COUNTS = (0, 1, 14, 50, 200)
SETS = {"the engine, norms": "norms", "the engine, all rules": "all"}  # the header of rules/, and the set in it


def source(rules):
    if rules == 0:
        return "#include <fuse/fuse.hpp>\n"
    if rules in SETS:
        return (f"#include <fuse/fuse.hpp>\n#include <fuse/rules/{SETS[rules]}.hpp>\n"
                f"std::size_t rewritten(fuse::graph& g) {{ return fuse::rewrite<fuse::rules::{SETS[rules]}>(g).applied(); }}\n")
    return generated_rules.header(rules) + f"static_assert(fuse::program_of<generated::first_{rules}>.code.size() > 0);\n"


def compile_file(compiler, path, *flags):
    """Processor seconds and peak memory in MB of one compilation."""
    command = [compiler, "-std=c++20", "-O0", f"-I{INCLUDE}", *flags, "-c", str(path), "-o", str(path.with_suffix(".o"))]
    with subprocess.Popen(command) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{compiler} does not compile {path}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def instantiations(compiler, path):
    """How many class and function templates clang instantiates; None for other compilers."""
    if "clang" not in Path(compiler).name:
        return None
    compile_file(compiler, path, "-ftime-trace")
    events = json.loads(path.with_suffix(".json").read_text())["traceEvents"]
    return sum(e["args"]["count"] for e in events if e["name"] in ("Total InstantiateFunction", "Total InstantiateClass"))


def measure(compiler, rules, rounds=1):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.cpp"
        path.write_text(source(rules), encoding="utf-8")
        runs = [compile_file(compiler, path) for _ in range(rounds)]
        return min(r[0] for r in runs), max(r[1] for r in runs), instantiations(compiler, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compilers", nargs="*", default=["g++"])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for compiler in given.compilers:
        base = None
        for rules in (*COUNTS, *SETS):
            seconds, memory, made = measure(compiler, rules, given.rounds)
            base = base or (seconds, memory)
            print(
                f"{compiler}, {rules if rules in SETS else f'{rules:3} rules'}: {seconds:.2f} s, {memory:.0f} MB"
                + (f", {made} instantiations" if made is not None else "")
                + (f"; {seconds - base[0]:.2f} s and {memory - base[1]:.0f} MB over the include" if rules else ""),
                flush=True,
            )


if __name__ == "__main__":
    main()
