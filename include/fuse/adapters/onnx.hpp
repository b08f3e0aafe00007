// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/adapters/onnx/file.hpp>
#include <fuse/adapters/onnx/graph.hpp>
#include <fuse/adapters/onnx/model_of.hpp>
