// SPDX-License-Identifier: BSL-1.0
// expect: 8 operands and attributes of an operator
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: operands_and_attributes_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Max">(x, x, x, x, y, y, y, y).attr<"axis">(1))).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
