// SPDX-License-Identifier: BSL-1.0

// One formula: where it is found in a model, how it is proven, what replaces it, and the kernel that runs it.

#include <fuse/adapters/onnx.hpp>
#include <fuse/fuse.hpp>
#include <fuse/kernelgen.hpp>
#include <fuse/rewrite/check.hpp>
#include <fuse/verify.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <vector>

namespace one {
using namespace fuse::dsl;

// The formula.
constexpr auto x = var<"x">, scale = var<"scale">;
constexpr auto epsilon = scalar<"epsilon">;
constexpr auto rms_norm = x * rsqrt(mean(square(x)) + epsilon) * scale;

// What it becomes.
inline constexpr auto rule =
    fuse::rule<"rms-norm">(rms_norm)
        .through<"cast", "identity">()
        .where(trailing_axes<"axes">, row_vector<"scale", "x">, float32_epsilon<"epsilon">)
        .replace(op<"RMSNormalization">(x, scale).attr<"axis">(param<"axes">).attr<"epsilon">(epsilon));

}  // namespace one

int main(int argc, char** argv) {
  // Where it is found: in a model as PyTorch exports it.
  fuse::adapters::onnx_file file;
  if (!file.read(argc > 1 ? argv[1] : "tests/models/llama-op14.onnx")) {
    std::cerr << "one_formula: " << file.error() << '\n';
    return 1;
  }
  fuse::adapters::onnx_graph model(file.model(), file.folder());
  using traits = fuse::graph_traits<fuse::adapters::onnx_graph>;
  std::cout << "found:\n";
  for (auto const& match : fuse::match_all<one::rule>(model))
    std::cout << "  " << traits::name(model, match.get<"x">()) << " with epsilon " << match.number<"epsilon">() << '\n';

  // How it is proven: on graphs that are drawn from the formula, and on such that are nearly it.
  std::cout << "proven:\n  " << fuse::verify<one::rule>();

  // What replaces it. Both sides are computed on random numbers before each rewrite.
  auto const report =
      fuse::rewrite<one::rule>(model, {.target = fuse::target::onnxruntime, .check = &fuse::check_by_evaluation<>});
  std::cout << "replaced:\n  " << to_text(report);

  // The kernel that runs it, beside the formula in double precision.
  constexpr std::size_t rows = 2, columns = 5;
  std::vector<float> const x{1, 2, 3, 4, 5, -1, 0, 1, 0, 8}, scale{1, 1, 2, 2, 1};
  std::vector<float> y(rows * columns);
  auto const done = fuse::kernel<one::rms_norm>(fuse::kernels::matrix_view(y.data(), rows, columns),
                                                fuse::arg<"x">(fuse::kernels::matrix_view(x.data(), rows, columns)),
                                                fuse::arg<"scale">(scale), fuse::arg<"epsilon">(1e-6f));
  double off = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (std::size_t c = 0; c < columns; ++c) squares += std::pow(double{x[r * columns + c]}, 2);
    for (std::size_t c = 0; c < columns; ++c) {
      double const right = x[r * columns + c] / std::sqrt(squares / columns + 1e-6) * scale[c];
      off = std::max(off, std::abs(y[r * columns + c] - right));
    }
  }
  std::cout << "run:\n  " << (!done.ok() ? done.message() : off < 1e-6 ? "right to six digits" : "wrong") << '\n';
}
