// SPDX-License-Identifier: BSL-1.0
#include <fuse/fuse.hpp>

int main() { return FUSE_REWRITE_VERSION > 0 ? 0 : 1; }
