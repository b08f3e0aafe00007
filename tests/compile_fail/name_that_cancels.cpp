// SPDX-License-Identifier: BSL-1.0
// expect: a sum or product takes back what it adds or multiplies
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'y'>
// twin: name_that_cancels_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(x / y * y)).replace(relu(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
