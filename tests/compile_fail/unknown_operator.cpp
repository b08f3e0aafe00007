// SPDX-License-Identifier: BSL-1.0
// expect: a rule names an operator that the dialect does not know
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// expect: quoted<'G', 'a', 'm', 'm', 'a'>
// twin: unknown_operator_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto wrong = fuse::rule<"wrong">(relu(op<"Gamma">(x, w))).replace(matmul(x, w));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
