// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>

namespace fuse::inline v0 {

namespace detail {

/// Writes an image as a graph in Graphviz's language.
class dot_writer {
 public:
  dot_writer(graph_source const& source, graph_image const& image, facts const& known, bool shapes)
      : source_(source),
        image_(image),
        facts_(known),
        shapes_(shapes),
        group_(image.node_count(), no_group),
        shown_(image.node_count(), true),
        drawn_leaf_(image.value_count(), false) {}

  void add_group(std::string_view label, std::vector<node_id> const& nodes) {
    labels_.emplace_back(label);
    for (auto const n : nodes)
      if (group_[n] == no_group) group_[n] = static_cast<std::uint32_t>(labels_.size() - 1);
  }

  /// Shows only what is at most `hops` edges from one of `nodes`.
  void keep_around(std::vector<node_id> const& nodes, std::size_t hops) {
    shown_.assign(image_.node_count(), false);
    auto edge = nodes;
    for (auto const n : edge) shown_[n] = true;
    std::vector<node_id> next;
    auto const reach = [&](node_id n) {
      if (n == absent || shown_[n]) return;
      shown_[n] = true;
      next.push_back(n);
    };
    for (; hops > 0 && !edge.empty(); --hops, edge = std::exchange(next, {}))
      for (auto const n : edge) {
        for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
          if (image_.operand(n, i) != absent) reach(image_.producer(image_.operand(n, i)));
        for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i)
          image_.for_each_user(image_.result(n, i), reach);
      }
  }

  [[nodiscard]] std::string write() {
    text_ = "digraph graph_of_operators {\n  node [shape=box, style=\"rounded,filled\", fillcolor=white];\n";
    std::vector<std::vector<node_id>> shown(labels_.size());
    for (node_id n = 0; n < image_.node_count(); ++n)
      if (shown_[n] && group_[n] != no_group) shown[group_[n]].push_back(n);
    for (std::uint32_t g = 0; g < labels_.size(); ++g) write_group(g, shown[g]);
    for (node_id n = 0; n < image_.node_count(); ++n)
      if (shown_[n] && group_[n] == no_group) write_node(n, "  ");
    for (node_id n = 0; n < image_.node_count(); ++n) write_operands(n);
    for (value_id v = 0; v < image_.value_count(); ++v) write_output(v);
    return std::move(text_) + "}\n";
  }

 private:
  static constexpr std::uint32_t no_group = 0xffffffffu;

  static std::string quoted(std::string_view text) {
    std::string made = "\"";
    for (char const c : text) {
      if (c == '"' || c == '\\') made += '\\';
      if (c == '\n')
        made += "\\n";
      else
        made += c;
    }
    return made + '"';
  }
  static std::string id_of(node_id n) { return 'n' + std::to_string(n); }

  void write_group(std::uint32_t g, std::vector<node_id> const& nodes) {
    if (nodes.empty()) return;
    text_ += "  subgraph cluster_" + std::to_string(g) + " {\n    label=" + quoted(labels_[g]) +
             ";\n    style=\"rounded,filled\";\n    fillcolor=lightgrey;\n";
    for (auto const n : nodes) write_node(n, "    ");
    text_ += "  }\n";
  }
  void write_node(node_id n, std::string_view indent) {
    std::string label(source_.op_name(n));
    if (auto const name = source_.node_name(n); !name.empty() && name != label) label += '\n' + name;
    text_ += std::string(indent) + id_of(n) + " [label=" + quoted(label) + "];\n";
  }

  void write_operands(node_id n) {
    if (!shown_[n]) return;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      auto const v = image_.operand(n, i);
      if (v == absent) continue;
      auto const from = image_.producer(v);
      if (from != absent && !shown_[from]) {
        write_stub(v, from);
        text_ += "  s" + std::to_string(v) + " -> " + id_of(n) + label_of(v) + " [style=dashed];\n";
        continue;
      }
      if (from == absent) write_leaf(v);
      text_ +=
          "  " + (from == absent ? 'v' + std::to_string(v) : id_of(from)) + " -> " + id_of(n) + label_of(v) + ";\n";
    }
  }
  // What is computed outside of what is shown.
  void write_stub(value_id v, node_id from) {
    if (drawn_leaf_[v]) return;
    drawn_leaf_[v] = true;
    text_ +=
        "  s" + std::to_string(v) + " [shape=plaintext, style=\"\", label=" + quoted(source_.op_name(from)) + "];\n";
  }
  void write_leaf(value_id v) {
    if (drawn_leaf_[v]) return;
    drawn_leaf_[v] = true;
    auto const name = source_.value_name(v);
    bool const constant = static_cast<bool>(source_.constant(v));
    text_ += "  v" + std::to_string(v) + (constant ? " [shape=plaintext, style=\"\"" : " [shape=ellipse") +
             ", label=" + quoted(constant ? contents_of(v, name) : name) + "];\n";
  }
  void write_output(value_id v) {
    if (image_.value(v).outputs == 0) return;
    auto const from = image_.producer(v);
    if (from == absent || !shown_[from]) return;
    auto const id = 'o' + std::to_string(v);
    text_ += "  " + id + " [shape=ellipse, label=" + quoted(source_.value_name(v)) + "];\n  " + id_of(from) + " -> " +
             id + label_of(v) + ";\n";
  }

  // A number where the constant is one.
  [[nodiscard]] std::string contents_of(value_id v, std::string name) const {
    auto const contents = source_.constant(v);
    if (contents.size() != 1) return name;
    char buffer[32];
    if (is_floating(contents.type))
      return {buffer, std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(contents.number(0))).ptr};
    return is_integer(contents.type) ? std::to_string(contents.integer(0)) : name;
  }

  // Results are numbered where there are several.
  [[nodiscard]] std::string label_of(value_id v) const {
    std::string text;
    if (auto const from = image_.producer(v); from != absent && image_.node(from).result_count > 1)
      text = std::to_string(image_.result_index(v)) + ": ";
    if (shapes_) text += shape_of(v);
    return text.empty() ? text : " [label=" + quoted(text) + "]";
  }
  [[nodiscard]] std::string shape_of(value_id v) const {
    std::string text;
    if (facts_.type(v) != element_type::unknown) text = name_of(facts_.type(v));
    if (!facts_.has_rank(v)) return text;
    text += '[';
    bool first = true;
    for (auto const e : facts_.shape(v)) {
      text += (first ? "" : ",") + facts_.symbols().text(e);
      first = false;
    }
    return text + ']';
  }

  graph_source const& source_;
  graph_image const& image_;
  facts const& facts_;
  bool shapes_;
  std::vector<std::string> labels_;
  std::vector<std::uint32_t> group_;
  std::vector<bool> shown_, drawn_leaf_;
  std::string text_;
};

}  // namespace detail

}  // namespace fuse::inline v0
