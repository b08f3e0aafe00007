// SPDX-License-Identifier: BSL-1.0
// expect: a rule gives an operator a wrong number of operands
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'L', 'a', 'y', 'e', 'r', 'N', 'o', 'r', 'm', 'a', 'l', 'i', 'z', 'a', 't', 'i', 'o', 'n'>
// twin: wrong_operand_count_on_the_right_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(relu(matmul(x, w))).replace(op<"LayerNormalization">(x, w, x, w));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
