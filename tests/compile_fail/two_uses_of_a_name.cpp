// SPDX-License-Identifier: BSL-1.0
// expect: a rule uses one name for two kinds of captures
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'x'>
// twin: two_uses_of_a_name_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Max">(x, scalar<"x">))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
