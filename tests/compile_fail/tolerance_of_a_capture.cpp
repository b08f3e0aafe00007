// SPDX-License-Identifier: BSL-1.0
// expect: .within stands behind a number
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'y'>
// twin: tolerance_of_a_capture_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Max">(x, y.within(0.1)))).replace(op<"Max">(x, x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
