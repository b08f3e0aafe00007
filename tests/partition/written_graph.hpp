// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/graph/graph.hpp>

/// A graph from a line of text, each node named by its first result: `x[2,8] r=Relu(x) m=ReduceMean<-1>(r) -> m`. A
/// name that nothing else declares is an input without a shape, one that begins with 'c' a constant of one element. The
/// number in angle brackets is the axis. Operators are those of ONNX's operator set 12, unless another one is told.
class written_graph {
 public:
  fuse::graph graph;
  std::map<std::string, fuse::graph::value, std::less<>> values;
  std::map<std::string, fuse::graph::node, std::less<>> nodes;

  explicit written_graph(std::string_view text, int operator_set = 12) : graph(operator_set), text_(text) {
    bool outputs = false;
    while (skip(), !text_.empty()) {
      if (take("->")) {
        outputs = true;
        continue;
      }
      std::vector<std::string> names{name()};
      while (take(",")) names.push_back(name());
      if (outputs)
        graph.output(value(names[0]), names[0]);
      else if (take("="))
        read_node(names);
      else if (take("["))
        values[names[0]] = graph.input(names[0], fuse::element_type::float32, shape());
      else
        value(names[0]);
    }
  }

 private:
  void skip() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    if (text_.substr(0, token.size()) != token) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  std::string name() {
    skip();
    std::size_t end = 0;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_' ||
                                  text_[end] == ':' || text_[end] == '.'))
      ++end;
    if (end == 0) std::abort();  // the test is misspelt
    std::string made(text_.substr(0, end));
    text_.remove_prefix(end);
    return made;
  }
  std::int64_t number() {
    bool const negative = take("-");
    auto const digits = std::atoll(name().c_str());
    return negative ? -digits : digits;
  }
  fuse::graph::dims shape() {
    fuse::graph::dims made;
    while (!take("]")) {
      if (std::isdigit(static_cast<unsigned char>(text_[0])) != 0)
        made.emplace_back(number());
      else
        made.emplace_back(name());
      take(",");
    }
    return made;
  }
  fuse::graph::value value(std::string const& called) {
    auto const [at, added] = values.try_emplace(called);
    if (added) at->second = called[0] == 'c' ? graph.scalar(2.f, called) : graph.input(called);
    return at->second;
  }
  void read_node(std::vector<std::string> const& names) {
    auto const op = name();
    std::vector<fuse::graph::named> attributes;
    if (take("<")) {
      auto const axis = number();
      bool const several = op.substr(0, 6) == "Reduce" || op == "Squeeze" || op == "Unsqueeze";
      if (several)
        attributes.push_back({"axes", {axis}});
      else
        attributes.push_back({"axis", axis});
      take(">");
    }
    std::vector<fuse::graph::value> operands;
    if (!take("(")) std::abort();
    while (!take(")")) {
      operands.push_back(value(name()));
      take(",");
    }
    auto const made = graph.append(op, operands, attributes, static_cast<std::uint32_t>(names.size()));
    graph.rename(made, names[0]);
    nodes[names[0]] = made;
    for (std::uint32_t i = 0; i < names.size(); ++i) values[names[i]] = graph.result(made, i);
  }

  std::string_view text_;
};
