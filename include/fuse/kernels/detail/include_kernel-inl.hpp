// SPDX-License-Identifier: BSL-1.0

// The kernel for the target that HWY_TARGET names.
#include <fuse/kernels/detail/set_target-inl.hpp>

#ifdef FUSE_REWRITE_KERNELS_INCLUDE
#include FUSE_REWRITE_KERNELS_INCLUDE
#endif
