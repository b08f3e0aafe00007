// SPDX-License-Identifier: BSL-1.0
#pragma once

#ifdef FUSE_REWRITE_KERNELS_SEPARATE
#include <fuse/kernels/detail/separate_dispatch.hpp>
/// What runs a kernel: the class `name` of each target, or what separate.hpp compiles for `calls`.
#define FUSE_REWRITE_KERNELS_COMPILED(name, calls) separately_compiled<calls>
#else
#include <fuse/kernels/detail/selection.hpp>
#define FUSE_REWRITE_KERNELS_COMPILED(name, calls) FUSE_REWRITE_KERNELS_TARGETS(name)
#endif

#include <span>
#include <string_view>

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {
#ifdef FUSE_REWRITE_KERNELS_SEPARATE
using selected = separate_targets;
#else
using selected = build_targets;
#endif
}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA

namespace fuse::inline v0::kernels {

/// The instruction set that the kernels use, by Highway's name of it ("AVX3", "SCALAR").
template <class Targets = detail::selected>
[[nodiscard]] std::string_view target_name() {
  return detail::selection<Targets>::name();
}

/// All instruction sets that this source was compiled for and this machine runs, best first.
template <class Targets = detail::selected>
[[nodiscard]] std::span<std::string_view const> target_names() {
  return detail::selection<Targets>::names();
}

/// Makes kernels called from now on use one of `target_names()`, in all threads; false where it is none of them. Meant
/// for tests and measurements: the best one is chosen without it.
template <class Targets = detail::selected>
bool use_target(std::string_view name) {
  return detail::selection<Targets>::use(name);
}

}  // namespace fuse::inline v0::kernels
