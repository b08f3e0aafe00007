// SPDX-License-Identifier: BSL-1.0
// expect: a rule needs a right side
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: no_replacement_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(relu(matmul(x, w)));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
