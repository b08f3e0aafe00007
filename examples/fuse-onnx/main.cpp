// SPDX-License-Identifier: BSL-1.0
// fuse-onnx: rewrites ONNX models with the rules that come with fuse.

#include "commands.hpp"

int main(int count, char** words) { return fuse_onnx::run(count, words); }
