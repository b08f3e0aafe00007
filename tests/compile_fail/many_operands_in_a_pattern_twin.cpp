// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

namespace {
constexpr auto x = var<"x">, y = var<"y">;
constexpr auto wrong = fuse::rule<"wrong">(op<"Max">(x, y)).replace(relu(op<"Max">(x, y, x, y, x, y, x, y, x)));
}  // namespace

fuse::rewrite_report use(fuse::graph& g) { return fuse::rewrite<wrong>(g); }
