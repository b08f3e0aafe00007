// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/polynomial.hpp>
#include <fuse/infer/validity.hpp>
#include <fuse/match/state.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// What the matched nodes require of dimensions that nobody knows, and the Reshapes below them. A run in which it does
/// not hold ends at one of them, so new nodes, which stand where they did, can count on it. Found when it is first
/// asked for.
template <class Image>
class basic_matched_requirements {
 public:
  using requirement = typename basic_validity<Image>::requirement;
  using relation = typename basic_validity<Image>::relation;
  static constexpr std::size_t most_below = 64;  ///< nodes below what is matched that are looked at

  basic_matched_requirements(match_state const& match, Image const& image, facts const& known, dialect const& names)
      : match_(match), image_(image), facts_(known), validity_(image, known, names) {}

  /// Forgets what was found: the match is another one.
  void begin() {
    found_ = false;
    all_.clear();
    equal_.clear();
    positive_.clear();
    below_.clear();
    looked_below_ = false;
  }
  /// Whether a requirement of a new node holds where those of matched nodes do.
  [[nodiscard]] bool imply(requirement const& wanted) {
    if (wanted.of == relation::positive) return imply_positive(facts_.symbols().polynomial_of(wanted.a));
    find();
    for (auto const& given : all_)
      if (wanted.follows_from(given)) return true;
    if (wanted.compares_shapes()) return false;
    extent both[] = {wanted.a, wanted.b};
    equate(both);
    return both[0] == both[1];
  }

  /// Whether an extent is not 0: a product where none of its factors is.
  [[nodiscard]] bool imply_positive(polynomial const& e) {
    if (facts_.symbols().least(e) > 0 || is_positive(e)) return true;
    bool all = e.count == 1;
    for (std::uint32_t i = 0; all && i < e.terms[0].degree; ++i)
      all = facts_.symbols().least(factor(e, i)) > 0 || is_positive(factor(e, i));
    return all;
  }

  /// Makes extents the same that are required to be equal; whether some are different now.
  bool equate(span<extent> extents) {
    find();
    return replace(extents);
  }

 private:
  struct equality {
    extent one, other;
  };

  void find() {
    if (found_) return;
    found_ = true;
    for (auto const n : match_.matched()) learn(n);
  }
  void learn(node_id n) {
    if (!validity_.check(n).empty()) return;
    for (auto const& r : validity_.open()) {
      if (r.of == relation::positive) {
        learn_positive(facts_.symbols().polynomial_of(r.a));
        continue;
      }
      all_.push_back(r);
      if (r.of != relation::equal) continue;
      extent both[] = {r.a, r.b};
      replace(both);  // so that each stands for one class, and none is replaced by what is replaced before
      if (both[0] == both[1]) continue;
      equal_.push_back(both[0].known() ? equality{both[1], both[0]} : equality{both[0], both[1]});
    }
  }
  void learn_positive(polynomial const& e) {
    if (e.count != 1) return positive_.push_back(e);
    for (std::uint32_t i = 0; i < e.terms[0].degree; ++i) positive_.push_back(factor(e, i));
  }
  [[nodiscard]] polynomial factor(polynomial const& product, std::uint32_t i) const {
    return facts_.symbols().polynomial_of(extent::of_symbol(product.terms[0].atoms[i]));
  }
  [[nodiscard]] bool is_positive(polynomial const& e) {
    find();
    if (holds_positive(e)) return true;
    look_below();
    return holds_positive(e);
  }
  [[nodiscard]] bool holds_positive(polynomial const& e) const {
    for (auto const& each : positive_)
      if (each == e) return true;
    return false;
  }
  // What is matched is made by what stands below it, too: the nearest nodes count.
  void look_below() {
    if (std::exchange(looked_below_, true)) return;
    below_.assign(match_.matched());
    auto const known = below_.size();
    for (std::size_t at = 0; at < below_.size(); ++at) {
      auto const n = below_[at];
      if (at >= known && op_of(image_, n) == opcode::reshape) learn(n);
      for (std::uint32_t i = 0; i < image_.operand_count(n) && below_.size() < known + most_below; ++i)
        if (auto const from = image_.operand(n, i); from != absent && image_.producer(from) != absent)
          add_below(image_.producer(from));
    }
  }
  void add_below(node_id n) {
    for (auto const each : below_)
      if (each == n) return;
    below_.push_back(n);
  }
  bool replace(span<extent> extents) const {
    bool changed = false;
    for (auto& e : extents)
      for (auto const& same : equal_)
        if (e == same.one) e = same.other, changed = true;
    return changed;
  }

  match_state const& match_;
  Image const& image_;
  facts const& facts_;
  basic_validity<Image> validity_;
  plain_vector<requirement> all_;
  plain_vector<equality> equal_;
  plain_vector<polynomial> positive_;  // extents that are not 0
  plain_vector<node_id> below_;
  bool found_ = false, looked_below_ = false;
};

}  // namespace fuse::inline v0::detail
