// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <fuse/graph/graph.hpp>

namespace fuse::inline v0 {

namespace detail {

template <class T>
[[nodiscard]] std::string text_of(T number) {
  char buffer[32];  // the longest number takes 24
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

/// The shortest text that the element's type tells apart.
[[nodiscard]] inline std::string text_of_element(tensor_view t, std::size_t i) {
  if (!is_floating(t.type)) return text_of(t.integer(i));
  return t.type == element_type::float64 ? text_of(t.number(i)) : text_of(static_cast<float>(t.number(i)));
}

/// "float32[2,3]" of it.
[[nodiscard]] inline std::string text_of_shape(tensor_view t) {
  std::string text(name_of(t.type));
  text += '[';
  for (std::size_t i = 0; i < t.shape.size(); ++i) text += (i == 0 ? "" : ",") + text_of(t.shape[i]);
  return text + ']';
}

/// "float32[2,3]{0.5, ...}" with all elements where they are few, else with a hash of their bytes.
[[nodiscard]] inline std::string text_of(tensor_view t) {
  auto text = text_of_shape(t) + '{';
  if (t.size() <= 8) {
    for (std::size_t i = 0; i < t.size(); ++i) text += (i == 0 ? "" : ", ") + text_of_element(t, i);
  } else {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (auto const b : t.bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211u;
    char buffer[20];
    text += '#';
    text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, hash, 16).ptr);
  }
  return text + '}';
}

/// Writes a graph with its unnamed values numbered in the order in which they appear, so that equal texts mean equal
/// graphs whatever their history.
template <class Graph>
class graph_writer {
 public:
  explicit graph_writer(Graph const& g) : graph_(g) {}

  [[nodiscard]] std::string write() {
    text_ = "graph, operator set " + text_of(graph_.version()) + "\n";
    for (auto const& function : graph_.functions()) text_ += "  function " + function.name + "\n";
    write_body(graph::main_body, "  ");
    return std::move(text_);
  }

 private:
  void write_body(graph::body b, std::string const& indent) {
    for (auto const v : graph_.inputs(b)) {
      text_ += indent + "input " + name(v) + annotation(v);
      if (auto const contents = graph_.constant(v)) text_ += " = " + text_of(contents);
      text_ += '\n';
    }
    for (auto const n : graph_.nodes(b)) write_node(n, indent);
    auto const outputs = graph_.outputs(b);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      text_ += indent + "output " + std::string(graph_.output_name(i, b)) + " = " + name(outputs[i]) + '\n';
  }

  void write_node(graph::node n, std::string const& indent) {
    std::string line;
    for (auto const v : graph_.operands(n)) line += (line.empty() ? "" : ", ") + (v ? name(v) : "-");
    line = std::string(graph_.op(n)) + '(' + line + ')';
    for (auto const& a : graph_.attributes(n)) line += ' ' + a.name + '=' + text_of(a);
    std::string left;
    for (auto const v : graph_.results(n)) left += (left.empty() ? "" : ", ") + name(v) + annotation(v);
    text_ += indent + left + (left.empty() ? "" : " = ") + line + '\n';
    for (auto const b : graph_.bodies(n)) {
      text_ += indent + "  " + std::string(graph_.name(b)) + ":\n";
      write_body(b, indent + "    ");
    }
  }

  std::string name(graph::value v) {
    std::string const given(graph_.name(v));
    if (graph_.constant(v) &&
        !graph_.overridable(v))  // contents where they are read: constants have no place of their own
      return given + (given.empty() ? "" : ":") + text_of(graph_.constant(v));
    if (!given.empty()) return given;
    if (v.id >= numbers_.size()) numbers_.resize(v.id + 1, 0);
    if (numbers_[v.id] == 0) numbers_[v.id] = ++last_;
    return '%' + text_of(numbers_[v.id]);
  }

  std::string annotation(graph::value v) {
    std::vector<dimension> shape;
    bool const ranked = graph_.shape(v, shape);
    if (graph_.type(v) == element_type::unknown && !ranked) return {};
    std::string text = ": " + std::string(name_of(graph_.type(v)));
    if (!ranked) return text;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      text += i == 0 ? '[' : ',';
      text += shape[i].extent >= 0      ? text_of(shape[i].extent)
              : shape[i].symbol.empty() ? "?"
                                        : std::string(shape[i].symbol);
    }
    return text + (shape.empty() ? "[]" : "]");
  }

  static std::string text_of(graph::named const& a) {
    return std::visit(
        [](auto const& content) -> std::string {
          using type = std::remove_cvref_t<decltype(content)>;
          if constexpr (std::is_same_v<type, std::string>) {
            return '"' + content + '"';
          } else if constexpr (std::is_same_v<type, std::vector<std::int64_t>> ||
                               std::is_same_v<type, std::vector<float>>) {
            std::string list;
            for (auto const number : content) list += (list.empty() ? "" : ",") + detail::text_of(number);
            return '[' + list + ']';
          } else if constexpr (std::is_same_v<type, tensor>) {
            return detail::text_of(tensor_view(content));
          } else {
            return detail::text_of(content);
          }
        },
        a.content);
  }
  template <class T>
  static std::string text_of(T const& item) {
    return detail::text_of(item);
  }

  Graph const& graph_;
  std::string text_;
  std::vector<std::uint32_t> numbers_;
  std::uint32_t last_ = 0;
};

}  // namespace detail

/// The graph as text, one node a line. Equal texts mean equal graphs (constants of more than eight elements: by a
/// 64-bit hash); handles, their history and constants that nobody reads leave no trace. Linear.
template <class Named>
[[nodiscard]] std::string to_text(basic_graph<Named> const& g) {
  return detail::graph_writer(g).write();
}

}  // namespace fuse::inline v0
