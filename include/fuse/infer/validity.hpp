// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

/// What an operator requires of its operands, against what is known of them: each requirement holds, is contradicted,
/// or is open, because it is about a dimension that nobody knows. An operator that says nothing here, or that fuse does
/// not know, requires nothing. Linear in the operands and their ranks; one for all nodes, its buffers stay.
template <class Image>
class basic_validity {
 public:
  enum class relation : std::uint8_t {
    equal,             ///< two dimensions
    broadcast,         ///< two dimensions: they are equal, or one is 1
    equal_shapes,      ///< of two values whose ranks are not known
    broadcast_shapes,  ///< of two such values
    positive,          ///< one dimension, `a`, is not 0
  };
  struct requirement {
    relation of;
    extent a{}, b{};
    value_id of_a = absent, of_b = absent;

    [[nodiscard]] bool compares_shapes() const {
      return of == relation::equal_shapes || of == relation::broadcast_shapes;
    }
    /// Whether this one holds wherever `other` does.
    [[nodiscard]] bool follows_from(requirement const& other) const {
      bool const weaker = (of == relation::broadcast && other.of == relation::equal) ||
                          (of == relation::broadcast_shapes && other.of == relation::equal_shapes);
      if (of != other.of && !weaker) return false;
      auto const same = [](auto const& p, auto const& q, auto const& r, auto const& s) {
        return (p == r && q == s) || (p == s && q == r);
      };
      return compares_shapes() ? same(of_a, of_b, other.of_a, other.of_b) : same(a, b, other.a, other.b);
    }
  };

