// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/eval/node_call.hpp>
#include <fuse/eval/reference.hpp>
#include <fuse/eval/rounding.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/rewrite/transaction.hpp>

namespace fuse::inline v0::detail {

/// Replaces what is computed of constants by constants. Nodes that need each other's results, or read the same large
/// constants, are one cone: what it computes for others takes the place of its constants, and what it computes for
/// itself is never in the graph. A cone whose constants would be too large is folded node by node, as far as it may.
/// Linear in the graph, but for what is evaluated; holds the intermediate results of one cone at a time.
class constant_cones {
 public:
  /// `most_growth`: bytes by which each new constant may be larger than what it takes the place of.
  constant_cones(graph_image& image, facts& known, dialect const& names, std::size_t most_growth)
      : image_(image), known_(known), names_(names), most_growth_(most_growth) {}

  /// How many nodes were replaced.
  std::size_t fold() {
    std::vector<node_id> left;
    for (auto n = image_.first_node(); n != absent; n = image_.node(n).next) left.push_back(n);
    for (std::size_t before = 0; !left.empty(); before = folded_) {
      find(left);
      left.clear();
      for (auto const& cone : cones()) {
        if (fold(cone)) continue;
        for (auto const n : cone)
          if (!fold(span(&n, 1))) left.push_back(n);
      }
      if (folded_ == before) break;  // what is left is as it was
    }
    return folded_;
  }

 private:
  // Which nodes

  // Those of `among` that may be folded. They are in order within each cone, and cones need nothing of each other.
  void find(span<node_id const> among) {
    nodes_.clear();
    parent_.clear();
    place_ = plain_vector<std::uint32_t>(image_.node_count(), absent);
    plain_vector<std::uint32_t> first_reader(image_.value_count(), absent);
    for (auto const n : among) {
      if (!may_fold(n)) continue;
      auto const place = static_cast<std::uint32_t>(nodes_.size());
      place_[n] = place;
      nodes_.push_back(n);
      parent_.push_back(place);
      each_operand(n, [&](value_id v) {
        if (is_found(v)) {
          join(place, place_[image_.producer(v)]);
        } else if (image_.value(v).constant && image_.source->constant(v).bytes.size() > most_growth_) {
          if (first_reader[v] == absent) first_reader[v] = place;
          join(place, first_reader[v]);
        }
      });
    }
  }
  [[nodiscard]] bool is_found(value_id v) const {
    auto const n = image_.producer(v);
    return n != absent && place_[n] != absent;
  }
  // The first of a cone stands for it.
  [[nodiscard]] std::uint32_t root(std::uint32_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    (a < b ? parent_[b] : parent_[a]) = a < b ? a : b;
  }
  [[nodiscard]] std::vector<std::vector<node_id>> cones() {
    std::vector<std::vector<node_id>> all;
    plain_vector<std::uint32_t> number(nodes_.size(), absent);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      auto const first = root(i);
      if (first == i) {
        number[i] = static_cast<std::uint32_t>(all.size());
        all.emplace_back();
      }
      all[number[first]].push_back(nodes_[i]);
    }
    return all;
  }

