// SPDX-License-Identifier: BSL-1.0
#pragma once

// The only place where the version stands: the build and the packages read these three lines.
#define FUSE_REWRITE_VERSION_MAJOR 0
#define FUSE_REWRITE_VERSION_MINOR 1
#define FUSE_REWRITE_VERSION_PATCH 0

// One number to compare with: 10000 * major + 100 * minor + patch.
#define FUSE_REWRITE_VERSION \
  (FUSE_REWRITE_VERSION_MAJOR * 10000 + FUSE_REWRITE_VERSION_MINOR * 100 + FUSE_REWRITE_VERSION_PATCH)
