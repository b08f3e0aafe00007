// SPDX-License-Identifier: BSL-1.0
// expect: a parameter stands in .attr
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'a', 'x', 'e', 's'
// twin: parameter_as_value_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Max">(x, param<"axes">))).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
