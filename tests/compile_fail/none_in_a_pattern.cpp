// SPDX-License-Identifier: BSL-1.0
// expect: or_else, none and what is computed stand on the right side
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: none_in_a_pattern_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, scales = var<"scales">;
constexpr auto wrong = fuse::rule<"wrong">(op<"Resize">(x, none, scales)).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
