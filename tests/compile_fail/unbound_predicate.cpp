// SPDX-License-Identifier: BSL-1.0
// expect: a condition names a capture that the pattern does not bind
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'y'>
// twin: unbound_predicate_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong =
    fuse::rule<"wrong">(relu(matmul(x, w))).where<"even">(pred<"y">([](auto) { return true; })).replace(matmul(x, w));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
