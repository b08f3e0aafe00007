// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/quantize.hpp>
#include <fuse/kernels/rms_norm.hpp>

#ifdef HWY_TARGETS
#error "Highway is compiled where the kernels are, nowhere else"
#endif

std::string_view target_in_other_source();
