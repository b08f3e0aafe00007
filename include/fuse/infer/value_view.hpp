// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/counting.hpp>
#include <fuse/infer/equal_parts.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0 {

/// The dimensions of a value as predicates see them. One that is not there, where the rank is not known or smaller, is
/// not known, and equal to no other's.
class shape_view {
 public:
  shape_view() = default;
  shape_view(span<extent const> dimensions, value_id of) : dimensions_(dimensions), of_(of) {}

  [[nodiscard]] std::size_t size() const { return dimensions_.size(); }
  [[nodiscard]] bool empty() const { return dimensions_.empty(); }
  [[nodiscard]] extent operator[](std::size_t axis) const {
    if (axis < dimensions_.size()) return dimensions_[axis];
    constexpr std::uint32_t beyond = std::uint32_t{1} << 31;  // the symbols of graphs are fewer
    return extent::of_symbol(beyond | ((of_ * 64u + static_cast<std::uint32_t>(axis % 64)) & (beyond - 2)));
  }
  [[nodiscard]] extent front() const { return (*this)[0]; }
  [[nodiscard]] extent back() const { return (*this)[empty() ? 0 : size() - 1]; }
  [[nodiscard]] extent const* begin() const { return dimensions_.begin(); }
  [[nodiscard]] extent const* end() const { return dimensions_.end(); }

  // NOLINTNEXTLINE: a view of dimensions is a span of them
  operator span<extent const>() const { return dimensions_; }

 private:
  span<extent const> dimensions_{};
  value_id of_ = absent;
};

/// A value of a graph as predicates see it, whatever the graph's type; of what a scalar or a parameter captured, its
/// number, list or axes. Cheap to copy; valid while the match is. Whatever is asked of no value is not known.
class value_view {
 public:
  value_view() = default;
  value_view(graph_image const& image, detail::facts const& known, dialect const& names, value_id v)
      : image_(&image), facts_(&known), dialect_(&names), id_(v) {}
  value_view(graph_image const& image, detail::facts const& known, dialect const& names, value_id v, double number,
             std::uint64_t axes, span<std::int64_t const> list = {})
      : image_(&image),
        facts_(&known),
        dialect_(&names),
        id_(v),
        number_(number),
        axes_(axes),
        list_(list),
        is_number_(true) {}

  /// Whether there is a value: an optional operand may be absent, a scalar may be a number that no node holds.
  [[nodiscard]] explicit operator bool() const { return image_ != nullptr && id_ != absent; }
  [[nodiscard]] value_id id() const { return id_; }

  [[nodiscard]] element_type type() const { return *this ? facts_->type(id_) : element_type::unknown; }
  /// -1 when unknown.
  [[nodiscard]] int rank() const { return *this ? facts_->rank(id_) : -1; }
  [[nodiscard]] shape_view shape() const { return *this ? shape_view(facts_->shape(id_), id_) : shape_view(); }
  [[nodiscard]] bool same_shape(value_view const& other) const {
    return *this && other && facts_->same_shape(id_, other.id_);
  }

  /// The constant behind the value, or a null view: an overridable initializer is none.
  [[nodiscard]] tensor_view constant() const { return is_constant() ? image_->source->constant(id_) : tensor_view{}; }
  [[nodiscard]] bool is_constant() const { return *this && image_->value(id_).constant; }
  /// The number that was captured, or that in a constant of one element, also one that only follows from constants.
  [[nodiscard]] bool number(double& into) const {
    if (!is_number_) return *this && facts_->number(id_, into);
    if (list_.size() > 1 || (axes_ != 0 && number_ == 0)) return false;       // several
    if (number_ != number_ && list_.size() == 0 && axes_ == 0) return false;  // an extent that is not known
    into = number_;
    return true;
  }
  /// The number that every element is, where that follows from constants.
  [[nodiscard]] bool uniform(double& into) const {
    return is_number_ ? number(into) : *this && facts_->uniform(id_, into);
  }
  /// The integers in a small constant, or of a captured list; of captured axes, each as counted from the last, rising.
  [[nodiscard]] bool integers(std::vector<std::int64_t>& into) const {
    if (list_.size() != 0) return into.assign(list_.begin(), list_.end()), true;
    if (!is_number_ || axes_ == 0) return *this && facts_->integers(id_, into);
    into.clear();
    for (int bit = 63; bit >= 0; --bit)
      if ((axes_ >> bit & 1u) != 0) into.push_back(-1 - bit);
    return true;
  }

  /// Whether the last axis is so many parts, provably equal: neighbours or, where `apart`, each of every `count`-th
  /// element. Complexity: linear in what the value is computed from, up to a bound, and in constants among that.
  [[nodiscard]] bool has_equal_parts(std::int64_t count, bool apart = false) const {
    return likeness_of_parts(count, apart) == detail::likeness::equal;
  }
  /// The same of parts each of which is the negative of the one before it.
  [[nodiscard]] bool has_opposite_parts(std::int64_t count, bool apart = false) const {
    return likeness_of_parts(count, apart) == detail::likeness::opposite;
  }

  /// Whether each row, along the last axis, is provably 0, 1, 2, and so on. Complexity: likewise.
  [[nodiscard]] bool counts() const {
    return *this && detail::basic_counting<graph_image>(*image_, *facts_, *dialect_).counts(id_);
  }
  /// Whether an axis, counted from the last, which is -1, has as many elements as the last axis of `other` in every
  /// valid graph that broadcasts the two.
  [[nodiscard]] bool as_long_as(value_view const& other, int axis = -1) const {
    return rank() + axis >= 0 && other.rank() > 0 &&
           facts_->symbols().equal_where_broadcast(other.shape().back(),
                                                   shape()[static_cast<std::size_t>(rank() + axis)]);
  }

