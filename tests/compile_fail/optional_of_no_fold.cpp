// SPDX-License-Identifier: BSL-1.0
// expect: on the right side optional stands around a fold
// expect: quoted<'w', 'r', 'o', 'n', 'g'>
// twin: optional_of_no_fold_twin.cpp
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, b = var<"b">;
constexpr auto wrong = fuse::rule<"wrong">(relu(x + optional(b))).replace(x + optional(-b));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
