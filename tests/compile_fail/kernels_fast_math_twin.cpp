// SPDX-License-Identifier: BSL-1.0

#include <fuse/kernels/layer_norm.hpp>

int main() {}
