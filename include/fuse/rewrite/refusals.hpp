// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/rewrite/report.hpp>

namespace fuse::inline v0::detail {

/// What was refused, until it is clear how much of it the report tells.
template <class Image>
class basic_refusals {
 public:
  /// One that the report may tell.
  struct refused_match {
    std::uint16_t rule;
    node_id root, witness;  ///< matches of one thing have the same witness
    std::string node, condition, reason;
    bool matched;          ///< the whole pattern, with every condition
    bool quiet;            ///< the rule repeats no condition that another one has told
    bool lasting = false;  ///< also where a smaller rule applies
  };

  explicit basic_refusals(Image const& image) : image_(image) {}

  /// Counts only if nothing applies at its root in the end: until `leave`, which ends the visit there.
  void add(refused_match made) {
    for (auto const& r : here_)
      if (r.rule == made.rule && r.reason == made.reason) return;
    here_.push_back(std::move(made));
  }
  void leave(bool applied) {
    if (!applied)
      for (auto& r : here_) all_.push_back(std::move(r));
    here_.clear();
  }
  /// Counts whatever applies at its root.
  void add_near_miss(refused_match made) { all_.push_back(std::move(made)); }

  /// Tells those that `stands(refused_match)` holds of: at one root each condition of a rule once, up to three of them
  /// for what did not match. A root of matches that were refused is one more place where the rule matched.
  template <class Stands>
  void tell(rewrite_report& report, Stands const& stands) const {
    if (all_.empty()) return;
    plain_vector<refused_match const*> said;  // at one root
    for (auto const* by_root : by_roots()) {
      auto const& r = *by_root;
      if (!said.empty() && said.front()->root != r.root) said.clear();
      int unmatched = 0;
      bool alike = false, counted = !r.matched;
      for (auto const* other : said) {
        if (other->rule != r.rule) {
          alike = alike || (r.quiet && !r.matched && other->reason == r.reason);
          continue;
        }
        unmatched += other->matched ? 0 : 1;
        counted = counted || other->matched;
        alike = alike || (other->condition == r.condition && other->matched == r.matched);
      }
      if (alike || (!r.matched && unmatched >= 3) || !stands(r)) continue;
      said.push_back(&r);
      auto& of_rule = report.rules[r.rule];
      if (!counted) ++of_rule.matched;
      of_rule.refused.push_back({r.node, r.condition, r.reason});
    }
  }

 private:
  // In the order of their roots, then as they came.
  [[nodiscard]] plain_vector<refused_match const*> by_roots() const {
    plain_vector<std::uint32_t> place(image_.node_count() + 1, 0);
    for (auto const& r : all_) ++place[r.root + 1];
    for (std::size_t n = 1; n < place.size(); ++n) place[n] += place[n - 1];
    plain_vector<refused_match const*> sorted(all_.size());
    for (auto const& r : all_) sorted[place[r.root]++] = &r;
    return sorted;
  }

  Image const& image_;
  std::vector<refused_match> here_, all_;
};
using refusals = basic_refusals<graph_image>;

}  // namespace fuse::inline v0::detail
