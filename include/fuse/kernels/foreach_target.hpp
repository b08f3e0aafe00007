// SPDX-License-Identifier: BSL-1.0

// Compiles the file that FUSE_REWRITE_KERNELS_INCLUDE names once for each target of this build, as often as there are
// such files: a kernel's header does so with its `-inl.hpp`, and so does one of yours.
#include <fuse/kernels/detail/selection.hpp>

#define FUSE_REWRITE_KERNELS_STEP <fuse/kernels/detail/include_kernel-inl.hpp>
#include <fuse/kernels/detail/each_target-inl.hpp>
#include FUSE_REWRITE_KERNELS_STEP
#undef FUSE_REWRITE_KERNELS_STEP
#undef FUSE_REWRITE_KERNELS_INCLUDE
