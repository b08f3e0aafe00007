// SPDX-License-Identifier: BSL-1.0
// expect: again stands for an operator of the pattern
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'m'>
// twin: again_of_no_operator_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(relu(either(tanh(x), exp(x)).as<"m">())).replace(again<"m">(x));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
