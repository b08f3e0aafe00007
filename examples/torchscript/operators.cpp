// SPDX-License-Identifier: BSL-1.0

// fuse::layer_norm and fuse::rms_norm, operators of TorchScript that run the kernels of fuse on libtorch's threads.
// Kernels are float; other types, and tensors that are not in memory of the CPU, have no such operators.

#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/library.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace {

using optional_tensor = c10::optional<at::Tensor>;

// Calls `run(x, y, how)` on all rows of x from `axis` on.
template <class Run>
at::Tensor by_rows(at::Tensor const& given, std::int64_t axis, Run const& run) {
  TORCH_CHECK(given.scalar_type() == c10::kFloat, "fuse: x must have elements of type float");
  auto const x = given.contiguous();
  auto const from = axis < 0 ? axis + x.dim() : axis;
  TORCH_CHECK(0 <= from && from < x.dim(), "fuse: x has no axis ", axis);
  auto const columns =
      static_cast<std::size_t>(c10::multiply_integers(x.sizes().slice(static_cast<std::size_t>(from))));
  auto const rows = columns == 0 ? 0 : static_cast<std::size_t>(x.numel()) / columns;
  auto y = at::empty_like(x);
  auto threads = [](std::size_t count, std::size_t grain, auto const& body) {
    at::parallel_for(0, static_cast<std::int64_t>(count), static_cast<std::int64_t>(grain),
                     [&](std::int64_t begin, std::int64_t end) {
                       body(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
                     });
  };
  auto const done = run(fuse::kernels::matrix_view(std::as_const(x).data_ptr<float>(), rows, columns),
                        fuse::kernels::matrix_view(y.data_ptr<float>(), rows, columns), fuse::kernels::on(threads));
  TORCH_CHECK(done.ok(), "fuse: ", done.message());
  return y;
}

// The one row that a scale or bias is, over all columns; `held` keeps its memory.
std::span<float const> row(at::Tensor const& given, std::size_t columns, at::Tensor& held) {
  TORCH_CHECK(given.scalar_type() == c10::kFloat, "fuse: a scale or bias must have elements of type float");
  held = given.reshape({-1});
  if (held.numel() == 1) held = held.expand({static_cast<std::int64_t>(columns)});
  held = held.contiguous();
  return {held.data_ptr<float>(), static_cast<std::size_t>(held.numel())};
}

// Calls `run(row)` with a row or none.
template <class Run>
fuse::kernels::status with(optional_tensor const& given, std::size_t columns, Run const& run) {
  if (!given) return run(fuse::kernels::none);
  at::Tensor held;
  return run(row(*given, columns, held));
}

at::Tensor layer_norm(at::Tensor const& x, optional_tensor const& scale, optional_tensor const& bias, std::int64_t axis,
                      double epsilon) {
  return by_rows(x, axis, [&](auto in, auto out, auto const& how) {
    return with(scale, in.columns, [&](auto s) {
      return with(bias, in.columns, [&](auto b) {
        return fuse::kernels::layer_norm(in, s, b, out, static_cast<float>(epsilon), {}, how);
      });
    });
  });
}

at::Tensor rms_norm(at::Tensor const& x, optional_tensor const& scale, std::int64_t axis, double epsilon) {
  return by_rows(x, axis, [&](auto in, auto out, auto const& how) {
    return with(scale, in.columns,
                [&](auto s) { return fuse::kernels::rms_norm(in, s, out, static_cast<float>(epsilon), {}, how); });
  });
}

}  // namespace

TORCH_LIBRARY(fuse, library) {
  library.def("layer_norm(Tensor x, Tensor? scale, Tensor? bias, int axis, float epsilon) -> Tensor");
  library.def("rms_norm(Tensor x, Tensor? scale, int axis, float epsilon) -> Tensor");
}

TORCH_LIBRARY_IMPL(fuse, CPU, library) {
  library.impl("layer_norm", layer_norm);
  library.impl("rms_norm", rms_norm);
}
