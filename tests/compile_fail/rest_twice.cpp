// SPDX-License-Identifier: BSL-1.0
// expect: a rest stands once in a rule
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'m', 'o', 'r', 'e'>
// twin: rest_twice_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(tanh(x * rest<"more">) + exp(w * rest<"more">)).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
