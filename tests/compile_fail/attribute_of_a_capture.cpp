// SPDX-License-Identifier: BSL-1.0
// expect: .attr stands behind an operator
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'x'>
// twin: attribute_of_a_capture_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Max">(x, x.attr<"axis">(1)))).replace(op<"Max">(x, y));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
