// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include <fuse/fuse.hpp>

namespace rewrite_worklist {

TEST_CASE("of nodes that wait, the last one has its turn first, and once") {
  fuse::graph g(17);
  auto v = g.input("a", fuse::element_type::float32, {4});
  for (int i = 0; i < 40; ++i) v = g.add("Relu", {v});
  g.output(v, "y");
  constexpr auto const& names = fuse::dialect_of<fuse::graph>;
  fuse::graph_binding<fuse::graph> const bound(g, fuse::names_in(names), names.newest);
  fuse::detail::worklist waiting(bound.image);
  std::vector<fuse::node_id> there;
  std::mt19937 draw(1);
  for (int i = 0; i < 2000; ++i) {
    if (there.empty() || draw() % 2 == 0) {
      there.push_back(static_cast<fuse::node_id>(draw() % bound.image.node_count()));
      waiting.add(there.back());
    } else {
      auto const last = *std::max_element(there.begin(), there.end());
      CHECK(waiting.take() == last);
      std::erase(there, last);
    }
    CHECK(waiting.empty() == there.empty());
  }
  waiting.clear();
  CHECK(waiting.empty());
}

}  // namespace rewrite_worklist
