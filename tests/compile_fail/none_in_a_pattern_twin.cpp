// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, scales = var<"scales">;
constexpr auto wrong =
    fuse::rule<"wrong">(op<"Resize">(x, optional(var<"roi">), scales)).replace(op<"Resize">(relu(x), none, scales));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
