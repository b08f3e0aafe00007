// SPDX-License-Identifier: BSL-1.0
// expect: more operands than are data in its dialect
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'S', 'l', 'i', 'c', 'e'>
// twin: parameter_as_operand_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Slice">(x, y, y))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