  /// Whether the value is the beginning of `whole` along each axis, or all of it, cut in whatever way. Complexity:
  /// linear in the operators between, up to a bound.
  [[nodiscard]] bool is_beginning_of(value_view const& whole) const {
    return *this && whole && whole.image_ == image_ &&
           detail::basic_layouts<graph_image>(*image_, *facts_, *dialect_).is_beginning(id_, whole.id_);
  }

  [[nodiscard]] bool has_producer() const { return *this && image_->producer(id_) != absent; }
  /// The neutral operator that computes the value; `opaque` for inputs, constants and operators without a meaning.
  [[nodiscard]] opcode op() const { return has_producer() ? op_of(*image_, image_->producer(id_)) : opcode::opaque; }
  /// Its name in the dialect, empty for inputs and constants.
  [[nodiscard]] std::string_view op_name() const {
    return has_producer() ? image_->source->op_name(image_->producer(id_)) : std::string_view{};
  }
  [[nodiscard]] value_view operand(std::uint32_t i) const {
    if (!has_producer()) return {};
    auto const n = image_->producer(id_);
    return {*image_, *facts_, *dialect_, i < image_->operand_count(n) ? image_->operand(n, i) : absent};
  }
  /// A parameter of the operator that computes the value, read through the dialect; false when it is not known.
  [[nodiscard]] bool parameter(std::string_view name, double& into) const {
    return has_producer() && read_number(*image_, *facts_, *dialect_, image_->producer(id_), name, into);
  }
  [[nodiscard]] bool parameter(std::string_view name, std::vector<std::int64_t>& into) const {
    return has_producer() && read_integers(*image_, *facts_, *dialect_, image_->producer(id_), name, into);
  }

  [[nodiscard]] std::uint32_t users() const { return *this ? watched().use_count : 0; }
  /// Calls `visit(value_view)` with the first result of every node that uses the value.
  template <class Visit>
  void for_each_user(Visit&& visit) const {
    if (!*this) return;
    watched();
    image_->for_each_user(id_, [&](node_id user) {
      if (image_->node(user).result_count != 0) visit(value_view(*image_, *facts_, *dialect_, image_->result(user)));
    });
  }
  /// Whether the value is used for `other` alone: each node that uses it computes that, or what is used for it alone.
  /// So a node whose results nobody reads is another use. False where more than 64 nodes stand between. Complexity:
  /// linear in these, times their number.
  [[nodiscard]] bool is_used_only_for(value_view const& other) const {
    if (!*this || !other.has_producer()) return false;
    auto const end = image_->producer(other.id_);
    detail::plain_vector<node_id> between;
    auto const follow = [&](value_id v) {
      value_view const reached(*image_, *facts_, *dialect_, v);
      reached.watched();
      bool within = !reached.is_output();
      image_->for_each_user(v, [&](node_id user) {
        bool known = user == end;
        for (auto each : between) known = known || each == user;
        if (!known) between.push_back(user);
        within = within && between.size() <= 64;
      });
      return within;
    };
    if (!follow(id_)) return false;
    for (std::size_t i = 0; i < between.size(); ++i) {
      bool read = false;
      for (std::uint32_t k = 0; k < image_->node(between[i]).result_count; ++k) {
        auto const made = image_->result(between[i], k);
        read = read || !image_->unused(made);
        if (!follow(made)) return false;
      }
      if (!read) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_output() const { return *this && image_->value(id_).outputs != 0; }
  [[nodiscard]] std::string name() const { return *this ? image_->source->value_name(id_) : std::string(); }

  /// The user's own graph, for predicates that know its type: `v.graph<my::ir>()`; null where it is of another type.
  template <class Graph>
  [[nodiscard]] Graph const* graph() const {
    bool const is = image_ != nullptr && image_->source->graph_type() == graph_type_of<Graph>();
    return is ? static_cast<Graph const*>(image_->source->graph()) : nullptr;
  }
  [[nodiscard]] void const* graph() const { return image_ == nullptr ? nullptr : image_->source->graph(); }
  /// The value in the user's own graph, `v.handle<my::ir>()`; a value-initialised one, which is none, where there is no
  /// value or the graph is of another type.
  template <class Graph>
  [[nodiscard]] value_of<Graph> handle() const {
    auto const* found = *this && graph<Graph>() != nullptr ? image_->source->handle(id_) : nullptr;
    return found == nullptr ? value_of<Graph>{} : *static_cast<value_of<Graph> const*>(found);
  }

 private:
  [[nodiscard]] detail::likeness likeness_of_parts(std::int64_t count, bool apart) const {
    if (!*this) return detail::likeness::unknown;
    return detail::basic_equal_parts<graph_image>(*image_, *facts_, *dialect_, count, apart).of(id_);
  }
  // A rewrite looks again at what did not match once it has fewer users.
  graph_image::value_record const& watched() const {
    auto const& record = image_->value(id_);
    record.watched = true;
    return record;
  }

  graph_image const* image_ = nullptr;
  detail::facts const* facts_ = nullptr;
  dialect const* dialect_ = nullptr;
  value_id id_ = absent;
  double number_ = 0;
  std::uint64_t axes_ = 0;
  span<std::int64_t const> list_{};
  bool is_number_ = false;
};

}  // namespace fuse::inline v0
