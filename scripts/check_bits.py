#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles tests/kernels_bits with both compilers and with flags that leave compilers different freedom, for this machine and,
under qemu-user, for aarch64, and runs it: every row has the same bits in all of them."""

import concurrent.futures
import itertools
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tests" / "kernels_bits"
# Nothing optimised, most, everything; a product and a sum made one operation as the compiler likes, nowhere, and wherever it sees them.
FLAGS = [["-O0"], ["-O2", "-ffp-contract=off"], ["-O3", "-ffp-contract=fast"]]
# Of what has no fused multiply-add, only what the compiler may use anyway, and nothing that this machine does not run; all of it once.
CPU = pathlib.Path("/proc/cpuinfo")
HAS_AVX512 = not CPU.exists() or "avx512vl" in CPU.read_text(encoding="utf-8")
FEWER = f"-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4{'' if HAS_AVX512 else '|HWY_AVX3|(HWY_AVX3-1)'})"
AARCH64 = "aarch64-linux-gnu-g++"


def builds():
    """Those that take longest first, so that no processor is idle at the end."""
    yield ["g++", "-O2", "-DHWY_COMPILE_ALL_ATTAINABLE", "-DHWY_WANT_AVX3_DL"], []
    if shutil.which(AARCH64) and shutil.which("qemu-aarch64"):
        # Highway's headers are the same for all machines; others of this one come after the compiler's own.
        yield [AARCH64, "-O2", "-static", "-idirafter", "/usr/include"], ["qemu-aarch64"]
    else:
        print(f"check_bits: without {AARCH64} and qemu-aarch64, NEON is left out", file=sys.stderr)
    compilers = [name for name in ("g++", "clang++") if shutil.which(name)]
    for flags, compiler in itertools.product(reversed(FLAGS), compilers):
        yield [compiler, *flags, FEWER], []


def check(command, emulator, program):
    started = time.monotonic()
    compiled = [*command, "-std=c++20", f"-I{ROOT / 'include'}", f"-I{ROOT / 'tests'}", str(PROGRAM / "main.cpp"), "-o", str(program)]
    effort = ["quick"] if "-O0" in command else []
    for step in (compiled, [*emulator, str(program), str(PROGRAM / "checksums.txt"), *effort]):
        done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
        if done.returncode != 0:
            return False, f"{' '.join(command)}\n{done.stdout}"
    return True, f"{' '.join(command)}: {', '.join(done.stdout.split(chr(10))[:-1])} ({time.monotonic() - started:.0f} s)"


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(check, *build, pathlib.Path(folder) / str(number)) for number, build in enumerate(builds())]
        for job in concurrent.futures.as_completed(jobs):
            is_good, said = job.result()
            passed, failed = passed + is_good, failed + (not is_good)
            print("passed" if is_good else "FAILED", said, flush=True)
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


sys.exit(main())
