// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/core/plain_vector.hpp>
#include <fuse/match/filter/frame_needs.hpp>
#include <fuse/match/opened_group.hpp>
#include <fuse/program/instruction.hpp>

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

  /// The group that step `i` opens at `from`, down to parts that have none of what is `sought` below them; where it is
  /// not kept, `open(group, sought)` opens it.
  template <class Open>
  opened_group const& get(reading const& from, instruction const& i, frame_needs::needs const& sought,
                          std::uint32_t region, Open const& open) {
    constexpr auto matter = instruction::clips | instruction::free | instruction::divides | instruction::scales;
    request const wanted{from.value, from.shape, sought,    region,
                         graph_,     i.op,       i.through, static_cast<std::uint8_t>(i.flags & matter),
                         from.power};
    auto& known = place_of_[wanted.hash()];
    if (kept_[known].what == wanted) {
      kept_[known].search = search_;
      return groups_[known];
    }
    std::size_t at = capacity + i.b;
    next_ = (next_ + 1) % capacity;
    if (kept_[next_].search != search_) {
      at = next_;
      kept_[at] = {wanted, search_};
      known = static_cast<std::uint8_t>(at);
    }
    if (at >= groups_.size()) groups_.resize(at + 1);  // they are large, and few are ever used
    auto& made = groups_[at];
    made.clips = (i.flags & instruction::clips) != 0;
    made.free = (i.flags & instruction::free) != 0;
    made.divides = (i.flags & instruction::divides) != 0;
    made.scales = (i.flags & instruction::scales) != 0;
    open(made, wanted.sought);
    return made;
  }

 private:
  static constexpr std::size_t capacity = 64, match_frames = 32;

  // What was asked for when a group was opened.
  struct request {
    value_id value, shape;
    frame_needs::needs sought;
    std::uint32_t region, graph;
    std::uint16_t kind;
    std::uint8_t through, flags, power;
    friend bool operator==(request const&, request const&) = default;
    [[nodiscard]] std::size_t hash() const {
      auto const mixed = value * 0x9e3779b1u ^ (kind * 8u + through + flags) * 0x85ebca6bu ^
                         static_cast<unsigned>(sought.deep ^ sought.deep >> 32) * 0xc2b2ae35u;
      return mixed >> 23;
    }
  };
  struct kept {
    request what{};
    std::uint32_t search = 0;  // the last one that needed it
  };

  plain_vector<opened_group> groups_;  // those that are kept, then one of each frame's own
  kept kept_[capacity];
  std::uint8_t place_of_[512]{};  // by hash of a request: where it is kept, if it is
  std::size_t next_ = 0;
  std::uint32_t search_ = 1, graph_ = 1;
};

}  // namespace fuse::inline v0::detail
