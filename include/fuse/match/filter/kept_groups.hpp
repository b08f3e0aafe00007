// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/core/plain_vector.hpp>
#include <fuse/match/opened_group.hpp>

namespace fuse::inline v0::detail {

/// Sums and products that are open. They are met again, by other rules and from other nodes: those that were opened
/// last stay, till the graph changes.
class kept_groups {
 public:
  kept_groups() { groups_.reserve(capacity + match_frames); }

  /// A new search begins: what others opened may give way.
  void begin() { ++search_; }
  /// The graph has changed.
  void forget() { ++graph_; }

  /// The group that is asked for, of frame `frame`; where it is not kept, `open(group)` opens it.
  template <class Open>
  opened_group const& get(group_request const& wanted, std::uint8_t frame, Open const& open) {
    auto& known = place_of_[hash(wanted)];
    if (kept_[known].graph == graph_ && kept_[known].what == wanted) {
      kept_[known].search = search_;
      return groups_[known];
    }
    std::size_t at = capacity + frame;
    next_ = (next_ + 1) % capacity;
    if (kept_[next_].search != search_) {
      at = next_;
      kept_[at] = {wanted, graph_, search_};
      known = static_cast<std::uint8_t>(at);
    }
    if (at >= groups_.size()) groups_.resize(at + 1);  // they are large, and few are ever used
    open(groups_[at]);
    return groups_[at];
  }

 private:
  static constexpr std::size_t capacity = 64, match_frames = 32;

  [[nodiscard]] static std::size_t hash(group_request const& of) {
    auto const kind = static_cast<unsigned>(of.kind);
    auto const mixed = of.of.value * 0x9e3779b1u ^ (kind * 8u + of.through + of.flags) * 0x85ebca6bu ^
                       static_cast<unsigned>(of.sought.deep ^ of.sought.deep >> 32) * 0xc2b2ae35u;
    return mixed >> 23;
  }
  struct kept {
    group_request what{};
    std::uint32_t graph = 0;
    std::uint32_t search = 0;  // the last one that needed it
  };

  plain_vector<opened_group> groups_;  // those that are kept, then one of each frame's own
  kept kept_[capacity];
  std::uint8_t place_of_[512]{};  // by hash of a request: where it is kept, if it is
  std::size_t next_ = 0;
  std::uint32_t search_ = 1, graph_ = 1;
};

}  // namespace fuse::inline v0::detail
