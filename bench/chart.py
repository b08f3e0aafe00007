# SPDX-License-Identifier: BSL-1.0
"""Draws how much longer others take, for a reader who looks at it for three seconds."""
import math
from xml.sax.saxutils import escape

PEERS = [("memcpy", "#b8b8b8"), ("oneDNN", "#2b6cb0"), ("torch.compile", "#dd6b20"), ("torch eager", "#f6ad55"),
         ("onnxruntime", "#805ad5"), ("OpenVINO", "#38a169")]
LEFT, TOP, WIDTH, HEIGHT, GAP = 44, 62, 96, 190, 14
STEPS = [0.25, 0.5, 1, 2, 4, 8, 16]


def newest(rows, peer):
    """The row of each shape, of the newest version where a peer has several."""
    found = {}
    for row in rows:
        shape = row["rows"], row["columns"]
        if row["peer"] == peer:
            def version(one):
                return [int(part) for part in one["peer_version"].split("+")[0].split(".") if part.isdigit()]
            if shape not in found or version(row) > version(found[shape]):
                found[shape] = row
    return found


def height_of(ratio):
    """Pixels from the top of the scale; what is beyond it is cut."""
    low, high = math.log(STEPS[0]), math.log(STEPS[-1])
    part = (min(max(math.log(ratio), low), high) - low) / (high - low)
    return TOP + HEIGHT * (1 - part)


def text(x, y, words, size=11, anchor="middle", colour="#333"):
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def drawn(rows, kernel="layer_norm"):
    """SVG of the rows about a kernel on floats."""
    rows = [row for row in rows if (row["kernel"], row["type"], row["variant"]) == (kernel, "float", "")]
    shapes = list(dict.fromkeys((row["rows"], row["columns"]) for row in rows))
    peers = [(peer, colour, newest(rows, peer)) for peer, colour in PEERS]
    peers = [one for one in peers if one[2]]
    width, height = LEFT + len(shapes) * (WIDTH + GAP), TOP + HEIGHT + 46
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             text(10, 20, f"Time of others for a {kernel} of floats, fuse = 1, one thread", 14, "start", "#111")]
    x = 10
    for peer, colour, found in peers:
        name = " ".join([peer, sorted(row["peer_version"].split("+")[0] for row in found.values())[-1]]).strip()
        parts += [f'<rect x="{x}" y="33" width="10" height="10" fill="{colour}"/>', text(x + 14, 42, name, 11, "start")]
        x += 29 + round(5.6 * len(name))
    for step in STEPS:
        y = height_of(step)
        parts += [f'<line x1="{LEFT}" x2="{width - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="{"#111" if step == 1 else "#ddd"}"/>',
                  text(LEFT - 6, y + 4, f"{step:g}", 11, "end")]
    bar = WIDTH / len(peers) if peers else WIDTH
    for column, shape in enumerate(shapes):
        start = LEFT + GAP / 2 + column * (WIDTH + GAP)
        for place, (peer, colour, found) in enumerate(peers):
            if shape not in found:
                continue
            ratio, left = found[shape]["ratio"], start + place * bar
            y, one = height_of(ratio), height_of(1)
            parts.append(f'<rect x="{left:.1f}" y="{min(y, one):.1f}" width="{bar - 2:.1f}" height="{max(abs(y - one), 1):.1f}" '
                         f'fill="{colour}"><title>{escape(peer)} {ratio:.2f}</title></rect>')
            if ratio > STEPS[-1]:
                parts.append(text(left + bar / 2, TOP - 3, f"{ratio:.0f}", 9))
        parts.append(text(start + WIDTH / 2, TOP + HEIGHT + 18, f"{shape[0]} x {shape[1]}"))
    parts.append(text(LEFT, TOP + HEIGHT + 38, "Above the black line: slower than fuse. Logarithmic.", 11, "start", "#666"))
    return "\n".join(parts) + "\n</svg>\n"
