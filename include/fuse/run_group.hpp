// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Fusion groups that are known at run time only, computed. docs/kernels/group.md
#include <fuse/kernelgen/run_group.hpp>
