// SPDX-License-Identifier: BSL-1.0
// expect: either stands on a right side for the whole of it
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: either_in_a_replacement_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">;
constexpr auto wrong = fuse::rule<"wrong">(relu(tanh(x))).replace(abs(either(tanh(x), relu(x))));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
