# SPDX-License-Identifier: BSL-1.0
"""check.py NM OBJECT OBJECT: what both objects, compiled for different machines, define in fuse::kernels is no code."""

import re
import subprocess
import sys

# A weak function in fuse::kernels, or one of the standard library made for its types.
SYMBOL = re.compile(r"^\S* +W (.*fuse::v0::kernels::.*)$", re.MULTILINE)


def symbols(nm, path):
    listing = subprocess.run([nm, "-C", "--defined-only", path], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    return set(SYMBOL.findall(listing))


def main(nm, first, second):
    one, other = symbols(nm, first), symbols(nm, second)
    shared = sorted(one & other)
    print(f"{len(one)} and {len(other)} symbols, shared:", *shared or ["none"], sep="\n  ")
    return 0 if one and other and not shared else 1


sys.exit(main(*sys.argv[1:]))