  // What computes the same each time, of what is known, and makes little more of it than it was.
  [[nodiscard]] bool may_fold(node_id n) const {
    if (op_of(image_, n) == opcode::opaque || image_.node(n).has_bodies || !folds(op_of(image_, n))) return false;
    if (is_output(n) || !image_.is_read(n)) return false;
    std::size_t taken = 0, made = 0;
    bool constant = true;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      auto const v = image_.operand(n, i);
      if (v == absent) continue;
      std::size_t bytes = 0;
      constant = (is_found(v) ? has_bytes(v, bytes) : is_constant(v, bytes)) && constant;
      taken += bytes;
    }
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      auto const v = image_.result(n, i);
      std::size_t bytes = 0;
      if (tensor told; image_.unused(v) || integers(v, told)) {
        bytes = told.bytes.size();
      } else if (!constant || !has_bytes(v, bytes)) {
        return false;
      }
      made += bytes;
    }
    return made <= taken + most_growth_;
  }
  // Not what quantises: kernels look for it beside the operators that they are for. Nor what is drawn at random.
  [[nodiscard]] static bool folds(opcode op) {
    switch (op) {
      case opcode::quantize:
      case opcode::dequantize:
      case opcode::dynamic_quantize:
      case opcode::dropout:
      case opcode::constant: return false;
      default: return true;
    }
  }
  [[nodiscard]] bool is_output(node_id n) const {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i)
      if (image_.value(image_.result(n, i)).outputs != 0) return true;
    return false;
  }
  [[nodiscard]] bool is_constant(value_id v, std::size_t& bytes) const {
    if (!image_.value(v).constant) return false;
    auto const contents = image_.source->constant(v);
    if (!contents || !computed_in(contents.type)) return false;
    bytes = contents.bytes.size();
    return true;
  }
  // How large a result is; false where that is not known, or where it cannot be a constant.
  [[nodiscard]] bool has_bytes(value_id v, std::size_t& bytes) const {
    auto const type = known_.type(v);
    if (!is_kept(type) || !known_.has_rank(v)) return false;
    std::size_t elements = 1;
    for (auto const extent : known_.shape(v)) {
      if (!extent.known() ||
          (extent.value() != 0 && elements > most_elements / static_cast<std::size_t>(extent.value())))
        return false;
      elements *= static_cast<std::size_t>(extent.value());
    }
    bytes = elements * size_of(type);
    return true;
  }
  static constexpr std::size_t most_elements = std::size_t{1} << 28;

  // A cone

  // False, and nothing happened, where its constants would be too large or cannot be computed.
  bool fold(span<node_id const> cone) {
    while (reads_.size() < image_.value_count()) {  // it may read constants of the one before
      reads_.push_back(0);
      slot_.push_back(absent);
    }
    for (auto const n : cone) each_operand(n, [&](value_id v) { ++reads_[v]; });
    bool const folds = is_small(cone) && compute(cone);
    for (auto const n : cone) each_operand(n, [&](value_id v) { reads_[v] = 0; });
    if (folds) replace(cone);
    for (auto const& h : held_) slot_[h.value] = absent;
    held_.clear();
    return folds;
  }

  [[nodiscard]] bool is_small(span<node_id const> cone) const {
    std::size_t made = 0, allowed = 0;
    plain_vector<value_id> freed;
    for (auto const n : cone) {
      each_operand(n, [&](value_id v) {
        auto const& value = image_.value(v);
        if (value.constant && value.outputs == 0 && value.use_count == reads_[v]) freed.push_back(v);
      });
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
        auto const v = image_.result(n, i);
        std::size_t bytes = 0;
        if (image_.value(v).use_count == reads_[v] || !has_bytes(v, bytes)) continue;
        made += bytes;
        allowed += most_growth_;
      }
    }
    std::sort(freed.begin(), freed.end());
    for (std::size_t i = 0; i < freed.size(); ++i)
      if (i == 0 || freed[i] != freed[i - 1]) allowed += image_.source->constant(freed[i]).bytes.size();
    return made <= allowed;
  }

  // Holds what nodes outside of `cone` read.
  [[nodiscard]] bool compute(span<node_id const> cone) {
    for (auto const n : cone) {
      std::vector<tensor> made(image_.node(n).result_count);
      if (!compute(n, made)) return false;
      each_operand(n, [&](value_id v) {
        if (slot_[v] == absent) return;
        auto& read = held_[slot_[v]];
        if (--read.reads_left == 0) read.contents = {};
      });
      for (std::uint32_t i = 0; i < made.size(); ++i) {
        auto const v = image_.result(n, i);
        slot_[v] = static_cast<std::uint32_t>(held_.size());
        held_.push_back({v, image_.value(v).use_count, std::move(made[i])});
      }
    }
    return true;
  }
  [[nodiscard]] bool compute(node_id n, span<tensor> into) const {
    for (std::uint32_t i = 0; i < into.size(); ++i)
      if (auto const v = image_.result(n, i); !image_.unused(v) && !integers(v, into[i])) return evaluate(n, into);
    return true;
  }
  // A list of integers that follows from shapes.
  [[nodiscard]] bool integers(value_id v, tensor& into) const {
    std::vector<std::int64_t> numbers, shape;
    if (known_.type(v) != element_type::int64 || known_.rank(v) < 0 || known_.rank(v) > 1) return false;
    for (auto const extent : known_.shape(v)) {
      if (!extent.known()) return false;
      shape.push_back(extent.value());
    }
    if (!known_.integers(v, numbers) || numbers.size() != count_of(shape)) return false;
    into = make_tensor(shape, span<std::int64_t const>(numbers));
    return true;
  }
  // Each result rounded to its type.
  [[nodiscard]] bool evaluate(node_id n, span<tensor> into) const {
    auto const count = image_.operand_count(n);
    std::vector<dense> read(count), results(into.size());
    std::vector<dense const*> operands(count, nullptr);
    for (std::uint32_t i = 0; i < count; ++i) {
      auto const v = image_.operand(n, i);
      if (v == absent) continue;
      auto const contents = contents_of(v);
      if (!contents || !computed_in(contents.type)) return false;
      read[i] = dense::of(contents);
      operands[i] = &read[i];
    }
    for (std::uint32_t i = 0; i < results.size(); ++i) results[i].type = known_.type(image_.result(n, i));
    node_parameters<graph_image, facts> const parameters(image_, known_, names_, n);
    if (fuse::evaluate(op_of(image_, n), operands, parameters, results) != evaluation::done) return false;
    for (std::uint32_t i = 0; i < results.size(); ++i) {
      auto& made = results[i];
      if (made.type != known_.type(image_.result(n, i)) || made.size() != count_of(made.shape)) return false;
      round_to_type(made);
      into[i] = kept(made);
    }
    return true;
  }
  [[nodiscard]] tensor_view contents_of(value_id v) const {
    if (slot_[v] != absent) return held_[slot_[v]].contents;
    return image_.value(v).constant ? image_.source->constant(v) : tensor_view{};
  }
  // Types whose elements doubles or 64-bit integers carry from and to a tensor.
  [[nodiscard]] static bool is_kept(element_type type) { return computed_in(type) && type != element_type::uint64; }
  [[nodiscard]] static tensor kept(dense const& made) {
    if (made.type == element_type::int64) return make_tensor(made.shape, span<std::int64_t const>(made.integers));
    if (!made.whole()) return make_tensor(made.type, made.shape, made.elements);
    std::vector<double> const numbers(made.integers.begin(), made.integers.end());
    return make_tensor(made.type, made.shape, numbers);
  }

  void replace(span<node_id const> cone) {
    for (auto const n : cone) place_constants(n);
    for (auto i = cone.size(); i-- > 0;) {
      if (image_.is_read(cone[i])) continue;
      image_.source->erase(cone[i]);
      image_.erase(cone[i]);
      ++folded_;
    }
  }
  // Each a constant of its own, equal ones too: some rules change constants that nothing else reads.
  void place_constants(node_id n) {
    transaction changes(image_, known_, false);
    std::vector<std::pair<value_id, value_id>> replaced;
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
      auto& made = held_[slot_[image_.result(n, i)]];
      if (made.reads_left == 0) continue;
      if (replaced.empty()) changes.open(image_.scope_of(image_.node(n).region));
      replaced.emplace_back(made.value, changes.constant_of(std::move(made.contents)));
    }
    if (replaced.empty() || !changes.commit(n, image_.source->node_name(n)).empty()) return;
    for (auto const& [from, to] : replaced) {
      image_.source->replace_uses(from, to);
      image_.redirect(from, to);
    }
  }

  template <class Visit>
  void each_operand(node_id n, Visit const& visit) const {
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
      if (auto const v = image_.operand(n, i); v != absent) visit(v);
  }

  graph_image& image_;
  facts& known_;
  dialect const& names_;
  std::size_t most_growth_;

  plain_vector<node_id> nodes_;         // those that may be folded, in order
  plain_vector<std::uint32_t> place_;   // of a node among them
  plain_vector<std::uint32_t> parent_;  // union-find over places
  plain_vector<std::uint32_t> reads_;   // by the cone that is looked at, of each value
  plain_vector<std::uint32_t> slot_;    // of a value in `held_`
  struct held {
    value_id value;
    std::uint32_t reads_left;
    tensor contents;
  };
  std::vector<held> held_;  // results of a cone that are still to be read
  std::size_t folded_ = 0;
};

}  // namespace fuse::inline v0::detail
