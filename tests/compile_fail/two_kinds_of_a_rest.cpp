// SPDX-License-Identifier: BSL-1.0
// expect: a rule uses one name for two kinds of captures
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'m', 'o', 'r', 'e'>
// twin: two_kinds_of_a_rest_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(tanh(relu(x) * rest<"more">) - exp(abs(y) + rest<"more">)).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
