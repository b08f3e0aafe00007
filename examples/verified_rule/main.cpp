// SPDX-License-Identifier: BSL-1.0

// A rule that looks right, the graph on which a machine finds it wrong, and the rule as it should be.

#include <iostream>

#include <fuse/fuse.hpp>
#include <fuse/verify.hpp>

namespace sample {

using namespace fuse::dsl;

constexpr auto x = var<"x">, scale = var<"scale">;
constexpr auto epsilon = scalar<"epsilon">;
constexpr auto norm = x / sqrt(mean(x * x) + epsilon) * scale;

inline constexpr auto forgetful = fuse::rule<"forgetful">(norm)
                                      .where(trailing_axes<"axes">, row_vector<"scale", "x">)
                                      .replace(op<"RMSNormalization">(x, scale).attr<"axis">(param<"axes">));

inline constexpr auto mended =
    fuse::rule<"mended">(norm)
        .where(trailing_axes<"axes">, row_vector<"scale", "x">, float32_epsilon<"epsilon">)
        .replace(op<"RMSNormalization">(x, scale).attr<"axis">(param<"axes">).attr<"epsilon">(epsilon));

}  // namespace sample

int main() {
  std::cout << fuse::verify<sample::forgetful>() << '\n';
  std::cout << fuse::verify<sample::mended>();
}
