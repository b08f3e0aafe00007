// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "graph.hpp"

#include <string>

namespace mini {

/// Reads an ONNX model into `into`. Returns what is wrong with it, in one sentence, or nothing.
[[nodiscard]] std::string load_model(std::string const& file, graph& into);

/// Reads one tensor with its name, as ONNX's own test data keeps them; the same errors.
[[nodiscard]] std::string load_tensor(std::string const& file, std::string& name, tensor& into);

}  // namespace mini
