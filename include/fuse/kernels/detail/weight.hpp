// SPDX-License-Identifier: BSL-1.0
#pragma once

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

/// ... and one whose `T`s were widened to floats once for all rows, in the order in which a loop takes them.
template <class T>
struct widened_weight {
  float const* data;
};

}  // namespace fuse::inline v0::kernels::detail
