#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks the includes of the headers: they go downwards, in no cycle, and fuse.hpp reaches the standard library only, but for one
header that gives the system a hint. What they declare lies in the inline namespace of the major version."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include"

# From the bottom up. Folders of one line may include each other, in one direction.
LAYERS = [
    ["core"],
    ["graph"],
    ["ops"],
    ["infer", "eval"],
    ["dsl"],
    ["program"],
    ["match"],
    ["rewrite"],
    ["rules", "verify"],
    ["partition", "kernelgen"],
    ["", "testing", "draw"],
    ["adapters"],
]
# Folders beside the tower: they include themselves and these, and nothing in the tower includes them but the bridge.
ISLANDS = {"kernels": ["core"]}
BRIDGES = {"kernelgen": "kernels"}
# What has a header of its own, and costs those who include fuse.hpp nothing.
APART = {"partition", "kernelgen", "verify", "testing", "draw"}
RANK = {folder: rank for rank, folders in enumerate(LAYERS) for folder in folders}

# Standard headers that are dear to compile; what fuse.hpp reaches does without them.
DEAR = {"ranges", "functional", "iostream", "chrono", "regex", "format", "algorithm", "cmath", "unordered_map", "unordered_set", "deque",
        "iterator"}
NAMESPACE = re.compile(r"^\s*(?:inline\s+)?namespace\s+fuse\b[^{;=]*", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# A standard header has no folder and no suffix.
STANDARD = re.compile(r"^[a-z0-9_]+$")
# Asks for large pages, where the system is Linux.
HINT = "fuse/core/large_pages.hpp", "sys/mman.h"


def folder_of(header):
    parts = pathlib.PurePosixPath(header).parts
    return parts[1] if len(parts) > 2 else ""


def read_includes(header):
    """The fuse headers that this one includes, and the names of all others."""
    inside, outside = [], []
    for quote, name in INCLUDE.findall((ROOT / header).read_text(encoding="utf-8")):
        beside = (ROOT / header).parent / name
        if quote == '"' and beside.is_file():
            inside.append(beside.resolve().relative_to(ROOT).as_posix())
        elif name.startswith("fuse/"):
            inside.append(name)
        else:
            outside.append(name)
    return inside, outside


def reach(start, graph):
    seen, todo = set(), [start]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo.extend(graph.get(at, ()))
    return seen


def find_cycle(graph):
    """A list of nodes that leads back to its first, or None."""
    done = set()
    for start in graph:
        path, stack = [], [(start, iter(graph[start]))]
        if start in done:
            continue
        path.append(start)
        while stack:
            node, following = stack[-1]
            step = next((n for n in following if n not in done), None)
            if step is None:
                done.add(node)
                stack.pop()
                path.pop()
            elif step in path:
                return path[path.index(step):] + [step]
            else:
                path.append(step)
                stack.append((step, iter(graph.get(step, ()))))
    return None


def versioned_namespace():
    text = (ROOT / "fuse/core/version.hpp").read_text(encoding="utf-8")
    return "namespace fuse::inline v" + re.search(r"#define FUSE_REWRITE_VERSION_MAJOR (\d+)", text).group(1)


def main():
    namespace = versioned_namespace()
    headers = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "fuse").rglob("*.hpp"))
    includes, foreign, problems = {}, {}, []
    for header in headers:
        includes[header], foreign[header] = read_includes(header)
        for opened in NAMESPACE.findall((ROOT / header).read_text(encoding="utf-8")):
            if not re.match(re.escape(namespace) + r"\b", opened.strip()):
                problems.append(f"{header}: opens '{opened.strip()}' instead of '{namespace}'")
        folder = folder_of(header)
        if folder not in RANK and folder not in ISLANDS:
            problems.append(f"{header}: the folder '{folder}' has no layer in {pathlib.Path(__file__).name}")
            continue
        for name in includes[header]:
            if not (ROOT / name).is_file():
                problems.append(f"{header}: includes {name}, which does not exist")
            elif folder_of(name) == folder:
                pass
            elif folder in ISLANDS:
                if folder_of(name) not in ISLANDS[folder]:
                    problems.append(f"{header}: includes {name}, and {folder}/ stands by itself")
            elif folder_of(name) in ISLANDS and BRIDGES.get(folder) != folder_of(name):
                problems.append(f"{header}: includes {name}, and {folder_of(name)}/ stands by itself")
            elif RANK.get(folder_of(name), 0) > RANK[folder]:
                problems.append(f"{header}: includes {name}, which is a layer above it")
            elif folder_of(name) == "" and folder != "" and folder != "adapters":
                problems.append(f"{header}: includes {name}, which collects layers")

    folders = {}
    for header, names in includes.items():
        below = folders.setdefault(folder_of(header), [])
        below.extend(f for f in map(folder_of, names) if f != folder_of(header) and f not in below)
    for what, graph in (("headers", includes), ("folders", folders)):
        if cycle := find_cycle(graph):
            problems.append(f"a cycle of {what}: {' -> '.join(cycle)}")

    for header in sorted(reach("fuse/fuse.hpp", includes) & set(headers)):
        if folder_of(header) in APART:
            problems.append(f"{header}: fuse.hpp reaches it, and {folder_of(header)}/ has a header of its own")
        for name in foreign[header]:
            if not STANDARD.match(name) and (header, name) != HINT:
                problems.append(f"{header}: fuse.hpp reaches <{name}>, which is no part of the standard library")
            elif name in DEAR:
                problems.append(f"{header}: fuse.hpp reaches <{name}>, which is dear to compile")

    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"layers: {len(headers)} headers, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
