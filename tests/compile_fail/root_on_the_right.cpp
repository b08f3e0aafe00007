// SPDX-License-Identifier: BSL-1.0
// expect: the right side of a rule uses the name of what it replaces
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'m'>
// twin: root_on_the_right_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">, m = var<"m">;
constexpr auto wrong = fuse::rule<"wrong">(matmul(x, y).as<"m">()).replace(relu(m));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
