// SPDX-License-Identifier: BSL-1.0
#pragma once

// Programs with norms in them, as people write them.

#include <cstdint>
#include <string_view>
#include <vector>

struct program {
  std::string_view name;
  char const* source;
  std::vector<std::int64_t> columns;  ///< of the parameters scale and bias
};

inline program const programs[] = {
    {"layer norms around a gate",
     R"(
def norm(self, x):
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).pow(2).mean(-1, keepdim=True)
    return self.scale * (x - mean) / torch.sqrt(variance + 1e-12) + self.bias

def forward(self, x):
    return self.norm(x + torch.relu(self.norm(x) * self.gate))
)",
     {64}},
    {"RMS norms around a gate",
     R"(
def norm(self, x):
    return x * torch.rsqrt(x.pow(2).mean(-1, True) + 1e-6) * self.scale

def forward(self, x):
    return self.norm(x + torch.silu(self.norm(x) * self.gate))
)",
     {64}},
    {"a norm in a loop, and one in a branch",
     R"(
def forward(self, x):
    y = x
    for i in range(x.size(1) // 4):
        d = x - x.mean([-1], True)
        z = d * ((d * d).mean([-1], True) + 1e-5).rsqrt() * self.scale + self.bias
        if i == 1:
            z = self.scale * z / (z.square().mean(-1, True) + 1e-5).sqrt()
        y = y + z
    return y
)",
     {64}},
    {"over the last two axes",
     R"(
def forward(self, x):
    d = x - torch.mean(x, [1, 2], True)
    return d / torch.sqrt(torch.mean(d ** 2, [1, 2], True) + 1e-5) * self.scale
)",
     {16, 64}},
    {"written in place",
     R"(
def forward(self, x):
    d = x - x.mean(-1, True)
    d /= torch.sqrt((d * d).mean(-1, True) + 1e-5)
    d.mul_(self.scale)
    return d + self.bias
)",
     {64}},
    {"no norm: divided by another variance",
     R"(
def forward(self, x):
    d = x - x.mean(-1, True)
    return d / torch.sqrt((x * x).mean(-1, True) + 1e-5) * self.scale + self.bias
)",
     {64}},
};
