// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/separate.hpp>
