// SPDX-License-Identifier: BSL-1.0
// expect: groups in brackets
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: notation_in_open_brackets_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(tanh(rearrange<"a (b c -> a b c">(x))).replace(x);
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
