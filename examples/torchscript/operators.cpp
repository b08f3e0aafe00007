// SPDX-License-Identifier: BSL-1.0

// fuse::layer_norm and fuse::rms_norm, operators of TorchScript that run the kernels of fuse on libtorch's threads.
// Halves are computed in float, as libtorch would; doubles, for which there are no kernels, by libtorch itself.

#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

// First, or libstdc++ under clang has vectors of an incomplete type in libtorch's headers.
#include <torch/library.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace {

using optional_tensor = c10::optional<at::Tensor>;

// The first of the normalised axes, from the front.
std::int64_t first_axis(at::Tensor const& x, std::int64_t axis) {
  auto const from = axis < 0 ? axis + x.dim() : axis;
  TORCH_CHECK(0 <= from && from < x.dim(), "fuse: x has no axis ", axis);
  return from;
}

// Calls `run(x, y, how)` on all rows of x from `axis` on.
template <class Run>
at::Tensor by_rows(at::Tensor const& given, std::int64_t axis, Run const& run) {
  TORCH_CHECK(given.is_floating_point(), "fuse: x must have elements of a floating type");
  auto const x = given.to(c10::kFloat).contiguous();
  auto const from = static_cast<std::size_t>(first_axis(x, axis));
  if (x.numel() == 0) return at::empty_like(given);
  auto const columns = static_cast<std::size_t>(c10::multiply_integers(x.sizes().slice(from)));
  auto const rows = static_cast<std::size_t>(x.numel()) / columns;
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
  return y.to(given.scalar_type());
}

// The one row that a scale or bias is, over all columns; `held` keeps its memory.
std::span<float const> row(at::Tensor const& given, std::size_t columns, at::Tensor& held) {
  held = given.to(c10::kFloat).reshape({-1});
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

at::Tensor scaled(at::Tensor const& y, optional_tensor const& scale) { return scale ? y * *scale : y; }

at::Tensor layer_norm(at::Tensor const& x, optional_tensor const& scale, optional_tensor const& bias, std::int64_t axis,
                      double epsilon) {
  if (x.scalar_type() == c10::kDouble) {
    auto const shape = x.sizes().slice(static_cast<std::size_t>(first_axis(x, axis)));
    auto const y = scaled(at::layer_norm(x, shape, {}, {}, epsilon), scale);
    return bias ? y + *bias : y;
  }
  return by_rows(x, axis, [&](auto in, auto out, auto const& how) {
    return with(scale, in.columns, [&](auto s) {
      return with(bias, in.columns, [&](auto b) {
        return fuse::kernels::layer_norm(in, s, b, out, static_cast<float>(epsilon), {}, how);
      });
    });
  });
}

at::Tensor rms_norm(at::Tensor const& x, optional_tensor const& scale, std::int64_t axis, double epsilon) {
  if (x.scalar_type() == c10::kDouble) {
    std::vector<std::int64_t> axes;
    for (auto at = first_axis(x, axis); at < x.dim(); ++at) axes.push_back(at);
    return scaled(x * (x.square().mean(axes, true) + epsilon).rsqrt(), scale);
  }
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
