// SPDX-License-Identifier: BSL-1.0

// Kernels made of expressions: a formula of our own, and one that a bundled rule matches.
#include <fuse/dsl/dsl.hpp>
#include <fuse/fuse.hpp>
#include <fuse/kernelgen.hpp>
#include <fuse/rules/norm_formulas.hpp>

#include <cstdio>
#include <vector>

namespace gated {
using namespace fuse::dsl;

constexpr auto x = var<"x">, gate = var<"gate">;
constexpr auto gated_rms_norm = x * rsqrt(mean(square(x)) + scalar<"epsilon">) * gate * sigmoid(gate);

// What the rule for layer norms looks for.
constexpr auto layer_norm = fuse::rules::formula::normalised * fuse::rules::formula::scale;

}  // namespace gated

int main() {
  using fuse::arg;
  using fuse::kernels::matrix_view;
  std::vector<float> x{1, 2, 3, 4, -1, 0, 1, 8}, gate{0, 1, 2, 3, 3, 2, 1, 0}, scale{1, 1, 2, 2}, y(8);
  matrix_view const rows(x.data(), 2, 4), gates(gate.data(), 2, 4), result(y.data(), 2, 4);
  auto const print = [&](char const* name, fuse::kernels::status const& done) {
    std::printf("%-15s", name);
    for (float const element : y) std::printf(" %6.3f", static_cast<double>(element));
    std::printf("%s\n", done.message().c_str());
  };

  auto const done =
      fuse::kernel<gated::gated_rms_norm>(result, arg<"x">(rows), arg<"gate">(gates), arg<"epsilon">(1e-5f));
  print("gated RMS norm", done);
  print("layer norm", fuse::kernel<gated::layer_norm>(result, arg<"x">(rows), arg<"scale">(scale)));

  scale.pop_back();
  std::printf("%s\n", fuse::kernel<gated::layer_norm>(result, arg<"x">(rows), arg<"scale">(scale)).message().c_str());
}
