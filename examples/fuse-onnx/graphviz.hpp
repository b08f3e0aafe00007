// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

namespace fuse_onnx {

/// Lets Graphviz's program `dot` make a drawing of `text`, which it replaces. Returns why it could not, or nothing.
[[nodiscard]] std::string as_svg(std::string& text);

}  // namespace fuse_onnx
