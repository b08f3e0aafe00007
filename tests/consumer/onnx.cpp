// SPDX-License-Identifier: BSL-1.0
#include <fuse/adapters/onnx.hpp>

int main() { return onnx::ModelProto().ByteSizeLong() == 0 ? 0 : 1; }
