// SPDX-License-Identifier: BSL-1.0
// expect: all of the left stand on the right
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: notation_that_drops_an_axis_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(tanh(rearrange<"a b -> b">(x))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
