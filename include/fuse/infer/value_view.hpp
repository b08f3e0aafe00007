// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0 {

/// A value of a graph as predicates see it, whatever the graph's type. Cheap to copy; valid while the match is.
class value_view {
 public:
  value_view() = default;
  value_view(graph_image const& image, facts const& known, dialect const& names, value_id v)
      : image_(&image), facts_(&known), dialect_(&names), id_(v) {}

  /// Whether there is a value: an optional operand may be absent, a scalar may be a number that no node holds.
  [[nodiscard]] explicit operator bool() const { return image_ != nullptr && id_ != absent; }
  [[nodiscard]] value_id id() const { return id_; }

  [[nodiscard]] element_type type() const { return facts_->type(id_); }
  /// -1 when unknown.
  [[nodiscard]] int rank() const { return facts_->rank(id_); }
  [[nodiscard]] span<extent const> shape() const { return facts_->shape(id_); }
  [[nodiscard]] bool same_shape(value_view const& other) const { return facts_->same_shape(id_, other.id_); }

  /// The constant behind the value, or a null view: an overridable initializer is none.
  [[nodiscard]] tensor_view constant() const {
    return image_->value(id_).constant ? image_->source->constant(id_) : tensor_view{};
  }
  [[nodiscard]] bool is_constant() const { return image_->value(id_).constant; }
  /// The number in a constant of one element, also one that only follows from constants.
  [[nodiscard]] bool number(double& into) const { return facts_->number(id_, into); }
  /// The number that every element is, where that follows from constants.
  [[nodiscard]] bool uniform(double& into) const { return facts_->uniform(id_, into); }
  [[nodiscard]] bool integers(std::vector<std::int64_t>& into) const { return facts_->integers(id_, into); }

  [[nodiscard]] bool has_producer() const { return image_->producer(id_) != absent; }
  /// The neutral operator that computes the value; `opaque` for inputs, constants and operators without a meaning.
  [[nodiscard]] opcode op() const { return has_producer() ? op_of(*image_, image_->producer(id_)) : opcode::opaque; }
  /// Its name in the dialect, empty for inputs and constants.
  [[nodiscard]] std::string_view op_name() const {
    return has_producer() ? image_->source->op_name(image_->producer(id_)) : std::string_view{};
  }
  [[nodiscard]] value_view operand(std::uint32_t i) const {
    auto const n = image_->producer(id_);
    return {*image_, *facts_, *dialect_, i < image_->operand_count(n) ? image_->operand(n, i) : absent};
  }
  /// A parameter of the operator that computes the value, read through the dialect; false when it is not known.
  [[nodiscard]] bool parameter(std::string_view name, double& into) const {
    return read_number(*image_, *facts_, *dialect_, image_->producer(id_), name, into);
  }
  [[nodiscard]] bool parameter(std::string_view name, std::vector<std::int64_t>& into) const {
    return read_integers(*image_, *facts_, *dialect_, image_->producer(id_), name, into);
  }

  [[nodiscard]] std::uint32_t users() const { return image_->value(id_).use_count; }
  /// Calls `visit(value_view)` with the first result of every node that uses the value.
  template <class Visit>
  void for_each_user(Visit&& visit) const {
    image_->for_each_user(id_, [&](node_id user) {
      if (image_->node(user).result_count != 0) visit(value_view(*image_, *facts_, *dialect_, image_->result(user)));
    });
  }
  [[nodiscard]] bool is_output() const { return image_->value(id_).outputs != 0; }
  [[nodiscard]] std::string name() const { return image_->source->value_name(id_); }

  /// The user's own graph, for predicates that know its type: `*static_cast<my::ir const*>(v.graph())`.
  [[nodiscard]] void const* graph() const { return image_->source->graph(); }

 private:
  graph_image const* image_ = nullptr;
  facts const* facts_ = nullptr;
  dialect const* dialect_ = nullptr;
  value_id id_ = absent;
};

}  // namespace fuse::inline v0