  basic_validity(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  /// Looks at node `n`, of whose operands the facts are known. Returns an empty text, or what is contradicted: "operand
  /// 1 is float16 where operand 0 is float32".
  [[nodiscard]] std::string check(node_id n) {
    n_ = n;
    wrong_.clear();
    open_.clear();
    auto const op = op_of(image_, n);
    auto const& known = info(op);
    check_stated_types();
    if (op == opcode::opaque) {
      if (is_stated_to_broadcast()) broadcast_all();
      return std::move(wrong_);
    }
    for (int i = 0; i < known.least; ++i)
      if (operand(static_cast<std::uint32_t>(i)) == absent) return "operand " + std::to_string(i) + " is missing";
    check_types(op);
    check_shapes(op);
    return std::move(wrong_);
  }
  /// What was open at the node that was looked at last.
  [[nodiscard]] span<requirement const> open() const { return open_; }
  /// One of them in words.
  [[nodiscard]] std::string text(requirement const& r) const {
    auto const name = [&](value_id v) { return "'" + image_.source->value_name(v) + "'"; };
    if (r.of == relation::positive)
      return "whether " + facts_.symbols().text(r.a) + ", of " + name(r.of_a) + ", is not 0 is not known";
    if (r.compares_shapes())
      return "whether the shapes of " + name(r.of_a) + " and " + name(r.of_b) + " fit is not known";
    return "whether " + facts_.symbols().text(r.a) + ", of " + name(r.of_a) + ", is " + facts_.symbols().text(r.b) +
           ", of " + name(r.of_b) + ", is not known";
  }

 private:
  [[nodiscard]] value_id operand(std::uint32_t i) const {
    return i < image_.operand_count(n_) ? image_.operand(n_, i) : absent;
  }
  [[nodiscard]] element_type type(std::uint32_t i) const { return facts_.type(operand(i)); }
  [[nodiscard]] bool ranked(std::uint32_t i) const { return facts_.has_rank(operand(i)); }
  [[nodiscard]] span<extent const> shape(std::uint32_t i) const { return facts_.shape(operand(i)); }

  void wrong(std::string text) {
    if (wrong_.empty()) wrong_ = std::move(text);
  }

  // Types

  // Those that the dialect states.
  void check_stated_types() {
    auto const* const row = names_.row(image_.node(n_).tag.name, image_.version);
    element_types const* stated = nullptr;
    if (row != nullptr)
      for (auto const& from : row->types)
        if (from.since <= image_.version) stated = &from;
    if (stated == nullptr) return;
    auto const at = [&](element_type t) {
      return std::string(name_of(t)) + ", and " + std::string(row->name) + " has none of that type at version " +
             std::to_string(image_.version);
    };
    for (std::uint32_t i = 0; i < image_.operand_count(n_); ++i)
      if (operand(i) != absent && !stated->takes(i, type(i)))
        return wrong("operand " + std::to_string(i) + " is " + at(type(i)));
    if (auto const t = facts_.type(image_.result(n_)); image_.node(n_).result_count != 0 && !stated->gives(t))
      wrong("its result is " + at(t));
  }
  void check_types(opcode op) {
    if (names_.promotes) return;
    auto const& known = info(op);
    auto const count = image_.operand_count(n_);
    switch (op) {
      case opcode::where:
        want(0, "boolean", [](element_type t) { return t == element_type::boolean; });
        return alike(1, 2);
      case opcode::logical_and:
      case opcode::logical_or:
      case opcode::logical_xor:
      case opcode::logical_not:
        for (std::uint32_t i = 0; i < count; ++i)
          want(i, "boolean", [](element_type t) { return t == element_type::boolean; });
        return;
      case opcode::equal: return alike(0, 1);
      case opcode::bitwise_and:
      case opcode::bitwise_or:
      case opcode::bitwise_xor:
      case opcode::bitwise_not:
        for (std::uint32_t i = 0; i < count; ++i) want(i, "an integer type", &is_integer);
        return alike(0, 1);
      case opcode::pow:  // the exponent may be of another type
        want(0, "a number's", &is_number);
        want(1, "a number's", &is_number);
        if (image_.version < 12) alike(0, 1);
        return;
      case opcode::concat:
        for (std::uint32_t i = 1; i < count; ++i) alike(0, i);
        return;
      case opcode::gather: return want(1, "an integer type", &is_integer);
      case opcode::embed_layer_norm:
      case opcode::qembed_layer_norm: {
        bool const quantised = op == opcode::qembed_layer_norm;
        want(2, quantised ? "an integer type" : "a floating type", quantised ? &is_integer : &is_floating);
        for (auto const i : {3u, 4u, 5u, 6u, 13u, 14u, 15u, 16u, 17u})
          if (i < count) alike(2, i);
        for (auto const i : {0u, 1u, 7u})
          if (i < count) want(i, "an integer type", &is_integer);
        for (auto const i : {8u, 9u, 10u, 11u, 12u})
          if (i < count)
            want(i, quantised ? "a floating type" : "an integer type", quantised ? &is_floating : &is_integer);
        return;
      }
      case opcode::rotary_embedding:
      case opcode::rotary_embedding_at: {
        bool const at = op == opcode::rotary_embedding_at;
        want(0, "a floating type", &is_floating);
        alike(0, at ? 2 : 1);
        alike(0, at ? 3 : 2);
        return want(at ? 1 : 3, "an integer type", &is_integer);
      }
      case opcode::attention:
      case opcode::multi_head_attention:
        for (auto const i : {1u, 2u}) alike(0, i);
        return want(0, "a floating type", &is_floating);
      case opcode::projected_attention:
        for (auto const i : {1u, 2u, 5u})
          if (i < count) alike(0, i);
        return want(0, "a floating type", &is_floating);
      case opcode::matmul:
      case opcode::gemm:
      case opcode::fused_gemm:
      case opcode::linear:
      case opcode::conv:
      case opcode::fused_conv:
      case opcode::conv_transpose:
      case opcode::layer_norm:
      case opcode::rms_norm:
      case opcode::batch_norm:
      case opcode::instance_norm:
      case opcode::group_norm:
      case opcode::prelu:
      case opcode::clip:
        want(0, "a number's", &is_number);
        // (What these are given beside their input may be wider, in some operator set versions.)
        if (op == opcode::batch_norm || op == opcode::layer_norm || op == opcode::rms_norm) return;
        for (std::uint32_t i = 1; i < count; ++i) alike(0, i);
        return;
      default: break;
    }
    if (needs_floats(op)) want(0, "a floating type", &is_floating);
    if (known.shape == shape_function::reduce) want(0, "a number's", &is_number);
    if (known.kind == op_kind::broadcast) {
      for (std::uint32_t i = 0; i < count; ++i) want(i, "a number's", &is_number);
      for (std::uint32_t i = 1; i < count; ++i) alike(0, i);
    }
  }
  [[nodiscard]] static bool is_number(element_type t) {
    return t != element_type::boolean && t != element_type::string;
  }
  [[nodiscard]] static bool needs_floats(opcode op) {
    switch (op) {
      case opcode::reciprocal:
      case opcode::sqrt:
      case opcode::rsqrt:
      case opcode::exp:
      case opcode::log:
      case opcode::sin:
      case opcode::cos:
      case opcode::tan:
      case opcode::tanh:
      case opcode::sigmoid:
      case opcode::gelu:
      case opcode::silu:
      case opcode::softplus:
      case opcode::leaky_relu:
      case opcode::elu:
      case opcode::selu:
      case opcode::celu:
      case opcode::hard_sigmoid:
      case opcode::hard_swish:
      case opcode::softsign:
      case opcode::mish:
      case opcode::softmax:
      case opcode::log_softmax:
      case opcode::hardmax: return true;
      default: return false;
    }
  }
  template <class Holds>
  void want(std::uint32_t i, std::string_view what, Holds const& holds) {
    auto const t = type(i);
    if (operand(i) != absent && t != element_type::unknown && t != element_type::other && !holds(t))
      wrong("operand " + std::to_string(i) + " is " + std::string(name_of(t)) + ", not of " + std::string(what) +
            (what.back() == 's' ? " type" : ""));
  }
  void alike(std::uint32_t i, std::uint32_t k) {
    if (operand(i) == absent || operand(k) == absent) return;
    auto const a = type(i), b = type(k);
    if (a != b && a != element_type::unknown && b != element_type::unknown)
      wrong("operand " + std::to_string(k) + " is " + std::string(name_of(b)) + " where operand " + std::to_string(i) +
            " is " + std::string(name_of(a)));
  }

  // Shapes

  void check_shapes(opcode op) {
    auto const& known = info(op);
    auto const count = image_.operand_count(n_);
    if (known.shape == shape_function::broadcast) broadcast_all();
    if (known.shape == shape_function::reduce) return check_axes("axes");
    switch (op) {
      case opcode::prelu: return into(0, 1);
      case opcode::matmul: return check_matmul();
      case opcode::gemm:
      case opcode::fused_gemm: return check_gemm();
      case opcode::linear: return equal_at(0, from_end(0, 1), 1, from_end(1, 1));
      case opcode::fused_conv: check_added(3); [[fallthrough]];
      case opcode::conv: return check_conv();
      case opcode::conv_transpose: return check_conv_transpose();
      case opcode::softmax:
      case opcode::log_softmax:
      case opcode::hardmax:
      case opcode::concat:
      case opcode::gather:
      case opcode::flatten:
        check_axis(op == opcode::flatten);
        if (op == opcode::concat) check_concat();
        return;
      case opcode::layer_norm:
      case opcode::rms_norm:
        check_axis(false);
        for (std::uint32_t i = 1; i < count; ++i) into(0, i);
        return;
      case opcode::skip_layer_norm:
      case opcode::skip_rms_norm:
        if (ranked(0) && ranked(1) && shape(0).size() == shape(1).size())
          for (std::size_t i = 0; i < shape(0).size(); ++i)
            if (i != 0 || shape(0).size() != 3 || !(shape(1)[0] == extent(1))) equal_at(0, i, 1, i);
        return;
      case opcode::embed_layer_norm: return check_embedding({0, 1, 7, 8});
      case opcode::qembed_layer_norm: return check_embedding({0, 1, 7});
      case opcode::rotary_embedding: return check_rotary_embedding();
      case opcode::rotary_embedding_at:
        for (std::size_t axis = 0; ranked(2) && axis < shape(2).size(); ++axis) equal_at(2, axis, 3, axis);
        return check_pairs(2);
      case opcode::attention: check_attention(); return check_past(4);
      case opcode::multi_head_attention:
        if (count > 2 && ranked(1) && ranked(2) && shape(1).size() == shape(2).size()) check_attention();
        check_scores_mask();
        return check_past(6);
      case opcode::projected_attention: return check_projected_attention();
      case opcode::batch_norm:
      case opcode::instance_norm:
        for (std::uint32_t i = 1; i < count; ++i)
          if (ranked(0) && ranked(i) && shape(0).size() > 1) {
            if (shape(i).size() != 1) return wrong("operand " + std::to_string(i) + " has not one axis");
            equal_at(0, 1, i, 0);
          }
        return;
      case opcode::group_norm: return check_group_norm();
      case opcode::transpose: return check_permutation();
      case opcode::reshape: return check_extent_left();
      default: break;
    }
  }

  // A Reshape that leaves an extent to the others is told nothing of it where one of these is 0.
  void check_extent_left() {
    if (!ranked(0) || read_extents(image_, facts_, names_, n_, "shape", extents_, list_) != parameter_state::known)
      return;
    bool left = false;
    for (auto e : extents_) left = left || e == extent(-1);
    for (std::size_t i = 0; left && i < extents_.size(); ++i) {
      auto const e = extents_[i] == extent(0) && i < shape(0).size() ? shape(0)[i] : extents_[i];
      if (!e.known() && facts_.symbols().least(e) < 1) open_.push_back({relation::positive, e, {}, operand(0)});
    }
  }

  // Scale and bias are those of the channels; before operator set 21, those of the groups.
  void check_group_norm() {
    double groups = 0;
    bool const told = read_number(image_, facts_, names_, n_, "num_groups", groups);
    if (told && !(groups >= 1)) return wrong("it has no groups");
    if (!ranked(0)) return;
    if (shape(0).size() < 2) return wrong("operand 0 has no channels");
    auto const channels = shape(0)[1];
    if (told && channels.known() && channels.value() % static_cast<std::int64_t>(groups) != 0)
      return wrong("its channels are not as many in each group");
    for (std::uint32_t i = 1; i < 3; ++i) {
      if (!ranked(i)) continue;
      if (shape(i).size() != 1) return wrong("operand " + std::to_string(i) + " has not one axis");
      if (image_.version >= 21) equal_at(0, 1, i, 0);
    }
  }

  static constexpr std::size_t nowhere = ~std::size_t{0};
  [[nodiscard]] std::size_t from_end(std::uint32_t i, std::size_t k) const {
    return ranked(i) && k <= shape(i).size() ? shape(i).size() - k : nowhere;
  }

  // Of an operator without a meaning, the dialect may say so.
  [[nodiscard]] bool is_stated_to_broadcast() const {
    auto const* const row = names_.row(image_.node(n_).tag.name, image_.version);
    return row != nullptr && row->result.shape == result_info::kind::broadcast;
  }
  void broadcast_all() {
    for (std::uint32_t k = 1; k < image_.operand_count(n_); ++k)
      for (std::uint32_t i = 0; i < k; ++i) broadcast(i, k, 0);
  }
  // Operands i and k broadcast to each other, but for their last `but` axes.
  void broadcast(std::uint32_t i, std::uint32_t k, std::size_t but) {
    if (operand(i) == absent || operand(k) == absent || operand(i) == operand(k)) return;
    if (!ranked(i) || !ranked(k)) {
      double number = 0;  // one element fits everywhere
      if (!facts_.number(operand(i), number) && !facts_.number(operand(k), number))
        open_.push_back({relation::broadcast_shapes, {}, {}, operand(i), operand(k)});
      return;
    }
    auto const a = shape(i), b = shape(k);
    for (auto at = but + 1; at <= a.size() && at <= b.size(); ++at)
      pair(i, a[a.size() - at], k, b[b.size() - at], true);
  }
  // Operand k repeats into the shape of operand i.
  void into(std::uint32_t i, std::uint32_t k) {
    if (operand(k) == absent) return;
    broadcast(i, k, 0);
    if (!ranked(i) || !ranked(k)) return;
    auto const a = shape(i), b = shape(k);
    for (std::size_t at = 1; at <= b.size(); ++at) {
      auto const e = b[b.size() - at];
      bool const larger = e.known() && e.value() != 1 && (at > a.size() || a[a.size() - at] == extent(1));
      if (larger) return wrong("operand " + std::to_string(k) + " is larger than operand " + std::to_string(i));
    }
  }
  void equal_at(std::uint32_t i, std::size_t at, std::uint32_t k, std::size_t at_k) {
    if (operand(i) == absent || operand(k) == absent) return;
    if (!ranked(i) || !ranked(k)) return open_.push_back({relation::equal_shapes, {}, {}, operand(i), operand(k)});
    if (at >= shape(i).size() || at_k >= shape(k).size()) return wrong("an operand has too few axes");
    pair(i, shape(i)[at], k, shape(k)[at_k], false);
  }
  void pair(std::uint32_t i, extent a, std::uint32_t k, extent b, bool broadcasts) {
    if (a == b || (broadcasts && (a == extent(1) || b == extent(1)))) return;
    if (a.known() && b.known())
      return wrong("operand " + std::to_string(k) + " has " + std::to_string(b.value()) + " where operand " +
                   std::to_string(i) + " has " + std::to_string(a.value()));
    // What was broadcast of several dimensions fits where each of them does.
    if (broadcasts) {
      extent of_a[extent_algebra::most_broadcast], of_b[extent_algebra::most_broadcast];
      auto const m = facts_.symbols().broadcast_of(a, of_a), n = facts_.symbols().broadcast_of(b, of_b);
      for (std::size_t x = 0; x < m; ++x)
        for (std::size_t y = 0; y < n; ++y)
          if (!(of_a[x] == of_b[y])) open_.push_back({relation::broadcast, of_a[x], of_b[y], operand(i), operand(k)});
      return;
    }
    open_.push_back({relation::equal, a, b, operand(i), operand(k)});
  }

  void check_axes(std::string_view parameter) {
    if (!ranked(0) || read_parameter(image_, facts_, names_, n_, parameter, list_) != parameter_state::known) return;
    if (!normalise_axes(list_, facts_.rank(operand(0)), axes_)) wrong("its axes are not among those of operand 0");
  }
  void check_axis(bool behind) {
    double axis = 0;
    if (!ranked(0) || !read_number(image_, facts_, names_, n_, "axis", axis)) return;
    auto const rank = facts_.rank(operand(0));
    if (axis < -rank || axis >= rank + (behind ? 1 : 0)) wrong("its axis is none of operand 0");
  }
  // Rows of tables, by ids of (batch, sequence); positions may be of one batch.
  void check_embedding(std::initializer_list<std::uint32_t> of_tokens) {
    auto const given = [&](std::uint32_t i) { return i < image_.operand_count(n_) && operand(i) != absent; };
    auto const of_rank = [&](std::uint32_t i, std::size_t rank) {
      bool const fits = !given(i) || !ranked(i) || shape(i).size() == rank;
      if (!fits) wrong("operand " + std::to_string(i) + " has not " + std::to_string(rank) + " axes");
      return fits && given(i);
    };
    for (auto const i : of_tokens)
      if (of_rank(i, 2) && i != 0) {
        equal_at(0, 1, i, 1);
        if (i != 8 || !ranked(i) || !(shape(i)[0] == extent(1))) equal_at(0, 0, i, 0);
      }
    for (auto const i : {2u, 3u, 4u})
      if (of_rank(i, 2) && i != 2) equal_at(2, 1, i, 1);
    for (auto const i : {5u, 6u})
      if (of_rank(i, 1)) equal_at(2, 1, i, 0);
  }
  // Without positions, the tables have a row for each of operand 0, of all batches or of one for all.
  void check_rotary_embedding() {
    for (std::size_t axis = 0; ranked(1) && axis < shape(1).size(); ++axis) equal_at(1, axis, 2, axis);
    if (operand(3) != absent || !ranked(0) || !ranked(1)) return;
    auto const rank = shape(0).size();
    if ((rank != 3 && rank != 4) || shape(1).size() != 3) return wrong("its operands have other ranks than it takes");
    if (!(shape(1)[0] == extent(1))) equal_at(0, 0, 1, 0);
    equal_at(0, rank - 2, 1, 1);
    check_pairs(1);
  }
  // Of four axes, or of three with heads side by side: as many batches, as many keys as values, heads of one size.
  void check_attention() {
    for (std::uint32_t i = 0; i < 3; ++i)
      if (ranked(i) && shape(i).size() != 3 && shape(i).size() != 4)
        return wrong("operand " + std::to_string(i) + " has not three axes or four");
    for (auto const i : {1u, 2u}) equal_at(0, 0, i, 0);
    if (!ranked(0) || !ranked(1) || !ranked(2) || shape(1).size() != shape(2).size()) return;
    bool const apart = shape(1).size() == 4;
    equal_at(1, apart ? 2 : 1, 2, apart ? 2 : 1);
    if (!apart || shape(0).size() != 4) return;
    equal_at(1, 1, 2, 1);
    equal_at(0, 3, 1, 3);
  }
  // Keys and values of earlier calls: (batch, heads, length, size), as many of both, before those of this one.
  void check_past(std::uint32_t keys) {
    auto const values = keys + 1;
    if (operand(keys) == absent || operand(values) == absent) return;
    for (auto const i : {keys, values}) {
      if (ranked(i) && shape(i).size() != 4) return wrong("operand " + std::to_string(i) + " has not four axes");
      equal_at(0, 0, i, 0);
      auto const now = i - keys + 1;
      if (ranked(now) && shape(now).size() == 4)
        for (auto const axis : {1u, 3u}) equal_at(now, axis, i, axis);
    }
    for (auto const axis : {1u, 2u}) equal_at(keys, axis, values, axis);
  }
  // What is added to the scores has a row for each query and a column for each key; with earlier keys, for these, too.
  void check_scores_mask() {
    constexpr std::uint32_t added = 5, earlier = 6;
    if (operand(added) == absent || operand(earlier) != absent || !ranked(0) || !ranked(1) || !ranked(added)) return;
    if (shape(0).size() != 3 || shape(added).size() != 4) return;
    equal_at(0, 1, added, 2);
    if (shape(1).size() == 3 || shape(1).size() == 4) equal_at(1, shape(1).size() - 2, added, 3);
  }
  // Weights have a row for each column of x, and all columns of queries, keys and values, which the bias has, too.
  void check_projected_attention() {
    if ((ranked(0) && shape(0).size() != 3) || (ranked(1) && shape(1).size() != 2))
      return wrong("its operands have other ranks than it takes");
    equal_at(0, 2, 1, 0);
    if (image_.operand_count(n_) > 2) equal_at(1, 1, 2, 0);
    auto const state = read_parameter(image_, facts_, names_, n_, "qkv_hidden_sizes", list_);
    if (!ranked(1) || !shape(1)[1].known() || state == parameter_state::unknown) return;
    std::int64_t columns = 0;
    for (auto const each : list_) columns += each;
    auto const held = shape(1)[1].value();
    if (state == parameter_state::known ? list_.size() != 3 || columns != held : held % 3 != 0)
      wrong("operand 1 has " + std::to_string(held) + " columns, which are not those of queries, keys and values");
  }
  // Tables have a column for each pair of a head.
  void check_pairs(std::uint32_t table) {
    if (!ranked(0) || !ranked(table) || shape(0).size() != 4 || shape(table).empty()) return;
    auto const row = shape(0).back(), half = shape(table).back();
    double partly = 0;
    bool const whole = !read_number(image_, facts_, names_, n_, "rotary_embedding_dim", partly) || partly == 0;
    if (whole && row.known() && half.known() && row.value() != 2 * half.value())
      wrong("operand " + std::to_string(table) + " has " + std::to_string(half.value()) +
            " columns where operand 0 has rows of " + std::to_string(row.value()));
  }
  void check_concat() {
    double axis = 0;
    if (!ranked(0) || !read_number(image_, facts_, names_, n_, "axis", axis)) return;
    auto const rank = shape(0).size();
    auto const along = static_cast<std::size_t>(axis < 0 ? axis + static_cast<double>(rank) : axis);
    for (std::uint32_t i = 1; i < image_.operand_count(n_); ++i) {
      if (ranked(i) && shape(i).size() != rank) return wrong("its operands have different ranks");
      for (std::size_t at = 0; at < rank; ++at)
        if (at != along) equal_at(0, at, i, at);
    }
  }
  void check_permutation() {
    if (!ranked(0) || read_parameter(image_, facts_, names_, n_, "perm", list_) != parameter_state::known) return;
    if (static_cast<int>(list_.size()) != facts_.rank(operand(0)) ||
        !normalise_axes(list_, facts_.rank(operand(0)), axes_))
      wrong("its permutation is none of the axes of operand 0");
  }
  void check_matmul() {
    for (std::uint32_t i = 0; i < 2; ++i)
      if (ranked(i) && shape(i).empty()) return wrong("operand " + std::to_string(i) + " has no axis");
    if (!ranked(0) || !ranked(1)) return equal_at(0, 0, 1, 0);
    equal_at(0, from_end(0, 1), 1, from_end(1, shape(1).size() > 1 ? 2 : 1));
    broadcast(0, 1, 2);
  }
  void check_gemm() {
    double turned_a = 0, turned_b = 0;
    if (!read_number(image_, facts_, names_, n_, "transA", turned_a) ||
        !read_number(image_, facts_, names_, n_, "transB", turned_b))
      return;
    for (std::uint32_t i = 0; i < 2; ++i)
      if (ranked(i) && shape(i).size() != 2) return wrong("operand " + std::to_string(i) + " is no matrix");
    equal_at(0, turned_a != 0 ? 0 : 1, 1, turned_b != 0 ? 1 : 0);
    if (operand(2) == absent) return;
    if (!ranked(0) || !ranked(1) || !ranked(2))
      return open_.push_back({relation::broadcast_shapes, {}, {}, operand(0), operand(2)});
    extent const made[] = {shape(0)[turned_a != 0 ? 1 : 0], shape(1)[turned_b != 0 ? 0 : 1]};
    auto const c = shape(2);
    if (c.size() > 2) return wrong("operand 2 has more than two axes");
    for (std::size_t at = 1; at <= c.size(); ++at) {
      auto const e = c[c.size() - at];
      if (e.known() && e.value() != 1 && made[2 - at] == extent(1))
        return wrong("operand 2 is larger than the product");
      pair(at == 1 ? 1 : 0, made[2 - at], 2, e, true);
    }
  }
  // Operand i is added to the result, whose shape it has.
  void check_added(std::uint32_t i) {
    if (operand(i) == absent) return;
    auto const v = image_.result(n_);
    if (!facts_.has_rank(v) || !ranked(i)) return open_.push_back({relation::equal_shapes, {}, {}, v, operand(i)});
    auto const made = facts_.shape(v), added = shape(i);
    if (made.size() != added.size()) return wrong("operand " + std::to_string(i) + " has not the rank of the result");
    for (std::size_t at = 0; at < made.size(); ++at) {
      if (made[at] == added[at]) continue;
      if (made[at].known() && added[at].known())
        return wrong("operand " + std::to_string(i) + " has " + std::to_string(added[at].value()) +
                     " where the result has " + std::to_string(made[at].value()));
      open_.push_back({relation::equal, made[at], added[at], v, operand(i)});
    }
  }
  void check_conv() {
    double group = 1;
    if (!ranked(0) || !ranked(1)) return equal_at(0, 0, 1, 0);
    if (shape(0).size() != shape(1).size() || shape(0).size() < 3)
      return wrong("operands 0 and 1 have different ranks, or fewer than three axes");
    if (read_parameter(image_, facts_, names_, n_, "group", group) == parameter_state::unknown) return;
    auto const channels = shape(0)[1], taken = shape(1)[1];
    if (group == 1)
      equal_at(0, 1, 1, 1);
    else if (channels.known() && taken.known() &&
             static_cast<double>(channels.value()) != static_cast<double>(taken.value()) * group)
      wrong("operand 1 takes " + std::to_string(taken.value()) + " channels a group, and operand 0 has other ones");
    if (operand(2) != absent) equal_at(1, 0, 2, 0);
  }
  void check_conv_transpose() {
    double group = 1;
    if (!ranked(0) || !ranked(1)) return equal_at(0, 0, 1, 0);
    if (shape(0).size() != shape(1).size() || shape(0).size() < 3)
      return wrong("operands 0 and 1 have different ranks, or fewer than three axes");
    equal_at(0, 1, 1, 0);
    if (operand(2) == absent) return;
    if (read_parameter(image_, facts_, names_, n_, "group", group) == parameter_state::unknown) return;
    if (group == 1) return equal_at(1, 1, 2, 0);
    auto const made = shape(1)[1];
    if (!ranked(2) || shape(2).size() != 1) return wrong("operand 2 has not one axis");
    if (auto const given = shape(2)[0]; made.known() && given.known() &&
                                        static_cast<double>(given.value()) != static_cast<double>(made.value()) * group)
      wrong("operand 2 has " + std::to_string(given.value()) + " where operand 1 makes " +
            std::to_string(made.value()) + " channels a group");
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  node_id n_ = absent;
  std::string wrong_;
  detail::plain_vector<requirement> open_;
  std::vector<std::int64_t> list_;
  std::vector<extent> extents_;
  std::vector<int> axes_;
};
using validity = basic_validity<graph_image>;

}  // namespace fuse::inline v0::detail
