// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the embeddings share, once for each target of this build.
#include <fuse/kernels/detail/selection.hpp>

#define FUSE_REWRITE_KERNELS_INCLUDE <fuse/kernels/detail/embed_rows-inl.hpp>
#include <fuse/kernels/foreach_target.hpp>
