// SPDX-License-Identifier: BSL-1.0
// expect: a rule gives an operator a wrong number of operands
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'D', 'i', 'v'>
// twin: wrong_operand_count_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Div">(x))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
