// SPDX-License-Identifier: BSL-1.0
// expect: 8 operands and attributes of an operator of its pattern
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: many_operands_in_a_pattern_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(op<"Max">(x, y, x, y, x, y, x, y, x)).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
