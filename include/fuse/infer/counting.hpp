// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/graph/tensor_view.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// Proves that a value counts along its last axis: the elements of each row are 0, 1, 2, and so on, as positions are.
/// It follows from the contents of constants, from a Range, from the indices of all elements (a NonZero of ones), and
/// through layouts that keep the beginning of such a row. It reads facts only.
template <class Image>
class basic_counting {
 public:
  static constexpr int most_values = 64;  ///< that are looked at; where it takes more, nothing is proven

  basic_counting(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), layouts_(image, known, names) {}

  [[nodiscard]] bool counts(value_id v) {
    if (v == absent || !facts_.has_rank(v) || facts_.shape(v).empty() || left_-- == 0) return false;
    if (in_contents(v)) return true;
    auto const n = image_.producer(v);
    if (n == absent || image_.result_index(v) != 0) return false;
    switch (op_of(image_, n)) {
      case opcode::range: return is(image_.operand(n, 0), 0) && is(image_.operand(n, 2), 1);
      case opcode::cast: return has_room(facts_.type(v)) && counts(image_.operand(n, 0));
      case opcode::non_zero: {
        double number = 0;
        auto const of = image_.operand(n, 0);
        return facts_.rank(of) == 1 && facts_.uniform(of, number) && number != 0;
      }
      case opcode::expand: return moved(v) || repeated(v, image_.operand(n, 0));
      default: return moved(v);
    }
  }

 private:
  [[nodiscard]] bool is(value_id v, double wanted) const {
    double number = 0;
    return v != absent && facts_.number(v, number) && number == wanted;
  }
  // For as many as any axis has.
  [[nodiscard]] static bool has_room(element_type type) {
    return type == element_type::int32 || type == element_type::int64;
  }

  [[nodiscard]] bool in_contents(value_id v) const {
    auto const last = facts_.shape(v).back();
    if (!last.known() || last.value() < 1) return false;
    auto const row = static_cast<std::size_t>(last.value());
    if (auto const held = image_.value(v).constant ? image_.source->constant(v) : tensor_view{}; held) {
      if (held.size() % row != 0) return false;
      for (std::size_t i = 0; i < held.size(); ++i)
        if (held.number(i) != static_cast<double>(i % row)) return false;
      return true;
    }
    if (!facts_.has_integers(v)) return false;
    auto const elements = facts_.symbolic_integers(v);
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (!(elements[i] == extent(static_cast<std::int64_t>(i % row)))) return false;
    return elements.size() % row == 0;
  }

  // Rows that are repeated, and as long as they were.
  [[nodiscard]] bool repeated(value_id v, value_id of) {
    return facts_.rank(of) > 0 &&
           facts_.symbols().equal_where_broadcast(facts_.shape(v).back(), facts_.shape(of).back()) && counts(of);
  }

  // Each row is the beginning of the only row of what the elements come from.
  [[nodiscard]] bool moved(value_id v) {
    auto const axis = facts_.shape(v).size() - 1;
    for (auto base = layouts_.below(v); base != absent && left_-- > 0; base = layouts_.below(base)) {
      layout lies;
      if (!is_one_row(base) || !layouts_.read(v, base, lies)) continue;
      bool whole = lies.offset().is(0);
      int along = 0;  // digits of a row: one runs through it, of several each would begin again
      for (auto const& d : lies.all()) {
        whole = whole && d.stride.is(d.axis == axis ? 1 : 0);
        along += d.axis == axis ? 1 : 0;
      }
      if (whole && along <= 1 && counts(base)) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_one_row(value_id v) const {
    auto const shape = facts_.shape(v);
    for (std::size_t i = 0; i + 1 < shape.size(); ++i)
      if (!(shape[i] == extent(1))) return false;
    return !shape.empty();
  }

  Image const& image_;
  facts const& facts_;
  basic_layouts<Image> layouts_;
  int left_ = most_values;
};

}  // namespace fuse::inline v0::detail
