// SPDX-License-Identifier: BSL-1.0
// expect: none in the place of an operand that an operator may lack
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: none_in_a_sum_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(tanh(x + none)).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
