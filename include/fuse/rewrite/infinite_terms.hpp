// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <fuse/core/math.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/graph/tensor_view.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/match/state.hpp>
#include <fuse/ops/algebra.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/node_parameters.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/rewrite/transaction.hpp>

namespace fuse::inline v0::detail {

/// Finds numbers that a right side would add up multiples of and that are not finite: (x + y) inf is infinite where
/// x inf + y inf may be no number, and so are products of matrices. What has been an operand of a sum before may be one
/// again, and so may a number that a selection gave it.
template <class Image>
class basic_infinite_terms {
 public:
  basic_infinite_terms(Image const& image, facts const& known, dialect const& names, match_state const& match,
                       basic_transaction<Image> const& changes)
      : image_(image), facts_(known), names_(names), match_(match), changes_(changes) {}

  /// What the first of them below new nodes is called, or nothing. Linear in what is new, and in the elements of
  /// constants that get below a sum.
  [[nodiscard]] std::string find() const {
    for (auto n = changes_.first_node(); n < image_.node_count(); ++n) {
      auto const terms = terms_of(n);
      for (std::uint32_t i = 0; i < terms; ++i)
        if (auto const found = below(image_.operand(n, i)); found != absent) return image_.source->value_name(found);
      for (auto const& p : info(op_of(image_, n)).parameters)
        if (double number = 0;
            terms != 0 && read_number(image_, facts_, names_, n, p.name, number) && !math::is_finite(number))
          return std::string(image_.source->op_name(n)) + "'s " + std::string(p.name);
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint32_t terms_of(node_id n) const {
    return operands_added_up(op_of(image_, n), image_.operand_count(n));
  }
  [[nodiscard]] bool was_added_up(value_id v) const {
    for (auto n : match_.matched())
      for (std::uint32_t i = 0; i < terms_of(n); ++i)
        if (gives(image_.operand(n, i), v)) return true;
    return false;
  }
  // Whether `sum`, an operand of a sum, is `v`, or a selection that may be.
  [[nodiscard]] bool gives(value_id sum, value_id v) const {
    if (sum == v) return true;
    auto const n = sum == absent ? absent : image_.producer(sum);
    if (n == absent || op_of(image_, n) != opcode::where || image_.operand_count(n) != 3) return false;
    double held = 0, wanted = 0;
    for (auto const i : {1u, 2u}) {
      auto const each = image_.operand(n, i);
      if (each == v || (facts_.uniform(each, held) && facts_.uniform(v, wanted) && held == wanted)) return true;
    }
    return false;
  }

  [[nodiscard]] value_id below(value_id v) const {
    if (v == absent) return absent;
    auto const n = image_.producer(v);
    if (n == absent || !changes_.is_new(n)) return !is_finite(v) && !was_added_up(v) ? v : absent;
    if (terms_of(n) != 0) return absent;  // looked at by itself
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
      if (auto const found = below(image_.operand(n, i)); found != absent) return found;
    return absent;
  }
  // Not so where it is known to have an element that is infinite, or none.
  [[nodiscard]] bool is_finite(value_id v) const {
    if (double number = 0; facts_.uniform(v, number)) return math::is_finite(number);
    for (auto const number : facts_.numbers(v))
      if (!math::is_finite(number)) return false;
    if (!image_.value(v).constant || !is_floating(facts_.type(v)) || was_added_up(v)) return true;
    return image_.source->constant(v).all_numbers([](double number) { return math::is_finite(number); });
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  match_state const& match_;
  basic_transaction<Image> const& changes_;
};
using infinite_terms = basic_infinite_terms<graph_image>;

}  // namespace fuse::inline v0::detail
