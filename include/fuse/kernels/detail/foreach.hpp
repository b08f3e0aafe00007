// SPDX-License-Identifier: BSL-1.0
#pragma once

// Compiles kernels-inl.hpp once for each target that this build can reach. Highway's own foreach_target.h does so only
// where highway.h was not included before, so the compiler's own target comes first here, the others follow, and the
// macros are left as highway.h alone leaves them.
#include <fuse/kernels/detail/isa.hpp>

#include <hwy/highway.h>

#ifdef HIGHWAY_HWY_FOREACH_TARGET_H_
#if HWY_TARGETS != HWY_STATIC_TARGET && !defined(FUSE_REWRITE_KERNELS_FOREACH)
#error \
    "a source that runs foreach_target.h itself includes <fuse/kernels/kernels-inl.hpp> where each target is compiled"
#endif
#else
#include <fuse/kernels/kernels-inl.hpp>

// Elsewhere than on x86 the compiler's own target is the only one.
#if HWY_ARCH_X86 && HWY_TARGETS != HWY_STATIC_TARGET

#if (HWY_TARGETS & HWY_SCALAR) && HWY_STATIC_TARGET != HWY_SCALAR
#undef HWY_TARGET
#define HWY_TARGET HWY_SCALAR
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif
#if (HWY_TARGETS & HWY_EMU128) && HWY_STATIC_TARGET != HWY_EMU128
#undef HWY_TARGET
#define HWY_TARGET HWY_EMU128
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif
#if (HWY_TARGETS & HWY_SSE2) && HWY_STATIC_TARGET != HWY_SSE2
#undef HWY_TARGET
#define HWY_TARGET HWY_SSE2
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif
#if (HWY_TARGETS & HWY_SSSE3) && HWY_STATIC_TARGET != HWY_SSSE3
#undef HWY_TARGET
#define HWY_TARGET HWY_SSSE3
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif
#if (HWY_TARGETS & HWY_SSE4) && HWY_STATIC_TARGET != HWY_SSE4
#undef HWY_TARGET
#define HWY_TARGET HWY_SSE4
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif
#if (HWY_TARGETS & HWY_AVX2) && HWY_STATIC_TARGET != HWY_AVX2
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX2
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif
#if (HWY_TARGETS & HWY_AVX3) && HWY_STATIC_TARGET != HWY_AVX3
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif
#if (HWY_TARGETS & HWY_AVX3_DL) && HWY_STATIC_TARGET != HWY_AVX3_DL
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3_DL
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif
#if (HWY_TARGETS & HWY_AVX3_ZEN4) && HWY_STATIC_TARGET != HWY_AVX3_ZEN4
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3_ZEN4
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif
#if (HWY_TARGETS & HWY_AVX3_SPR) && HWY_STATIC_TARGET != HWY_AVX3_SPR
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3_SPR
#include <fuse/kernels/detail/next_target-inl.hpp>
#endif

#undef HWY_TARGET
#define HWY_TARGET HWY_STATIC_TARGET
// Not the toggle, which would show the operations of that target a second time: the macros alone.
#ifdef HWY_TARGET_TOGGLE
#define HWY_SET_MACROS_PER_TARGET
#else
#undef HWY_SET_MACROS_PER_TARGET
#endif
#include <hwy/ops/set_macros-inl.h>

#endif
#endif
