// SPDX-License-Identifier: BSL-1.0
// expect: a rule uses one name for two kinds of captures
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: extent_of_another_kind_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(tanh(rearrange<"x b -> b x">(x))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
