// SPDX-License-Identifier: BSL-1.0
// expect: a name that not every branch of an either binds
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'x'>
// twin: name_of_one_branch_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(either(tanh(x), sigmoid(y))).replace(op<"Max">(x, y));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
