# SPDX-License-Identifier: BSL-1.0
"""Tables and a chart of what bench/measure.py measured.

    measure_page.py JSON [--page FILE] [--chart FILE]

makes them anew of what --json of measure.py wrote.
"""
import argparse
import json
import pathlib
import re
import statistics

import chart

OURS = ("fuse", "fuse --clean")
COLOURS = {"onnxruntime": "#b8b8b8", "transformers.optimizer": "#805ad5", "onnxscript": "#f6ad55", "onnxscript for onnxruntime": "#dd6b20",
           "onnxsim": "#38a169", "fuse": "#90cdf4", "fuse --clean": "#2b6cb0"}
NOISE = 0.03  # a smaller part of a latency is no difference


def verdict(row):
    """A few words on a candidate's result: right, wrong, wrong on other inputs than the model's own, or how it failed."""
    found = row["outcome"]
    for failed in (row["optimised"].get("failed"), found.get("failed")):
        if failed:
            return failed
    told = found["default"]
    if "fails" in told:
        return "does not run"
    if "wrong" in told or told["excess"][0] > 1:
        return "wrong"
    return "right" if max(told["excess"]) <= 1 else "wrong on other inputs"


def error(row):
    """How far outputs are from the original's, as a cell."""
    word = verdict(row)
    if word != "right" and not word.startswith("wrong"):
        return f"**{word}**"
    told = row["outcome"]["default"]
    size = f"{max(told['error']):.0e}" if "error" in told else "another shape or type"
    return size if word == "right" else f"**{word}**, {size}"


