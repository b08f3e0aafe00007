#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes modules for ./torchscript to load, with norms spelled out as people write them.

    export.py [--hidden 16] FOLDER      encoder.pt, traced; decoder.pt, compiled

Takes PyTorch; the two files in models/ are what it writes by default.
"""

import argparse
import io
import pathlib
import zipfile

import torch


class LayerNorm(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(hidden) + 0.5)
        self.bias = torch.nn.Parameter(torch.randn(hidden))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        deviation = torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-12)
        return self.scale * (centred / deviation) + self.bias


class RMSNorm(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(hidden) + 0.5)

    def forward(self, x):
        return self.scale * (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6))


class Encoder(torch.nn.Module):
    """One layer of BERT's kind: attention of two heads and a feed-forward part, each with a norm behind its residual."""

    def __init__(self, hidden):
        super().__init__()
        self.query, self.key, self.value, self.out = (torch.nn.Linear(hidden, hidden) for _ in range(4))
        self.up, self.down = torch.nn.Linear(hidden, 2 * hidden), torch.nn.Linear(2 * hidden, hidden)
        self.norms = torch.nn.ModuleList([LayerNorm(hidden), LayerNorm(hidden)])

    def forward(self, x):
        query, key, value = (
            part(x).view(x.shape[0], x.shape[1], 2, -1).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        weights = torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, -1)
        x = self.norms[0](x + self.out((weights @ value).transpose(1, 2).flatten(2)))
        return self.norms[1](x + self.down(torch.relu(self.up(x))))


class FeedForward(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gate, self.up = (torch.nn.Linear(hidden, 2 * hidden, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(2 * hidden, hidden, bias=False)
        self.norm = RMSNorm(hidden)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(torch.nn.functional.silu(self.gate(y)) * self.up(y))


class Decoder(torch.nn.Module):
    """Two feed-forward layers of Llama's kind, each with a norm in front."""

    def __init__(self, hidden):
        super().__init__()
        self.layers = torch.nn.ModuleList([FeedForward(hidden), FeedForward(hidden)])
        self.norm = RMSNorm(hidden)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


def save(module, path):
    """Without the lines of the sources that it was made of: they name folders of whoever made it."""
    made = io.BytesIO()
    torch.jit.save(module, made)
    with zipfile.ZipFile(made) as whole, zipfile.ZipFile(path, "w") as kept:
        for part in whole.infolist():
            if not part.filename.endswith(".debug_pkl"):
                kept.writestr(zipfile.ZipInfo(part.filename), whole.read(part))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    encoder, decoder = Encoder(options.hidden).eval(), Decoder(options.hidden).eval()
    with torch.no_grad():
        save(torch.jit.trace(encoder, torch.randn(2, 8, options.hidden)), options.folder / "encoder.pt")
    save(torch.jit.script(decoder), options.folder / "decoder.pt")


if __name__ == "__main__":
    main()
