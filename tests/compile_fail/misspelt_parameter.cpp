// SPDX-License-Identifier: BSL-1.0
// expect: names an attribute that the operator does not have
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'a', 'x', 'e', 's', 's', ':'
// twin: misspelt_parameter_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"ReduceMax">(x).attr<"axess">(param<"axes">))).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
