# SPDX-License-Identifier: BSL-1.0
"""Makes one set of rows of several runs of bench_kernels and peers.py, and tables and a chart of the rows.

    report.py RUN... [--json FILE] [--page FILE] [--chart FILE]

--json  writes the rows: where runs have the same comparison, the median of its ratios.
--page  replaces what stands between the lines that begin with "<!-- kernels" in a page.
--chart draws, as SVG, how long others take for a layer norm.
"""
import argparse
import json
import operator
import pathlib
import re
import statistics

# A loop that reads and writes what a norm does, in its order, and the share of its time that is asked for where a bar asks for less.
LIMIT, SHARE_OF_LIMIT = "reading and writing", 0.85
# The least ratio of each peer that the kernels are to show; "oneDNN 3" is any version of that major number.
BARS = json.loads((pathlib.Path(__file__).parent / "kernel_bars.json").read_text(encoding="utf-8"))
KEY = ("kernel", "type", "variant", "rows", "columns", "compiler", "target", "peer", "peer_version")
CALLS = "microseconds of a framework's call"


def without_calls(context):
    return {name: value for name, value in context.items() if name != CALLS}


def median_calls(contexts):
    """What calls cost, where these contexts know."""
    costs = [context[CALLS] for context in contexts if CALLS in context]
    return {CALLS: {name: statistics.median(cost[name] for cost in costs) for name in costs[0]}} if costs else {}


def merged(runs):
    """Contexts and rows of all runs; of rows about the same comparison, the medians, and the largest spread."""
    same = {}
    for run in runs:
        for row in run["rows"]:
            same.setdefault(tuple(row[name] for name in KEY), []).append(row)
    rows = []
    for group in same.values():
        row = dict(group[0], runs=len(group))
        for name, value in row.items():
            if isinstance(value, float):
                row[name] = (max if name == "spread" else statistics.median)(other[name] for other in group)
        rows.append(row)
    alike = {}
    for context in (context for run in runs for context in run.get("contexts", [run.get("context")])):
        alike.setdefault(json.dumps(without_calls(context)), []).append(context)
    return {"contexts": [dict(group[0], **median_calls(group)) for group in alike.values()], "rows": rows}


def label(row):
    return f"{row['peer']} {row['peer_version']}".strip()


def bar(row):
    """The least ratio that the comparison should show, or None."""
    shape = f"{row['rows']}x{row['columns']}"
    for entry in BARS:
        about = (entry["kernel"], entry.get("type", "float"), entry.get("variant", ""))
        if about == (row["kernel"], row["type"], row["variant"]) and row["compiler"].startswith(entry.get("compiler", "")):
            if row["peer"] == entry["peer"] or label(row).startswith((entry["peer"] + " ", entry["peer"] + ".")):
                least = entry["least"].get(shape)
                limit = row.get("limit")
                if least is not None and limit is not None and row["ratio"] / least < limit:
                    return round(SHARE_OF_LIMIT * row["ratio"] / limit, 2)
                return least
    return None


def limited(rows):
    """These rows, each with `limit`, how long the limit of the same comparison takes, where it is among them."""
    key = operator.itemgetter("kernel", "type", "variant", "rows", "columns", "target")
    limits = {key(row): row["ratio"] for row in rows if row["peer"] == LIMIT}
    return [dict(row, limit=limits.get(key(row))) for row in rows]


def number(value):
    return f"{value:.2f}" if value < 9.95 else f"{value:.0f}"


def cell(row):
    least = bar(row)
    if least is None:
        return number(row["ratio"])
    return f"{number(row['ratio'])} ({least:g})" if row["ratio"] >= least else f"**{number(row['ratio'])}** ({least:g})"


def table(rows, compiler):
    """One table of a kernel, type and variant: a line for each peer, a column for each shape. Names the compiler where it is not `compiler`."""
    shapes = list(dict.fromkeys((row["rows"], row["columns"]) for row in rows))
    lines = {}
    times = {}
    for row in rows:
        shape = row["rows"], row["columns"]
        lines.setdefault(label(row), {})[shape] = cell(row)
        times.setdefault(shape, f"{row['nanoseconds']:.3f}")
    title = f"`{rows[0]['kernel']}`, {rows[0]['type']}" + (f", {rows[0]['variant']}" if rows[0]["variant"] else "")
    title += "" if rows[0]["compiler"] == compiler else f", {rows[0]['compiler']}"
    yield f"| {title} | " + " | ".join(f"{a}x{b}" for a, b in shapes) + " |"
    yield "| --- |" + " --- |" * len(shapes)
    yield "| fuse, ns per element | " + " | ".join(times[shape] for shape in shapes) + " |"
    for name, cells in lines.items():
        yield f"| {name} | " + " | ".join(cells.get(shape, "") for shape in shapes) + " |"
    yield ""


def machine(contexts):
    for context in contexts:
        yield (f"{context['processor']}, {context['cores']} cores, {', '.join(context['caches'])}; {context['compiler']} `{context['flags']}` "
               f"(plain loops and Eigen: `{context['flags of plain loops and Eigen']}`), Highway {context['highway']}, instruction set "
               f"{context['target']}, one thread, {context['repetitions']} interleaved repetitions, {context['time']}.")
        calls = context.get(CALLS)
        if calls:
            yield ("A framework's call costs, for a relu on 1x768, " +
                   ", ".join(f"{name} {value:.1f} us" for name, value in calls.items()) +
                   ": rows of small shapes are about that. `torch.compile` is inductor's compiled loop without a call around it, the "
                   "better one of the framework's operator and its formula; OpenVINO and XLA are 16 kernels in a row, divided by 16.")
        yield ""


def page(report):
    rows = limited(report["rows"])
    judged = [row for row in rows if bar(row) is not None]
    met = sum(row["ratio"] >= bar(row) for row in judged)
    text = [*machine(report["contexts"]),
            "Numbers are the other's time divided by ours: more than 1 is slower than fuse. In brackets the bar; **bold** misses "
            f"it. {met} of {len(judged)} bars are met.", ""]
    groups = {}
    for row in rows:
        groups.setdefault((row["compiler"], row["kernel"], row["type"], row["variant"]), []).append(row)
    for group in groups.values():
        text += table(group, rows[0]["compiler"])
    wrong = [row for row in rows if "error" in row]
    if wrong:
        text += ["| largest error, mean 1e5 deviations away | fuse | other |", "| --- | --- | --- |"]
        text += [f"| {row['kernel']} {row['rows']}x{row['columns']}, {label(row)} | {row['error']:.1e} | {row['peer_error']:.1e} |"
                 for row in wrong]
        text.append("")
    return "\n".join(text)


def replaced(text, tables):
    """`text` with `tables` between its two markers. Raises ValueError where they are missing."""
    pattern = re.compile(r"(<!-- kernels:[^\n]*-->\n).*?(<!-- kernels end -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError("no lines '<!-- kernels: ... -->' and '<!-- kernels end -->'")
    return pattern.sub(lambda found: found[1] + "\n" + tables + found[2], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="+", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--chart", type=pathlib.Path)
    options = parser.parse_args()
    report = merged([json.loads(path.read_text(encoding="utf-8")) for path in options.run])
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if options.page:
        text = options.page.read_text(encoding="utf-8")
        options.page.write_text(replaced(text, page(report)), encoding="utf-8")
    if options.chart:
        import chart
        options.chart.write_text(chart.drawn(report["rows"]), encoding="utf-8")


if __name__ == "__main__":
    main()
