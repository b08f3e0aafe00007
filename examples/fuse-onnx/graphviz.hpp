// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <filesystem>
#include <string>

namespace fuse_onnx {

/// Why `file` is no name for a drawing, which ends in .dot or .svg; empty for one that is.
[[nodiscard]] std::string no_drawing(std::filesystem::path const& file);

/// Writes a drawing in Graphviz's language to `file`, or what Graphviz's program makes of it. Returns why it could not,
/// or nothing; the file appears whole or not at all.
[[nodiscard]] std::string write_drawing(std::filesystem::path const& file, std::string text);

}  // namespace fuse_onnx
