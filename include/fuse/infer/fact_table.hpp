// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/dimension.hpp>

namespace fuse::inline v0::detail {

/// What is known of the values of an image: element type, shape, and the contents of small tensors. Nine bytes a value;
/// shapes and contents are kept once each. Reading is constant time and safe from many threads; `facts` fills it.
template <class Image>
class basic_fact_table {
 public:
  static constexpr std::size_t most_rank = 64;      ///< a value of a higher rank has an unknown shape
  static constexpr std::size_t most_contents = 64;  ///< contents of larger tensors are not followed

  explicit basic_fact_table(Image const& image) : image_(&image) {}

  [[nodiscard]] Image const& image() const { return *image_; }

  [[nodiscard]] element_type type(value_id v) const { return v < size_ ? types_[v] : element_type::unknown; }
  [[nodiscard]] bool has_rank(value_id v) const { return shape_number(v) != 0; }
  [[nodiscard]] int rank(value_id v) const { return has_rank(v) ? static_cast<int>(shape(v).size()) : -1; }

  /// The dimensions of `v`, none where its rank is unknown. Valid until the next `run` or `update`.
  [[nodiscard]] span<extent const> shape(value_id v) const {
    auto const number = shape_number(v);
    if (number == 0) return {};
    return extents_[number - 1];
  }

  /// The same, to compute with.
  [[nodiscard]] plain_vector<polynomial> polynomials(value_id v) const {
    plain_vector<polynomial> made;
    for (auto e : shape(v)) made.push_back(symbols().polynomial_of(e));
    return made;
  }

  /// A number for the shape of `v`, the same for equal shapes; 0 where the rank is unknown.
  [[nodiscard]] std::uint32_t shape_number(value_id v) const { return v < size_ ? shapes_[v] : 0; }

  /// Whether both shapes are known and provably equal, whatever the symbols stand for.
  [[nodiscard]] bool same_shape(value_id a, value_id b) const {
    return has_rank(a) && shape_number(a) == shape_number(b);
  }
  /// Whether both broadcast to the shape of `b`, for all that is known of it.
  [[nodiscard]] bool broadcasts_into(value_id a, value_id b) const {
    if (!has_rank(a) || !has_rank(b)) return false;
    auto const from = shape(a), to = shape(b);
    bool fits = from.size() <= to.size();
    for (std::size_t i = 1; fits && i <= from.size(); ++i) {
      auto const one = from[from.size() - i];
      fits = one == extent(1) || one == to[to.size() - i];
    }
    return fits;
  }

  /// The elements of a small integer or boolean tensor in row-major order, as far as they are known or symbolic. False
  /// where nothing is known. Contents that a caller may override are not known.
  [[nodiscard]] bool has_integers(value_id v) const { return kind_of(contents(v)) == integer_kind; }
  [[nodiscard]] span<extent const> symbolic_integers(value_id v) const {
    if (!has_integers(v)) return {};
    return extents_[index_of(contents(v))];
  }
  /// The elements of a small floating tensor, rounded to its element type.
  [[nodiscard]] bool has_numbers(value_id v) const { return kind_of(contents(v)) == number_kind; }
  [[nodiscard]] span<double const> numbers(value_id v) const {
    if (!has_numbers(v)) return {};
    return numbers_[index_of(contents(v))];
  }

  [[nodiscard]] bool has_contents(value_id v) const { return contents(v) != 0; }
  /// A number for the contents of `v`, the same for equal ones; 0 where nothing is known.
  [[nodiscard]] std::uint32_t contents_number(value_id v) const { return contents(v); }

  /// The elements of a small integer tensor, if all are known.
  [[nodiscard]] bool integers(value_id v, std::vector<std::int64_t>& out) const {
    out.clear();
    if (!has_integers(v)) return false;
    for (auto e : symbolic_integers(v)) {
      if (!e.known()) return false;
      out.push_back(e.value());
    }
    return true;
  }

  /// The element of a tensor that has just one, floating or integer.
  [[nodiscard]] bool number(value_id v, double& out) const {
    if (has_numbers(v)) {
      auto const all = numbers(v);
      if (all.size() != 1) return false;
      out = all[0];
      return true;
    }
    auto const all = symbolic_integers(v);
    if (all.size() != 1 || !all[0].known()) return false;
    out = static_cast<double>(all[0].value());
    return true;
  }

  /// Whether every element of `v` is the same number, however many there are; and that number.
  [[nodiscard]] bool is_uniform(value_id v) const { return (contents(v) & alike) != 0; }
  [[nodiscard]] bool uniform(value_id v, double& out) const {
    auto const all = contents(v);
    if ((all & alike) == 0) return false;
    auto const index = index_of(all);
    out = kind_of(all) == integer_kind ? static_cast<double>(extents_[index][0].value()) : numbers_[index][0];
    return true;
  }

  /// What node `n` reduces, as `reduction_axes` tells it; false where that was not known. Read from the graph once:
  /// shape functions ask for it again and again.
  [[nodiscard]] bool reduction(node_id n, std::vector<int>& axes, bool& keepdims) const {
    if (n >= reductions_.size() || reductions_[n] == 0) return false;
    auto const& kept = reduction_kinds_[reductions_[n] - 1];
    keepdims = kept.keepdims;
    axes.clear();
    for (auto left = kept.axes; left != 0; left &= left - 1) axes.push_back(std::countr_zero(left));
    return true;
  }

