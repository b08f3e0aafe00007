// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/graph/read_only_source.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// The nodes of a group as a graph of its own, whose inputs have the element types and shapes that they are given; and
/// the contents, where these are no floating numbers: they may be parameters. Its image has the inputs as its first
/// values, then constants that are none of them.
class group_graph final : public read_only_source {
 public:
  graph_image image;

  /// `source` is what the image `whole` was taken of, and outlives this. `nodes` are in order.
  group_graph(graph_image const& whole, graph_source const& source, span<node_id const> nodes,
              span<value_id const> inputs, span<value_id const> outputs)
      : source_(source), nodes_(nodes.begin(), nodes.end()), given_(inputs.size()) {
    image.version = whole.version;
    image.source = this;
    std::unordered_map<value_id, value_id> own;
    auto const read = [&](value_id v) {
      auto const made = image.add_value();
      own.emplace(v, made);
      inputs_.push_back(v);
      is_constant_.push_back(v != absent && whole.value(v).constant);
      image.set_constant(made, is_constant_.back());
    };
    for (auto const v : inputs) read(v);
    for (auto const n : nodes)
      for (std::uint32_t i = 0; i < whole.operand_count(n); ++i)
        if (auto const v = whole.operand(n, i); v != absent && whole.value(v).constant && !own.contains(v)) read(v);
    for (auto const n : nodes) {
      auto const made = image.add_node(whole.node(n).tag, whole.node(n).result_count, 0);
      if (whole.node(n).has_bodies) image.set_has_bodies(made);
      for (std::uint32_t i = 0; i < whole.node(n).result_count; ++i)
        own.emplace(whole.result(n, i), image.result(made, i));
    }
    for (node_id n = 0; n < nodes_.size(); ++n) {
      for (std::uint32_t i = 0; i < whole.operand_count(nodes_[n]); ++i) {
        auto const v = whole.operand(nodes_[n], i);
        auto const found = own.find(v);
        image.attach_operand(n, found == own.end() ? absent : found->second);
        if (v != absent && found == own.end())
          unknown_ = source.value_name(v) + " is read, and is neither an input of the group nor a constant";
      }
      image.place_last(n);
    }
    for (auto const v : outputs) {
      auto const found = own.find(v);
      if (found == own.end()) {
        unknown_ =
            (v == absent ? "a value" : source.value_name(v)) + " is given out, and no node of the group makes it";
        continue;
      }
      outputs_.push_back(found->second);
      image.add_output(found->second);
    }
  }
  group_graph(group_graph const&) = delete;
  group_graph& operator=(group_graph const&) = delete;

  [[nodiscard]] std::size_t input_count() const { return given_.size(); }
  /// What the nodes read, or the group gives out, that nothing of it makes: a sentence, or nothing.
  [[nodiscard]] std::string const& unknown() const { return unknown_; }
  [[nodiscard]] span<value_id const> outputs() const { return span(outputs_); }

  /// Takes types and shapes, and contents that may be parameters. False where nothing is other than before.
  bool give(span<tensor_view const> inputs) {
    bool changed = false;
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (!is_other(given_[i], inputs[i])) continue;
      auto const& now = inputs[i];
      given_[i] = {now.type, {now.shape.begin(), now.shape.end()}, {}};
      if (is_parameter(now)) given_[i].bytes.assign(now.bytes.begin(), now.bytes.end());
      auto const v = static_cast<value_id>(i);
      image.set_constant(v, is_parameter(inputs[i]) || is_constant_[i]);
      changed = true;
    }
    return changed;
  }

  [[nodiscard]] tensor_view constant(value_id v) const override {
    if (v >= inputs_.size()) return {};
    tensor_view const given = v < given_.size() ? tensor_view(given_[v]) : tensor_view{};
    return is_parameter(given) || !is_constant_[v] ? given : source_.constant(inputs_[v]);
  }
  [[nodiscard]] attribute_view attribute_of(node_id n, std::string_view name) const override {
    return source_.attribute_of(nodes_[n], name);
  }
  [[nodiscard]] bool same_attributes(node_id a, node_id b) const override {
    return source_.same_attributes(nodes_[a], nodes_[b]);
  }
  [[nodiscard]] element_type type(value_id v) const override {
    return v < given_.size() ? given_[v].type : constant(v).type;
  }
  [[nodiscard]] bool shape(value_id v, std::vector<dimension>& into) const override {
    into.clear();
    if (v >= given_.size()) return false;
    for (auto const extent : given_[v].shape) into.push_back({extent, {}});
    return true;
  }
  [[nodiscard]] std::string_view op_name(node_id n) const override { return source_.op_name(nodes_[n]); }
  [[nodiscard]] std::string node_name(node_id n) const override { return source_.node_name(nodes_[n]); }
  [[nodiscard]] std::string value_name(value_id v) const override {
    return v < inputs_.size() ? source_.value_name(inputs_[v]) : op_name_of(v);
  }
  [[nodiscard]] bool has_shapes() const override { return true; }
  [[nodiscard]] void const* graph() const override { return source_.graph(); }

 private:
  // Whether it may say what is computed, as lists of extents do. A mask is longer.
  [[nodiscard]] static bool is_parameter(tensor_view const& v) {
    constexpr std::size_t longest = 64;
    return v.type != element_type::unknown && !is_floating(v.type) &&
           (v.type != element_type::boolean || v.size() <= longest);
  }
  [[nodiscard]] static bool is_other(tensor_view const& before, tensor_view const& now) {
    return !same_contents(before, is_parameter(now) ? now : tensor_view{now.type, now.shape, {}});
  }
  [[nodiscard]] std::string op_name_of(value_id v) const {
    return "the result of " + std::string(op_name(image.producer(v)));
  }

  graph_source const& source_;
  std::vector<node_id> nodes_;
  std::vector<value_id> inputs_, outputs_;
  std::vector<bool> is_constant_;  // of each of these inputs: nobody may override it
  std::vector<tensor> given_;
  std::string unknown_;
};

}  // namespace fuse::inline v0::detail
