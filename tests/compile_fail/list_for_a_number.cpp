// SPDX-License-Identifier: BSL-1.0
// expect: a rule wants an attribute to be what it cannot hold
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: list_for_a_number_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Softmax">(x).attr<"axis">(list(0, 1)))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
