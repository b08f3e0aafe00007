// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/match/explain.hpp>
#include <fuse/match/machine.hpp>

namespace fuse::inline v0::detail {

/// Finds where most of a rule is there and no rule was applied: what the rule still wanted. Looked for at every root,
/// and above every landmark that a rule could have taken: the nearest miss there counts, however little of the rule it
/// has. Landmarks are operators that make fewer elements of many: sums, products and what works on each element for
/// itself are everywhere in a graph, and one of these alone is no news. Rules without reductions are looked for above
/// the other operators that they ask for.
template <class Image>
class basic_near_misses {
 public:
  basic_near_misses(machine& match, Image const& image, facts const& known, dialect const& names)
      : machine_(match), rules_(match.rules()), image_(image), facts_(known), names_(names) {}

  /// Calls `tell(explanation)` once per value at which a rule of `stage` that is in `selected` failed. `fused(n)`: node
  /// n took part in a rewrite.
  template <class Fused, class Tell>
  void find(int stage, std::vector<bool> const& selected, Fused const& fused, Tell const& tell) {
    auto const speaks = [&](std::size_t rule) {
      return rules_.rules[rule].stage == stage && selected[rule] && !rules_.rules[rule].silent;
    };
    bool any = false, anywhere = false;
    opcode_set telling{};
    for (std::size_t rule = 0; rule < rules_.rules.size(); ++rule) {
      any = any || speaks(rule);
      if (!speaks(rule) || rules_.rules[rule].reduces) continue;
      telling.add(rules_.rules[rule].telling);
      anywhere = anywhere || rules_.rules[rule].telling.empty();  // it is of sums and products alone
    }
    if (!any) return;
    if (anywhere)
      reach_.assign(image_.node_count(), true);
    else if (!mark_what_is_reached(telling, fused))
      return;

    // A failure of a rule that does not speak hides none of those that do; nor, above a landmark, of one that asks for
    // none.
    chosen_rules const all(rules_, speaks);
    misses above(*this, stage, [&](std::size_t rule) { return speaks(rule) && rules_.rules[rule].reduces; });
    std::vector<bool> told(image_.value_count(), false);
    auto const tell_once = [&](chosen_rules const& of, node_id n, value_id at) {
      if (!told[at]) tell(explain(machine_, image_, facts_, names_, n, stage, &of));
      told[at] = true;
    };
    looking_for const near(machine_, search_for::near_misses);
    for (node_id n = image_.node_count(); n-- > 0;) {
      if (!image_.node(n).alive || !reach_[n] || fused(n)) continue;
      if (auto const failed = failure_at(machine_, n, stage, &all);
          failed.score >= instruction::near_miss && failed.value != absent && !matches(n, stage, all))
        tell_once(all, n, failed.value);
      if (!is_landmark(n)) continue;
      miss nearest;
      list_users(n);
      for (auto user : users_)
        if (auto const& found = above.at(user); found.score > nearest.score) nearest = found;
      int const least = asked_for(op_of(image_, n)) ? 0 : 1;  // of another, a root must be there at least
      if (nearest.score >= least && nearest.score < instruction::near_miss)
        tell_once(above.rules, nearest.node, nearest.at);
    }
  }

 private:
  struct miss {
    node_id node = absent;
    value_id at = absent;
    int score = -1;  // -1: none of the rules missed
  };

  // How far matching of some rules got at each node. Asked for again and again above neighbouring landmarks, so kept.
  class misses {
   public:
    chosen_rules const rules;

    template <class Choose>
    misses(basic_near_misses& in, int stage, Choose const& choose)
        : rules(in.rules_, choose), in_(in), stage_(stage), kept_(in.image_.node_count(), miss{}) {}

    miss const& at(node_id n) {
      auto& kept = kept_[n];
      if (kept.node == n) return kept;
      kept.node = n;
      if (in_.matches(n, stage_, rules)) return kept;
      looking_for const failures(in_.machine_, search_for::failures);
      if (auto const failed = failure_at(in_.machine_, n, stage_, &rules); failed.value != absent) {
        kept.at = failed.value;
        kept.score = failed.score;
      }
      return kept;
    }

   private:
    basic_near_misses& in_;
    int stage_;
    plain_vector<miss> kept_;
  };

  [[nodiscard]] bool matches(node_id n, int stage, chosen_rules const& rules) {
    looking_for const whole(machine_, search_for::matches);
    return !matches_at(machine_, n, stage, &rules).empty();
  }

  [[nodiscard]] bool is_landmark(node_id n) const { return info(op_of(image_, n)).shape == shape_function::reduce; }
  // Whether a rule asks for a landmark of that operator.
  [[nodiscard]] bool asked_for(opcode op) const {
    for (auto const& i : rules_.code)
      if (i.code == step::reduction && i.op == static_cast<std::uint16_t>(op)) return true;
    return false;
  }

  // Nodes that have a landmark, or an operator among `telling` that took part in no rewrite, at most 16 nodes below
  // them; false where there is none. Most of a graph is done with at that: explaining every sum and product of a
  // transformer takes many times as long as all the rest.
  template <class Fused>
  bool mark_what_is_reached(opcode_set const& telling, Fused const& fused) {
    if (telling.empty() && !any_landmark()) return false;
    bool any = false;
    constexpr std::uint8_t far = 17;
    plain_vector<std::uint8_t> distance(image_.node_count(), far);
    reach_.assign(image_.node_count(), false);
    for (auto n = image_.first_node(); n != absent; n = image_.node(n).next) {
      if (is_landmark(n) || (telling.has(op_of(image_, n)) && !fused(n))) distance[n] = 0, any = true;
      for (std::uint32_t i = 0; i < image_.operand_count(n); ++i)
        if (auto const v = image_.operand(n, i); v != absent && image_.producer(v) != absent)
          if (auto const below = distance[image_.producer(v)]; below + 1 < distance[n])
            distance[n] = static_cast<std::uint8_t>(below + 1);
      reach_[n] = distance[n] < far;
    }
    return any;
  }

  // The facts list them as they find them; a number may have been another node's, which was taken back.
  [[nodiscard]] bool any_landmark() {
    auto const all = facts_.reductions();
    for (; listed_ < all.size(); ++listed_) landmarks_.push_back(all[listed_]);
    auto const is_there = [&](node_id n) { return n < image_.node_count() && image_.node(n).alive && is_landmark(n); };
    while (!landmarks_.empty() && !is_there(landmarks_.back())) landmarks_.pop_back();
    return !landmarks_.empty();
  }

  // Up to 32 nodes that use what `n` computes, directly or not, the nearest first.
  void list_users(node_id n) {
    users_.assign(1, n);
    for (std::size_t at = 0; at < users_.size() && users_.size() < 32; ++at)
      for (std::uint32_t k = 0; k < image_.node(users_[at]).result_count; ++k)
        image_.for_each_user(image_.result(users_[at], k), [&](node_id user) {
          if (users_.size() < 32 && !is_listed(user)) users_.push_back(user);
        });
  }
  [[nodiscard]] bool is_listed(node_id user) const {
    for (auto const listed : users_)
      if (listed == user) return true;
    return false;
  }

  machine& machine_;
  program const& rules_;
  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  std::vector<bool> reach_;
  plain_vector<node_id> users_;
  plain_vector<node_id> landmarks_;  // of the first `listed_` that the facts tell; the last one is alive
  std::size_t listed_ = 0;
};
using near_misses = basic_near_misses<graph_image>;

}  // namespace fuse::inline v0::detail
