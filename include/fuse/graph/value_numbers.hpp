// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <fuse/core/hash_index.hpp>
#include <fuse/graph/concepts.hpp>
#include <fuse/graph/image.hpp>

namespace fuse::inline v0::detail {

/// Values of a graph to their numbers: an array where the graph has dense indices, else a hash table.
template <class G>
class value_numbers {
 public:
  explicit value_numbers(G const& graph) : graph_(&graph) {}

  [[nodiscard]] value_id find(value_of<G> const& v) const {
    if constexpr (has_index<G>) {
      auto const at = static_cast<std::size_t>(graph_traits<G>::index(*graph_, v));
      return at < numbers_.size() ? numbers_[at] : absent;
    } else {
      auto const at = place(v);
      return at == places_.none ? absent : numbers_[at];
    }
  }
  void reserve(std::size_t values) { numbers_.reserve(values); }
  void set(value_of<G> const& v, value_id number) {
    if constexpr (has_index<G>) {
      auto const at = static_cast<std::size_t>(graph_traits<G>::index(*graph_, v));
      if (at >= numbers_.size()) numbers_.resize(at + at / 8 + 64, absent);
      numbers_[at] = number;
    } else if (auto const at = place(v); at != places_.none) {
      numbers_[at] = number;
    } else {
      places_.add(std::hash<value_of<G>>{}(v), numbers_.size());
      values_.push_back(v);
      numbers_.push_back(number);
    }
  }

 private:
  [[nodiscard]] std::size_t place(value_of<G> const& v) const {
    return places_.find(std::hash<value_of<G>>{}(v), [&](std::size_t at) { return values_[at] == v; });
  }

  G const* graph_;
  std::vector<value_id> numbers_;  // by index, or by place
  // Of a graph without an index:
  std::vector<value_of<G>> values_;
  hash_index<std::size_t> places_;
};

}  // namespace fuse::inline v0::detail
