// SPDX-License-Identifier: BSL-1.0
// expect: rearrange takes names, 1, groups in brackets and ..., on both sides of one ->
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: notation_without_arrow_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(tanh(rearrange<"a b b a">(x))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
