// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/own_kernel.hpp>

#include <cstddef>

#define FUSE_REWRITE_KERNELS_INCLUDE "own_kernel/softmax-inl.hpp"
#include <fuse/kernels/foreach_target.hpp>

namespace own {
namespace fk = fuse::kernels;

template <class X, class Y>
struct softmax_call {
  X const* x;
  Y* y;
  std::size_t columns, x_stride, y_stride;
  std::size_t begin = 0, end = 0;
};

inline namespace FUSE_REWRITE_ISA {
using softmax_targets = FUSE_REWRITE_KERNELS_TARGETS(softmax_rows);
}

/// `y = exp(x) / sum(exp(x))`, over each row. `y` has the rows and columns of `x`, and is `x` or shares no memory with
/// it. Unless the result is ok, nothing was read or written.
template <class X, class Y, class Executor = fk::calling_thread, class Targets = softmax_targets>
fk::status softmax(fk::matrix_view<X> x, fk::matrix_view<Y> y, fk::on<Executor> how = {}) {
  fk::argument_check check("softmax");
  check.matrix("x", fk::matrix_view<X const>(x.data, x.rows, x.columns, x.row_stride));
  check.same_shape("y", y, "x", x);
  check.matrix("y", y);
  fk::status const checked = check.finish_in_place();
  if (!checked.ok()) return checked;

  softmax_call<std::remove_const_t<X>, Y> const call{x.data, y.data, x.columns, x.row_stride, y.row_stride};
  fk::dispatch_rows<Targets>(how, call, x.rows, x.columns * (sizeof(X) + sizeof(Y)));
  return {};
}

}  // namespace own
