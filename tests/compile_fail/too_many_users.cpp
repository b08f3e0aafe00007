// SPDX-License-Identifier: BSL-1.0
// expect: .users takes a number from 0 to 65535
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: too_many_users_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Max">(x, y).users(70000))).replace(op<"Max">(x, y));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
