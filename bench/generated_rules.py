# SPDX-License-Identifier: BSL-1.0
"""Generates rules of real size, all different: alternatives, a scalar, a predicate of its own and a right side each."""

OUTER = ["Relu", "Sigmoid", "Tanh", "Softplus", "Exp", "Erf", "Log", "Abs", "Floor", "Ceil"]
BINARY = ["MatMul", "Mul", "Add", "Min", "Max"]
INNER = ["Sin", "Cos", "Sqrt", "Round"]


def rule(i):
    outer = OUTER[i % 10]
    binary = BINARY[i // 10 % 5]
    inner = INNER[i // 50 % 4]
    return f"""
inline constexpr auto rule_{i} =
    fuse::rule<"generated-{i}">(op<"{outer}">(either(op<"{binary}">(op<"{inner}">(x), w) + epsilon, op<"{binary}">(x, op<"{inner}">(w)) * maximum(x, {i + 2}))))
        .where<"condition {i}">(pred<"x", "w">([](auto a, auto b) {{ return a.rank() > {i % 4} && b.type() == a.type(); }}))
        .replace(op<"{outer}">(op<"{binary}">(x, op<"{inner}">(w))));
"""


def header(count):
    rules = "".join(rule(i) for i in range(count))
    sets = "".join(
        f"inline constexpr auto first_{n} = fuse::rule_set<{', '.join(f'rule_{i}' for i in range(n))}>;\n"
        for n in (1, 14, 50, 200) if n <= count
    )
    return f"""#include <fuse/fuse.hpp>

namespace generated {{

using namespace fuse::dsl;

inline constexpr auto x = var<"x">, w = var<"w">, epsilon = scalar<"epsilon">;
{rules}
{sets}
}}  // namespace generated
"""


if __name__ == "__main__":
    import sys

    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("// SPDX-License-Identifier: BSL-1.0\n#pragma once\n\n" + header(int(sys.argv[1])))
