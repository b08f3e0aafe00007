// SPDX-License-Identifier: BSL-1.0
// expect: every further root uses something that the first one binds
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: unreachable_root_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(roots(relu(tanh(x)), abs(exp(w)))).replace(x, w);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
