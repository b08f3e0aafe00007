// SPDX-License-Identifier: BSL-1.0
// expect: the right side of a rule uses a name that the pattern does not bind
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'b', 'i', 'a', 's'>
// twin: unbound_name_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(relu(matmul(x, w))).replace(matmul(x, w) + var<"bias">);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
