// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fuse/core/math.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/bare_value.hpp>
#include <fuse/infer/congruence.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/numbers.hpp>
#include <fuse/match/group_opener.hpp>
#include <fuse/match/state.hpp>

namespace fuse::inline v0::detail {

/// Compares sums and products by what they are made of: in any bracketing, numbers multiplied out.
template <class Image>
class basic_multisets {
 public:
  basic_multisets(Image const& image, facts const& known, operator_sets const& operators, congruence& congruent,
                  basic_group_opener<Image> const& opener, match_state const& state)
      : image_(image), facts_(known), operators_(operators), congruent_(congruent), opener_(opener), s_(state) {}

  /// Whether two values are one computation.
  [[nodiscard]] bool same(value_id a, value_id b) { return congruent_.same_bare(a, b); }

  /// Whether what is left of a sum or product is what was left of another one. `like` is the one that is open.
  [[nodiscard]] bool equal(span<rest_member const> before, span<rest_member const> now, opened_group const& like) {
    list a(before), b(now);
    if (same(a, b)) return true;
    list first, second;
    first.number = second.number = like.sums() ? 0 : 1;
    return open(before, like.asked.kind, like, first) && open(now, like.asked.kind, like, second) &&
           math::close_to(second.number, first.number, like.integers ? 0 : usual_tolerance) && same(first, second);
  }

  /// By which number two products of the same factors differ; 0: they have others.
  [[nodiscard]] double ratio(value_id a, value_id b, opened_group const& like) {
    if (((operators_[a].direct | operators_[b].direct) & product_bit) == 0) return 0;
    rest_member const one{a, 1}, other{b, 1};
    list first, second;
    bool const open_both =
        open({&one, 1}, op_group::product, like, first) && open({&other, 1}, op_group::product, like, second);
    bool const factors = open_both && first.count != 0 && first.number != 0;  // numbers alone are no multiples
    return factors && same(first, second) ? second.number / first.number : 0;
  }

 private:
  struct list {
    rest_member all[match_state::rest_capacity];
    std::size_t count = 0;
    double number = 1;

    list() = default;
    explicit list(span<rest_member const> members) {
      for (auto const& m : members) all[count++] = m;
    }
  };

  // In any order, which is that of `a` then.
  [[nodiscard]] bool same(list const& a, list& b) {
    if (a.count != b.count) return false;
    for (std::size_t i = 0; i < a.count; ++i) {
      auto at = i;
      while (at < b.count && (b.all[at].weight != a.all[i].weight || !same(a.all[i].value, b.all[at].value))) ++at;
      if (at == b.count) return false;
      std::swap(b.all[i], b.all[at]);
    }
    return true;
  }

  // Opens members all the way; their numbers and signs go into that of the list. One that is a number is opened as
  // well: what half types round their product to is not that product.
  [[nodiscard]] bool open(span<rest_member const> members, op_group kind, opened_group const& like, list& into) {
    for (auto const& m : members) {
      auto const flags = static_cast<std::uint8_t>((like.asked.flags & instruction::free) | instruction::scales);
      opener_.open(opened_, {{m.value}, kind, like.asked.through, flags, s_.region});
      if (opened_.bounded) return false;
      for (std::uint8_t k = 0; k < opened_.count; ++k) {
        auto const& p = opened_.parts[k];
        bool const factor = p.leaf && !p.has_number;
        if (!p.leaf && p.leaves != 0 && !p.has_number && narrows(image_, facts_, p.value)) return false;
        if (p.leaf && p.has_number && !like.asked.asks(instruction::free) && has_several(facts_, p.value)) return false;
        if (factor && (p.shape != absent || !add(p.value, p.weight * p.power * m.weight, into))) return false;
      }
      auto const number = opened_.negative() ? -opened_.number(opened_.all()) : opened_.number(opened_.all());
      into.number = opened_.sums() ? into.number + m.weight * number : into.number * math::pow(number, m.weight);
    }
    return true;
  }

  // Of what is there already, so many times more.
  [[nodiscard]] bool add(value_id v, double weight, list& into) {
    for (std::size_t i = 0; i < into.count && math::is_whole(weight); ++i) {
      auto& known = into.all[i].weight;
      if (known * weight > 0 && math::is_whole(known) && same(into.all[i].value, v)) return known += weight, true;
    }
    if (into.count == match_state::rest_capacity) return false;
    into.all[into.count++] = {v, weight};
    return true;
  }

  Image const& image_;
  facts const& facts_;
  operator_sets const& operators_;
  congruence& congruent_;
  basic_group_opener<Image> const& opener_;
  match_state const& s_;
  opened_group opened_;
};

}  // namespace fuse::inline v0::detail