def number(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def seconds_to_optimise(row):
    if row["name"] == "onnxruntime":
        told = row["outcome"]
        if "session seconds" in told.get("off", {}) and "session seconds" in told.get("default", {}):
            return number(max(0.0, told["default"]["session seconds"] - told["off"]["session seconds"]))
        return ""
    if "processor seconds" not in row["optimised"]:
        return ""
    passes = row["optimised"].get("seconds of passes")
    return number(row["optimised"]["processor seconds"]) + (f" ({number(passes)})" if passes is not None else "")


def wins(row, rows, read):
    """Whether no candidate has less, within what is noise."""
    values = [read(other) for other in rows if read(other) is not None]
    return read(row) is not None and read(row) <= min(values) * (1 + NOISE)


def nodes_run(row):
    return row["outcome"].get("run", {}).get("nodes")


def ratio(row, threads):
    return row.get("latency", {}).get(threads, {}).get("ratio")


def between(row, other, threads):
    """The quartiles of how many times as long a row takes as another one in the same turn."""
    mine, its = (one["latency"][threads]["turns"] for one in (row, other))
    quotients = [a / b for a, b in zip(mine, its)]
    return statistics.quantiles(quotients if len(quotients) > 1 else quotients * 2, n=4)


def threads_of(model):
    return sorted({threads for row in model["candidates"] for threads in row.get("latency", {})}, key=int)


def table_of(model):
    rows, threads = model["candidates"], threads_of(model)
    yield "| | error | nodes in the file | nodes run | " + " | ".join(f"ms, {t} thread{'s' if t != '1' else ''}" for t in threads) + " | s to optimise |"
    yield "| --- |" + " --- |" * (4 + len(threads))
    for row in rows:
        name = row["name"] + (f" ({row['setting'].replace(' ', ', level ', 1).replace(' raw_mask', ', raw mask')})" if row["setting"] else "")
        cells = [error(row), str(row["outcome"].get("file", {}).get("nodes", ""))]
        nodes = nodes_run(row)
        cells.append("" if nodes is None else f"**{nodes}**" if wins(row, rows, nodes_run) else str(nodes))
        for t in threads:
            told = row.get("latency", {}).get(t)
            cell = f"{number(told['milliseconds'])} ({told['ratio']:.2f})" if told else ""
            cells.append(f"**{cell}**" if told and wins(row, rows, lambda other: ratio(other, t)) else cell)
        yield f"| {name} | " + " | ".join([*cells, seconds_to_optimise(row)]) + " |"
    yield ""
    names = list(dict.fromkeys(name for row in rows for place in ("file", "run") for name in row["outcome"].get(place, {}).get("fused", {})))
    if not names:
        return
    yield "| fused operators, in the file and as run | " + " | ".join(row["name"] for row in rows) + " |"
    yield "| --- |" + " --- |" * len(rows)
    for name in names:
        cells = []
        for row in rows:
            file, run = (row["outcome"].get(place, {}).get("fused", {}).get(name, 0) for place in ("file", "run"))
            cells.append("" if file == run == 0 else str(run) if file == run else f"{file}, {run}")
        yield f"| {name} | " + " | ".join(cells) + " |"
    yield ""


def summary(models):
    """One line for each model."""
    names = list(dict.fromkeys(row["name"] for model in models for row in model["candidates"]))
    yield "| | nodes | " + " | ".join(names) + " |"
    yield "| --- |" + " --- |" * (1 + len(names))
    for model in models:
        rows = {row["name"]: row for row in model["candidates"]}
        cells = []
        for name in names:
            row = rows.get(name)
            if row is None:
                cells.append("")
            elif verdict(row) != "right":
                cells.append(error(row))
            else:
                share = ratio(row, "1")
                cells.append(str(nodes_run(row)) + (f", {share:.2f}" if share else ""))
        yield f"| {model['name']} | {model['nodes']} | " + " | ".join(cells) + " |"
    yield ""


def ours(model):
    """The better of our rows: right, and of these the faster one, or the one with fewer nodes where no time was taken."""
    rows = [row for row in model["candidates"] if row["name"] in OURS and verdict(row) == "right"]
    return min(rows, key=lambda row: (ratio(row, "1") or 0, nodes_run(row)), default=None)


def losses(models):
    """What others do better than fuse, worst first, as rows of a table."""
    found = []
    for model in models:
        best = ours(model)
        if "failed" in model["candidates"][0]["outcome"]:
            continue
        if best is None:
            found.append((9, model["name"], "", "fuse's result is not right"))
            continue
        for row in model["candidates"]:
            if row["name"] in OURS or verdict(row) != "right":
                continue
            for t in threads_of(model):
                low, share, _ = between(best, row, t)
                if low > 1 + NOISE:
                    found.append((share, model["name"], row["name"], f"{share:.2f} times as long, {t} thread{'s' if t != '1' else ''}"))
            if nodes_run(row) < nodes_run(best):
                found.append((nodes_run(best) / nodes_run(row) / 100, model["name"], row["name"], f"{nodes_run(best)} nodes run instead of {nodes_run(row)}"))
    return sorted(found, key=lambda one: (-one[0], one[1:]))


def prevented(models):
    """Of each model the fused operators that onnxruntime makes of the original by itself, and that fuse's result has fewer of when it runs."""
    for model in models:
        first, best = model["candidates"][0], ours(model)
        if best is None or "run" not in first["outcome"]:
            continue
        before, after = first["outcome"]["run"]["fused"], best["outcome"]["run"]["fused"]
        fewer = [f"{name} {count} to {after.get(name, 0)}" for name, count in before.items() if after.get(name, 0) < count]
        more = [f"{name} {before.get(name, 0)} to {count}" for name, count in after.items() if before.get(name, 0) < count]
        if fewer:
            yield f"| {model['name']} | {', '.join(fewer)} | {', '.join(more)} |"


def costs(rows):
    whole = next((row["microseconds"] for row in rows if "microseconds" in row), None)
    if whole:
        yield (f"Primitives as onnxruntime runs them at its default level, and what fuse makes of them, one thread. A size is a number of tokens, of "
               f"768 elements, or 3072 for activations, unless the case says otherwise. A call of a session that does next to nothing takes "
               f"{number(whole)} us; it is part of all times.")
        yield ""
    yield "| operator of fuse | of | size | nodes run without fuse | us | fuse, us | fuse / without |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for row in rows:
        if "microseconds" in row:
            continue
        begin = f"| `{row['operator']}` | {row['what']} | {row['shape']} |"
        if "problem" in row:
            yield f"{begin} | | {row['problem']} | |"
            continue
        share = f"{row['ratio']:.2f}"
        yield (f"{begin} {row['made']} | {number(row['primitives microseconds'])} | {number(row['fused microseconds'])} | "
               f"{f'**{share}**' if row['ratio'] > 1 + NOISE else share} |")
    yield ""


def page(report):
    """The tables."""
    context, models = report["context"], report["models"]
    versions = ", ".join(f"{name} {version}" for name, version in context["versions"].items())
    text = [f"{context['processor']}, {context['cores']} cores, {'AVX-512' if context['avx512'] else 'no AVX-512'}; {versions}; medians of {context['processes']} times {context['repetitions']} turns.", ""]
    large = [model for model in models if model["real size"]]
    small = [model for model in models if not model["real size"]]
    for model in large:
        text += [f"### {model['name']}", "", f"{model['nodes']} nodes, {model['bytes'] / 1e6:.0f} MB.", "", *table_of(model)]
    if small:
        text += ["### Small models", "", *summary(small)]
    found = losses(models)
    text += ["### Losses", ""]
    if found:
        text += ["| model | against | fuse's result |", "| --- | --- | --- |", *(f"| {model} | {peer} | {what} |" for _, model, peer, what in found), ""]
    else:
        text += ["None.", ""]
    gone = list(prevented(models))
    if gone:
        text += ["### What onnxruntime fuses itself", "", "| model | fewer in fuse's result as run | more |", "| --- | --- | --- |", *gone, ""]
    if report["operators"]:
        text += ["### Cost of operators", "", *costs(report["operators"])]
    return "\n".join(text)


def replaced(text, report):
    """A page's text with the tables between its two markers. Raises ValueError where they are missing."""
    pattern = re.compile(r"(<!-- measure:[^\n]*-->\n).*?(<!-- measure end -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError("no lines '<!-- measure: ... -->' and '<!-- measure end -->'")
    return pattern.sub(lambda found: found[1] + "\n" + page(report) + "\n" + found[2], text)


def drawn(report, threads="1"):
    """SVG: the latency of each candidate's result on the models of real size, onnxruntime's own being 1."""
    models = [model for model in report["models"] if model["real size"]] or report["models"]
    names = [name for name in COLOURS if any(row["name"] == name and ratio(row, threads) for model in models for row in model["candidates"])]
    width_of_bar, gap, left, top, height = 22, 26, 44, 66, 190
    group = width_of_bar * len(names)
    width, least, most = max(left + len(models) * (group + gap), 700), 0.8, 1.2
    whole = top + height + 46
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {whole}" font-family="sans-serif">',
             f'<rect width="{width}" height="{whole}" fill="white"/>',
             chart.text(10, 20, "Latency in onnxruntime after each optimiser, none = 1, one thread", 14, "start", "#111")]
    x = 10
    for name in names:
        parts += [f'<rect x="{x}" y="33" width="10" height="10" fill="{COLOURS[name]}"/>', chart.text(x + 14, 42, name, 10, "start")]
        x += 26 + round(5.2 * len(name))

    def y_of(value):
        return top + height * (most - min(max(value, least), most)) / (most - least)

    for step in (0.8, 0.9, 1, 1.1, 1.2):
        y = y_of(step)
        parts += [f'<line x1="{left}" x2="{width - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="{"#111" if step == 1 else "#ddd"}"/>',
                  chart.text(left - 6, y + 4, f"{step:g}", 11, "end")]
    for column, model in enumerate(models):
        start = left + gap / 2 + column * (group + gap)
        for row in model["candidates"]:
            share, place = ratio(row, threads), names.index(row["name"]) if row["name"] in names else None
            if place is None:
                continue
            x = start + place * width_of_bar
            if share is None:
                parts.append(chart.text(x + width_of_bar / 2, y_of(1) - 4, "x", 11, colour="#c53030"))
                continue
            y, one = y_of(share), y_of(1)
            parts += [f'<rect x="{x:.1f}" y="{min(y, one):.1f}" width="{width_of_bar - 2}" height="{max(abs(y - one), 1):.1f}" '
                      f'fill="{COLOURS[row["name"]]}"><title>{row["name"]} {share:.2f}</title></rect>',
                      chart.text(x + width_of_bar / 2 - 1, y - 3 if share >= 1 else y + 10, f"{share:.2f}", 8)]
        parts.append(chart.text(start + group / 2, top + height + 18, model["name"]))
    parts.append(chart.text(left, top + height + 38, "Below the black line: faster than without an optimiser. x: wrong, or does not run. Bars end at 0.8 and 1.2.", 11, "start", "#666"))
    return "\n".join(parts) + "\n</svg>\n"


def make(report, page_path, chart_path):
    """The tables in a page and the chart, each where a path is given; printed tables where no page is."""
    if page_path:
        page_path.write_text(replaced(page_path.read_text(encoding="utf-8"), report), encoding="utf-8")
    else:
        print(page(report))
    if chart_path:
        chart_path.write_text(drawn(report), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--chart", type=pathlib.Path)
    options = parser.parse_args()
    make(json.loads(options.report.read_text(encoding="utf-8")), options.page, options.chart)


if __name__ == "__main__":
    main()
