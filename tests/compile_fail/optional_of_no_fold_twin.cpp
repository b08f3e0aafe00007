// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, b = var<"b">;
constexpr auto wrong = fuse::rule<"wrong">(relu(x + optional(b))).replace(x + optional(fold(-b)));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
