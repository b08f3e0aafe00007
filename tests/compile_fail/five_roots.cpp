// SPDX-License-Identifier: BSL-1.0
// expect: 4 roots
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: five_roots_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(roots(relu(x), tanh(x), abs(x), exp(x), log(x))).replace(x, x, x, x, x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
