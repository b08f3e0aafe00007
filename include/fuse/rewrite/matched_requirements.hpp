// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/validity.hpp>
#include <fuse/match/state.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// What the matched nodes require of dimensions that nobody knows. A run in which it does not hold ends at one of them,
/// so new nodes, which stand where they did, can count on it. Found when it is first asked for.
template <class Image>
class basic_matched_requirements {
 public:
  using requirement = typename basic_validity<Image>::requirement;

  basic_matched_requirements(match_state const& match, Image const& image, facts const& known, dialect const& names)
      : match_(match), validity_(image, known, names) {}

  /// Forgets what was found: the match is another one.
  void begin() { found_ = false; }

  /// Whether a requirement of a new node holds where those of matched nodes do.
  [[nodiscard]] bool imply(requirement const& wanted) {
    find();
    for (auto const& given : all_)
      if (wanted.follows_from(given)) return true;
    if (wanted.whole) return false;
    extent both[] = {wanted.a, wanted.b};
    equate(both);
    return both[0] == both[1];
  }

  /// Makes extents the same that are required to be equal; whether some are different now.
  bool equate(span<extent> extents) {
    find();
    bool changed = false;
    for (auto& e : extents)
      for (auto const& same : equal_)
        if (e == same.one) e = same.other, changed = true;
    return changed;
  }

 private:
  struct equality {
    extent one, other;
  };

  void find() {
    if (found_) return;
    found_ = true;
    all_.clear();
    equal_.clear();
    for (auto const n : match_.matched())
      if (validity_.check(n).empty()) all_.append(validity_.open());
    for (auto const& r : all_) {
      if (r.whole || r.broadcasts) continue;
      extent both[] = {r.a, r.b};
      equate(both);  // so that each stands for one class, and none is replaced by what is replaced before
      if (both[0] == both[1]) continue;
      equal_.push_back(both[0].known() ? equality{both[1], both[0]} : equality{both[0], both[1]});
    }
  }

  match_state const& match_;
  basic_validity<Image> validity_;
  plain_vector<requirement> all_;
  plain_vector<equality> equal_;
  bool found_ = false;
};

}  // namespace fuse::inline v0::detail
