// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace fuse::inline v0::kernels::detail {

/// A scale or bias as the kernels see it; whether there is one is part of the type.
struct no_weight {};
template <class T>
struct weight {
  T const* data;
};
template <class T>
struct one_plus_weight {
  T const* data;
};

/// ... and where the same code has one or none: column i of it is at `data + (i & columns)`; `columns` is 0 where there
/// is none, and its elements then change nothing.
template <class T>
struct optional_weight {
  T const* data;
  std::ptrdiff_t columns;
};

/// ... and one that was widened to floats once for all rows, in the order in which a loop takes them.
struct widened_weight {
  float const* data;
};

}  // namespace fuse::inline v0::kernels::detail
