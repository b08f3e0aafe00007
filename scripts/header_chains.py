#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes sources that show that every header compiles alone: scripts/header_chains.py FOLDER

A header sees what it includes, and what stands before it. In a chain each header is among what the next one includes, directly or
not, so what stands before it is there anyway, as if it stood alone; and what the headers of a chain share is compiled once. The chains
are the fewest that hold all headers (Dilworth's theorem, by a matching of each header to the next one: Fulkerson, 1956).

What ends in -inl is compiled again by those who include it, and kernels/separate.hpp comes before all kernels: chains of their own.
A chain stands in FOLDER/COMPONENT/N.cpp, where COMPONENT (fuse, onnx, boost_graph, hana, kernels) is that of its last header.
"""

import pathlib
import shutil
import sys

from check_layers import ROOT, read_includes

COMPONENTS = {"adapters/onnx": "onnx", "adapters/boost_graph": "boost_graph", "adapters/hana_struct": "hana", "kernel": "kernels",
              "run_group": "kernels"}


def component_of(header):
    return next((name for start, name in COMPONENTS.items() if header.startswith(f"fuse/{start}")), "fuse")


def is_apart(header):
    return header.endswith("-inl.hpp") or header == "fuse/kernels/separate.hpp"


def reached_from(header, direct, known):
    if header not in known:
        known[header] = set(direct[header]).union(*(reached_from(name, direct, known) for name in direct[header]))
    return known[header]


def chains_of(headers, reached):
    before = {}  # of each header the one that stands before it

    def finds_next(header, tried):
        for later in headers:
            if header in reached[later] and not is_apart(later) and later not in tried:
                tried.add(later)
                if later not in before or finds_next(before[later], tried):
                    before[later] = header
                    return True
        return False

    for header in headers:
        if not is_apart(header):
            finds_next(header, set())
    for last in set(headers) - set(before.values()):
        chain = [last]
        while chain[-1] in before:
            chain.append(before[chain[-1]])
        yield chain[::-1]


def main():
    folder = pathlib.Path(sys.argv[1])
    headers = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.hpp"))
    direct = {header: read_includes(header)[0] for header in headers}
    known = {}
    chains = sorted(chains_of(headers, {header: reached_from(header, direct, known) for header in headers}))
    shutil.rmtree(folder, ignore_errors=True)
    for number, chain in enumerate(chains):
        source = folder / component_of(chain[-1]) / f"{number}.cpp"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("".join(f"#include <{header}>\n" for header in chain), encoding="utf-8")
    print(f"{len(headers)} headers in {len(chains)} chains")


if __name__ == "__main__":
    main()
