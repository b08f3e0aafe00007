// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/adapters/onnx/graph.hpp>
#include <fuse/draw/draw.hpp>
#include <fuse/dsl/rule.hpp>
#include <fuse/program/program.hpp>
#include <fuse/rewrite/options.hpp>
#include <fuse/rewrite/report.hpp>
#include <string>
#include <string_view>
#include <vector>

/// The rules that come with fuse, compiled in one place.
namespace fuse_onnx {

[[nodiscard]] fuse::program const& bundled_program();
[[nodiscard]] fuse::rewrite_report rewrite_bundled(fuse::adapters::onnx_graph& graph,
                                                   fuse::rewrite_options const& options);

/// Of "onnx" and "onnxruntime".
[[nodiscard]] fuse::target target_named(std::string_view name);

/// For each rule, or for `only`, how far it gets at a node before anything is rewritten, and what it lacks there.
[[nodiscard]] std::vector<std::string> explain_node(fuse::adapters::onnx_graph const& graph,
                                                    fuse::adapters::onnx_node node, std::string_view only);

/// What the rules would replace, as frames for a drawing of the graph before; `graph` is what is left.
[[nodiscard]] std::vector<fuse::drawn_group<fuse::adapters::onnx_graph>> replaced_bundled(
    fuse::adapters::onnx_graph& graph, fuse::rewrite_options const& options);

/// The rules as they are written, in the order of the program.
[[nodiscard]] std::vector<fuse::rewrite_rule const*> bundled_rules();

/// What a rule does, in one line; empty for a rule that nobody described.
[[nodiscard]] std::string_view summary_of(std::string_view rule);

/// Why `name` is no rule, with the names of those that there are; empty for a rule.
[[nodiscard]] std::string unknown_rule(std::string_view name);

}  // namespace fuse_onnx