  /// Whether `n`, a node that may take a part of its operand, was found to take all of it.
  [[nodiscard]] bool takes_all(node_id n) const { return n < taking_all_.size() && taking_all_[n]; }

  /// Nodes that were found to reduce axes, in the order in which they were looked at; some may be gone since.
  [[nodiscard]] span<node_id const> reductions() const { return reducing_; }

  [[nodiscard]] extent_algebra const& symbols() const { return symbols_; }

  // Filling.

  [[nodiscard]] extent_algebra& symbols() { return symbols_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void resize(std::size_t values) {
    if (values - size_ == 1) {  // a new node's: resizing takes ten times as long
      types_.push_back(element_type::unknown);
      shapes_.push_back(0);
      contents_.push_back(0);
    } else {
      types_.resize(values, element_type::unknown);
      shapes_.resize(values, 0);
      contents_.resize(values, 0);
    }
    size_ = values;
  }
  void reserve(std::size_t values) {
    types_.reserve(values);
    shapes_.reserve(values);
    contents_.reserve(values);
  }
  void forget(value_id v) {
    types_[v] = element_type::unknown;
    shapes_[v] = 0;
    contents_[v] = 0;
  }
  void forget_shape(value_id v) { shapes_[v] = 0; }
  void forget_contents(value_id v) { contents_[v] = 0; }
  void set_type(value_id v, element_type type) { types_[v] = type; }
  void set_shape(value_id v, span<extent const> dimensions) {  // not a span of this table
    shapes_[v] = dimensions.size() > most_rank ? 0 : extents_.keep(dimensions) + 1;
  }
  void add_reduction(node_id n) { reducing_.push_back(n); }
  /// Returns a number for the axes and `keepdims`.
  std::uint32_t keep_reduction(node_id n, span<int const> axes, bool keepdims) {
    reduction_kind kind{0, keepdims};
    for (auto axis : axes) kind.axes |= std::uint64_t{1} << axis;
    if (reduction_kinds_.empty() || !(reduction_kinds_.back() == kind)) reduction_kinds_.push_back(kind);
    if (n >= reductions_.size()) reductions_.resize(image_->node_count(), 0);
    return reductions_[n] = static_cast<std::uint32_t>(reduction_kinds_.size());
  }
  void forget_reduction(node_id n) {
    if (n < reductions_.size()) reductions_[n] = 0;
  }
  void set_takes_all(node_id n, bool all) {
    if (all && n >= taking_all_.size()) taking_all_.resize(image_->node_count(), false);
    if (n < taking_all_.size()) taking_all_[n] = all;
  }
  void set_shape_number(value_id v, std::uint32_t number) { shapes_[v] = number; }
  void share_shape(value_id v, value_id from) { shapes_[v] = shapes_[from]; }
  void share_contents(value_id v, value_id from) { contents_[v] = contents_[from]; }
  void set_integers(value_id v, span<extent const> elements) {
    if (elements.size() > most_contents) return;
    bool same = !elements.empty() && elements[0].known();
    for (auto e : elements) same = same && e == elements[0];
    contents_[v] = extents_.keep(elements) * 8 + integer_kind + (same ? alike : 0);
  }
  void set_numbers(value_id v, span<double const> elements) {
    if (elements.size() > most_contents) return;
    bool is_alike = !elements.empty() && elements[0] == elements[0];
    for (auto each : elements) is_alike = is_alike && detail::same(each, elements[0]);
    contents_[v] = numbers_.keep(elements) * 8 + number_kind + (is_alike ? alike : 0);
  }
  /// Every element of `v` is `number`; there may be more of them than are followed one by one, or nobody knows how
  /// many.
  void set_uniform(value_id v, double number) {
    if (number == number) contents_[v] = numbers_.keep(span<double const>(&number, 1)) * 8 + uniform_kind + alike;
  }

 private:
  enum : std::uint32_t { no_kind, integer_kind, number_kind, uniform_kind };
  static constexpr std::uint32_t alike = 4;  // a bit: all elements are
  [[nodiscard]] static std::uint32_t kind_of(std::uint32_t contents) { return contents & 3u; }
  [[nodiscard]] static std::uint32_t index_of(std::uint32_t contents) { return contents >> 3; }

  [[nodiscard]] std::uint32_t contents(value_id v) const { return v < size_ ? contents_[v] : 0; }

  graph_image const* image_;
  extent_algebra symbols_;
  // Apart: matching asks for contents far more often than for the others.
  detail::plain_vector<element_type> types_;
  detail::plain_vector<std::uint32_t> shapes_;    // 0, or 1 + number of a sequence of extents
  detail::plain_vector<std::uint32_t> contents_;  // kind, and the number of a sequence
  std::size_t size_ = 0;                          // of each
  struct reduction_kind {
    std::uint64_t axes = 0;  // a bit each
    bool keepdims = true;

    friend bool operator==(reduction_kind const&, reduction_kind const&) = default;
  };
  detail::plain_vector<std::uint32_t> reductions_;  // by node: 0, or 1 + number of a kind
  detail::plain_vector<reduction_kind> reduction_kinds_;
  detail::plain_vector<node_id> reducing_;
  std::vector<bool> taking_all_;  // by node, empty where none does
  detail::sequence_pool<extent> extents_;
  detail::sequence_pool<double> numbers_;
};
using fact_table = basic_fact_table<graph_image>;

}  // namespace fuse::inline v0::detail
