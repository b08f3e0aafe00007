// SPDX-License-Identifier: BSL-1.0

// What the pages of the language's elements speak of.
#include <fuse/fuse.hpp>

using namespace fuse::dsl;

constexpr auto a = var<"a">, b = var<"b">, w = var<"w">, x = var<"x">, i = var<"i">, t = var<"t">;
constexpr auto scale = var<"scale">, bias = var<"bias">, variance = var<"variance">;
constexpr auto first = var<"first">, second = var<"second">, normalised = var<"normalised">;
constexpr auto epsilon = scalar<"epsilon">;
constexpr auto pattern = relu(x), right_side = x;
constexpr auto begun = fuse::rule<"begun">(pattern);

namespace page {
// <code>
}  // namespace page
