// SPDX-License-Identifier: BSL-1.0
// expect: .exact stands behind fold; nothing else is rounded
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: exact_of_no_fold_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(relu(x + y)).replace(tanh(x).exact());
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
