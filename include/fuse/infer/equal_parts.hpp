// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <fuse/graph/tensor_view.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// Proves that the last axis of a value is several parts that are equal, element by element: neighbours, as the halves
/// of `Concat(f, f)`, or every so many elements (`apart`), as where each element of a row is repeated. It follows from
/// the contents of constants, from layouts that repeat, and through what computes element by element, gathers rows,
/// multiplies by a matrix whose columns repeat, or joins such values along another axis. It reads facts only.
template <class Image>
class basic_equal_parts {
 public:
  static constexpr int most_values = 64;  ///< that are looked at; where it takes more, nothing is proven

  basic_equal_parts(Image const& image, facts const& known, dialect const& names, std::int64_t count, bool apart)
      : image_(image), facts_(known), names_(names), layouts_(image, known, names), count_(count), apart_(apart) {}

  [[nodiscard]] bool has(value_id v) {
    std::int64_t length = 0;
    if (v == absent || !facts_.has_rank(v) || facts_.shape(v).empty() || left_-- == 0) return false;
    auto const last = facts_.shape(v).back();
    if (!last.known()) return moved(v);
    length = last.value();
    if (length < count_ || length % count_ != 0) return false;
    double number = 0;
    if (facts_.uniform(v, number)) return true;
    if (image_.value(v).constant) return in_contents(image_.source->constant(v), length);
    return image_.producer(v) != absent && (moved(v) || computed(v));
  }

 private:
  // What broadcasts along the axis has one element for all of it.
  [[nodiscard]] bool has_or_repeats(value_id v, extent last) {
    if (v == absent || !facts_.has_rank(v)) return false;
    auto const shape = facts_.shape(v);
    return shape.empty() || shape.back() == extent(1) || (shape.back() == last && has(v));
  }

  [[nodiscard]] bool in_contents(tensor_view held, std::int64_t length) const {
    auto const row = static_cast<std::size_t>(length), part = row / static_cast<std::size_t>(count_);
    auto const step = apart_ ? std::size_t{1} : part;
    if (!held || held.size() % row != 0) return false;
    for (std::size_t i = 0; i < held.size(); ++i) {
      auto const at = i % row;
      bool const first = apart_ ? at % static_cast<std::size_t>(count_) == 0 : at < part;
      if (first) continue;
      // To the bit: 0 and -0 are two numbers.
      if (std::bit_cast<std::uint64_t>(held.number(i)) != std::bit_cast<std::uint64_t>(held.number(i - step)))
        return false;
    }
    return true;
  }

  // By the layout in what its elements come from: the axis repeats there, or is the last axis of something that does.
  [[nodiscard]] bool moved(value_id v) {
    auto const axis = facts_.shape(v).size() - 1;
    for (auto base = layouts_.below(v); base != absent && left_-- > 0; base = layouts_.below(base)) {
      layout lies;
      if (!layouts_.read(v, base, lies)) continue;
      layout::digit const *first = nullptr, *last = nullptr;
      for (auto const& d : lies.all()) {
        if (d.axis != axis) continue;
        if (first == nullptr) first = &d;
        last = &d;
      }
      if (first == nullptr) return false;
      auto const& repeated = apart_ ? *last : *first;
      polynomial each;
      if (repeated.stride.is(0) && polynomial::divide(repeated.extent, polynomial(count_), each)) return true;
      if (first == last && is_last_axis(lies, *first, base) && has(base)) return true;
    }
    return false;
  }
  // Whether what a digit runs through is one whole row of `base` after the other.
  [[nodiscard]] bool is_last_axis(layout const& lies, layout::digit const& along, value_id base) const {
    auto const shape = layouts_.shape(base);
    if (shape.empty() || !along.stride.is(1) || !(shape.back() == along.extent)) return false;
    polynomial rows;
    bool whole = polynomial::divide(lies.offset(), along.extent, rows);
    for (auto const& d : lies.all())
      whole = whole && (&d == &along || polynomial::divide(d.stride, along.extent, rows));
    return whole;
  }

  [[nodiscard]] bool computed(value_id v) {
    auto const n = image_.producer(v);
    auto const op = op_of(image_, n);
    auto const last = facts_.shape(v).back();
    auto const operand = [&](std::uint32_t i) { return i < image_.operand_count(n) ? image_.operand(n, i) : absent; };
    auto const kind = info(op).kind;
    if (image_.result_index(v) != 0 || image_.node(n).has_bodies) return false;
    if (op == opcode::dropout) return false;  // of one that does nothing the layout tells
    if (kind == op_kind::elementwise || kind == op_kind::broadcast) {
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (operand(i) != absent && !has_or_repeats(operand(i), last)) return false;
      return true;
    }
    double axis = 0;
    switch (op) {
      case opcode::matmul: return facts_.rank(operand(1)) >= 2 && has(operand(1));
      case opcode::gather:
        return facts_.has_rank(operand(0)) && is_other_axis(n, facts_.rank(operand(0)), axis) && has(operand(0));
      case opcode::concat:
        if (!is_other_axis(n, facts_.rank(v), axis)) return false;
        for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
          if (!has(operand(i))) return false;
        return true;
      default: return false;
    }
  }
  [[nodiscard]] bool is_other_axis(node_id n, int rank, double& axis) const {
    if (!read_number(image_, facts_, names_, n, "axis", axis)) return false;
    return axis < 0 ? axis != -1 : axis != rank - 1;
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  basic_layouts<Image> layouts_;
  std::int64_t count_;
  bool apart_;
  int left_ = most_values;
};

}  // namespace fuse::inline v0::detail
