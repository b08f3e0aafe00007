// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What all kernels of row programs share, for each target.
#include <fuse/kernels/own_kernel.hpp>

#define FUSE_REWRITE_KERNELS_INCLUDE <fuse/kernelgen/detail/passes-inl.hpp>
#include <fuse/kernels/foreach_target.hpp>
