// SPDX-License-Identifier: BSL-1.0

// Highway's macros for the target that HWY_TARGET names. Not by the toggle, which would show Highway's operations of
// that target a second time.
#ifdef HWY_TARGET_TOGGLE
#define HWY_SET_MACROS_PER_TARGET
#else
#undef HWY_SET_MACROS_PER_TARGET
#endif
#include <hwy/ops/set_macros-inl.h>
