// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, w = var<"w">;
constexpr auto right = fuse::rule<"right">(relu(op<"ConvInteger">(op<"Conv">(x, w).as<"m">(), w)))
                           .replace(again<"m", "ConvInteger">(x, w));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<right>(g); }
