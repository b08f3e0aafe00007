// SPDX-License-Identifier: BSL-1.0
// expect: the kernels need arithmetic as written: without -ffast-math and its parts, or compiled so by separate.hpp
// twin: kernels_fast_math_twin.cpp

// As -ffast-math does.
#define __FAST_MATH__ 1

#include <fuse/kernels/layer_norm.hpp>

int main() {}
