// SPDX-License-Identifier: BSL-1.0
// expect: graph_traits<G>::functions(g) must return a range of bodies
// expect: my::ir
// twin: graph_twin.cpp
#include <fuse/fuse.hpp>

#include <string_view>
#include <vector>

namespace my {
struct ir {
  std::vector<int> nodes;
};
}  // namespace my

template <>
struct fuse::graph_traits<my::ir> {
  using node = int;
  using value = int;
  static std::vector<int> nodes(my::ir const& g) { return g.nodes; }
  static std::string_view op_name(my::ir const&, int) { return "Relu"; }
  static std::vector<int> operands(my::ir const&, int) { return {}; }
  static std::vector<int> results(my::ir const&, int) { return {}; }
  static int producer(my::ir const&, int) { return 0; }
  static std::vector<int> outputs(my::ir const&) { return {}; }
  static int insert(my::ir&, int, fuse::new_node<int> const&) { return 0; }
  static void replace_uses(my::ir&, int, int) {}
  static void erase(my::ir&, int) {}
  static std::vector<int> functions(my::ir const&) { return {}; }  // and no calls of them
};

fuse::rewrite_report use(my::ir& g) { return fuse::rewrite<fuse::rules::norms>(g); }
