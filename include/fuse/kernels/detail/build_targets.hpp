// SPDX-License-Identifier: BSL-1.0
#pragma once

// Highway and what all kernels share, once for each target of this build. Highway's own foreach_target.h does so only
// where highway.h was not included before, so the compiler's own target comes first here, the others follow, and the
// macros are left as highway.h alone leaves them.
#include <fuse/kernels/detail/isa.hpp>

#include <hwy/highway.h>

// What compilers may do to arithmetic then changes with the code around it: a row's bits would not be those of the row.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "the kernels need arithmetic as written: without -ffast-math and its parts, or compiled so by separate.hpp"
#endif

/// The targets of this build, as Highway's bits.
#ifdef FUSE_REWRITE_KERNELS_STATIC
#define FUSE_REWRITE_KERNELS_MASK HWY_STATIC_TARGET
#if HWY_ARCH_X86 && HWY_STATIC_TARGET >= HWY_EMU128 && !defined(HWY_COMPILE_ONLY_SCALAR) && \
    !defined(HWY_COMPILE_ONLY_EMU128)
#error "FUSE_REWRITE_KERNELS_STATIC without a flag such as -march=native would give kernels without vector instructions"
#endif
#else
#define FUSE_REWRITE_KERNELS_MASK HWY_TARGETS
#endif

#ifdef HIGHWAY_HWY_FOREACH_TARGET_H_
#if HWY_TARGETS != HWY_STATIC_TARGET && !defined(FUSE_REWRITE_KERNELS_FOREACH)
#error \
    "a source that runs foreach_target.h itself includes <fuse/kernels/kernels-inl.hpp> where each target is compiled"
#endif
#else
#include <fuse/kernels/kernels-inl.hpp>

#define FUSE_REWRITE_KERNELS_STEP <fuse/kernels/detail/next_target-inl.hpp>
#include <fuse/kernels/detail/each_target-inl.hpp>
#undef FUSE_REWRITE_KERNELS_STEP
#include <fuse/kernels/detail/set_target-inl.hpp>
#endif
