// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/graph/tensor_view.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/infer/sequence_pool.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// What the parts of a value's last axis are to each other.
enum class likeness : std::uint8_t { unknown, equal, opposite };

/// Proves that the last axis of a value is several parts that are equal, element by element, or each the negative of
/// the one before: neighbours, as the halves of `Concat(f, f)` and `Concat(-f, f)`, or every so many elements
/// (`apart`), as where each element of a row is repeated. It follows from the contents of constants, from layouts that
/// repeat, and through what computes element by element, gathers rows, multiplies by a matrix whose columns repeat, or
/// joins such values along another axis. It reads facts only.
template <class Image>
class basic_equal_parts {
 public:
  static constexpr int most_values = 64;  ///< that are looked at; where it takes more, nothing is proven

  basic_equal_parts(Image const& image, facts const& known, dialect const& names, std::int64_t count, bool apart)
      : image_(image), facts_(known), names_(names), layouts_(image, known, names), count_(count), apart_(apart) {}

  [[nodiscard]] likeness of(value_id v) {
    std::int64_t length = 0;
    if (v == absent || !facts_.has_rank(v) || facts_.shape(v).empty() || left_-- == 0) return likeness::unknown;
    auto const last = facts_.shape(v).back();
    if (!last.known()) return moved(v);
    length = last.value();
    if (length < count_ || length % count_ != 0) return likeness::unknown;
    double number = 0;
    if (facts_.uniform(v, number)) return likeness::equal;
    if (image_.value(v).constant) return in_contents(image_.source->constant(v), length);
    if (image_.producer(v) == absent) return likeness::unknown;
    auto const found = moved(v);
    return found != likeness::unknown ? found : computed(v);
  }

 private:
  // What broadcasts along the axis has one element for all of it.
  [[nodiscard]] likeness of_operand(value_id v, extent last) {
    if (v == absent || !facts_.has_rank(v)) return likeness::unknown;
    auto const shape = facts_.shape(v);
    if (shape.empty() || shape.back() == extent(1)) return likeness::equal;
    return shape.back() == last ? of(v) : likeness::unknown;
  }

  [[nodiscard]] likeness in_contents(tensor_view held, std::int64_t length) const {
    auto const row = static_cast<std::size_t>(length), part = row / static_cast<std::size_t>(count_);
    auto const step = apart_ ? std::size_t{1} : part;
    if (!held || held.size() % row != 0) return likeness::unknown;
    bool equal = true, opposite = true;
    for (std::size_t i = 0; i < held.size() && (equal || opposite); ++i) {
      auto const at = i % row;
      bool const first = apart_ ? at % static_cast<std::size_t>(count_) == 0 : at < part;
      if (first) continue;
      equal = equal && same(held.number(i), held.number(i - step));
      opposite = opposite && same(held.number(i), -held.number(i - step));
    }
    return equal ? likeness::equal : opposite ? likeness::opposite : likeness::unknown;
  }

