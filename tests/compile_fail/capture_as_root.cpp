// SPDX-License-Identifier: BSL-1.0
// expect: the root of a pattern is an operator
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: capture_as_root_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(x).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
