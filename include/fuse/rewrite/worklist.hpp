// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <fuse/core/plain_vector.hpp>
#include <fuse/graph/image.hpp>

namespace fuse::inline v0::detail {

/// Nodes that wait to be looked at, users before producers, whoever listed them and when: what is rewritten is the same
/// then, whatever else was looked at in between. A binary heap by their order in the image.
template <class Image>
class basic_worklist {
 public:
  explicit basic_worklist(Image const& image) : image_(image) {}

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  void clear() { heap_.clear(); }

  /// Logarithmic.
  void add(node_id n) {
    auto at = heap_.size();
    heap_.push_back(n);
    for (; at != 0 && after(n, heap_[(at - 1) / 2]); at = (at - 1) / 2) heap_[at] = heap_[(at - 1) / 2];
    heap_[at] = n;
  }
  /// Takes out the last one in the order of the image, however often it was added. Logarithmic for each time.
  node_id take() {
    auto const last = heap_[0];
    do drop_first();
    while (!heap_.empty() && heap_[0] == last);
    return last;
  }

 private:
  void drop_first() {
    auto const n = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    std::size_t at = 0;
    for (auto below = std::size_t{1}; below < heap_.size(); below = 2 * at + 1) {
      if (below + 1 < heap_.size() && after(heap_[below + 1], heap_[below])) ++below;
      if (!after(heap_[below], n)) break;
      heap_[at] = heap_[below];
      at = below;
    }
    heap_[at] = n;
  }
  // Whether node `a` stands behind node `b`. What is gone has the place that it had.
  [[nodiscard]] bool after(node_id a, node_id b) const { return image_.node(a).order > image_.node(b).order; }

  Image const& image_;
  plain_vector<node_id> heap_;
};
using worklist = basic_worklist<graph_image>;

}  // namespace fuse::inline v0::detail
