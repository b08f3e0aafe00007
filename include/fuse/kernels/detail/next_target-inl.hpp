// SPDX-License-Identifier: BSL-1.0

// Highway and what all kernels share, for the target that HWY_TARGET names: the toggle makes everything that is guarded
// by it visible again.
#ifdef HWY_TARGET_TOGGLE
#undef HWY_TARGET_TOGGLE
#else
#define HWY_TARGET_TOGGLE
#endif
#include <fuse/kernels/kernels-inl.hpp>