  // By the layout in what its elements come from: the axis repeats there, or is the last axis of something whose parts
  // are alike.
  [[nodiscard]] likeness moved(value_id v) {
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
      if (first == nullptr) return likeness::unknown;
      auto const& repeated = apart_ ? *last : *first;
      polynomial each;
      if (repeated.stride.is(0) && polynomial::divide(repeated.extent, polynomial(count_), each))
        return likeness::equal;
      if (first == last && is_last_axis(lies, *first, base))
        if (auto const found = of(base); found != likeness::unknown) return found;
    }
    return likeness::unknown;
  }
  // Whether what a digit runs through is one whole row of `base` after the other: one, or where parts are apart any
  // number, each of which begins with a first part.
  [[nodiscard]] bool is_last_axis(layout const& lies, layout::digit const& along, value_id base) const {
    auto const shape = facts_.polynomials(base);
    polynomial rows;
    if (shape.empty() || !along.stride.is(1)) return false;
    auto const& row = shape.back();
    bool whole = apart_ ? polynomial::divide(along.extent, row, rows) : row == along.extent;
    whole = whole && polynomial::divide(lies.offset(), row, rows);
    for (auto const& d : lies.all()) whole = whole && (&d == &along || polynomial::divide(d.stride, row, rows));
    return whole;
  }

  [[nodiscard]] likeness computed(value_id v) {
    auto const n = image_.producer(v);
    auto const op = op_of(image_, n);
    if (image_.result_index(v) != 0 || image_.node(n).has_bodies) return likeness::unknown;
    if (op == opcode::dropout) return likeness::unknown;  // of one that does nothing the layout tells
    auto const kind = info(op).kind;
    if (kind == op_kind::elementwise || kind == op_kind::broadcast)
      return element_by_element(n, facts_.shape(v).back());
    auto const operand = [&](std::uint32_t i) { return i < image_.operand_count(n) ? image_.operand(n, i) : absent; };
    double axis = 0;
    switch (op) {
      case opcode::matmul:
        return facts_.rank(operand(1)) >= 2 && of(operand(1)) == likeness::equal ? likeness::equal : likeness::unknown;
      case opcode::gather:
        return facts_.has_rank(operand(0)) && is_other_axis(n, facts_.rank(operand(0)), axis) ? of(operand(0))
                                                                                              : likeness::unknown;
      case opcode::concat:
        if (is_other_axis(n, facts_.rank(v), axis)) return all_alike(n);
        return axis == -1 || axis == facts_.rank(v) - 1 ? joined(n) : likeness::unknown;
      default: return likeness::unknown;
    }
  }
  // Equal parts make equal ones, whatever is computed of them. A minus goes through products; not through a sum, which
  // is 0 and not -0 where two numbers cancel.
  [[nodiscard]] likeness element_by_element(node_id n, extent last) {
    auto const op = op_of(image_, n);
    bool const keeps_minus = op == opcode::mul || op == opcode::div || op == opcode::neg || op == opcode::cast;
    bool opposite = false;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      auto const v = image_.operand(n, i);
      if (v == absent) continue;
      auto const found = of_operand(v, last);
      if (found == likeness::unknown) return likeness::unknown;
      opposite ^= found == likeness::opposite;
      if (found == likeness::opposite && !(keeps_minus && is_floating(facts_.type(image_.result(n)))))
        return likeness::unknown;
    }
    return opposite ? likeness::opposite : likeness::equal;
  }
  [[nodiscard]] likeness all_alike(node_id n) {
    auto const found = of(image_.operand(n, 0));
    for (std::uint32_t i = 1; found != likeness::unknown && i < image_.operand_count(n); ++i)
      if (of(image_.operand(n, i)) != found) return likeness::unknown;
    return found;
  }
  // Each part is an operand, the negative of the one before it. (Of equal ones the layout tells.)
  [[nodiscard]] likeness joined(node_id n) {
    if (static_cast<std::int64_t>(image_.operand_count(n)) != count_) return likeness::unknown;
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) {
      auto const v = image_.operand(n, i);
      if (!facts_.has_rank(v) || (apart_ && facts_.shape(v).back() != extent(1))) return likeness::unknown;
      if (i == 0) continue;
      auto const before = image_.operand(n, i - 1);
      if (!is_negative_of(before, v) && !is_negative_of(v, before)) return likeness::unknown;
    }
    return likeness::opposite;
  }
  // Whether `a` has the negatives of what `b` has, moved in the same way.
  [[nodiscard]] bool is_negative_of(value_id a, value_id b) {
    for (auto base = a; base != absent && left_-- > 0; base = layouts_.below(base)) {
      auto const positive = negated(base);
      layout of_a, of_b;
      if (positive != absent && layouts_.read(a, base, of_a) && layouts_.read(b, positive, of_b) && of_a == of_b)
        return true;
    }
    return false;
  }
  // What `v` is the negative of, or absent.
  [[nodiscard]] value_id negated(value_id v) const {
    auto const n = image_.producer(v);
    if (n == absent || image_.result_index(v) != 0) return absent;
    if (op_of(image_, n) == opcode::neg) return image_.operand(n, 0);
    if (op_of(image_, n) != opcode::mul) return absent;
    for (std::uint32_t i = 0; i < 2; ++i) {
      double number = 0;
      auto const other = image_.operand(n, 1 - i);
      if (facts_.uniform(image_.operand(n, i), number) && number == -1 && facts_.same_shape(other, v)) return other;
    }
    return absent;
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
