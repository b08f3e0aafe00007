// SPDX-License-Identifier: BSL-1.0
// expect: a rest stands as the last operand
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'m', 'o', 'r', 'e'>
// twin: rest_not_last_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Max">(rest<"more">, x))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
