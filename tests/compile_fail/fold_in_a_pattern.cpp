// SPDX-License-Identifier: BSL-1.0
// expect: fold, row, dim, or_else, again and what is computed stand on the right side
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: fold_in_a_pattern_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(fold(tanh(x)))).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
