// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <string_view>
#include <vector>

#include <fuse/graph/concepts.hpp>

namespace graph_concepts {

namespace {

// Adaptations that lack one member each, or return another type.
template <int Missing>
struct adapted {};

template <int Missing>
struct members {
  using node = int;
  using value = int;
  using G = adapted<Missing>;
  static std::vector<node> nodes(G const&) requires(Missing != 1) { return {}; }
  static std::string_view op_name(G const&, node) requires(Missing != 2) { return {}; }
  static std::vector<value> operands(G const&, node) requires(Missing != 3) { return {}; }
  static std::vector<value> results(G const&, node) requires(Missing != 4) { return {}; }
  static node producer(G const&, value) requires(Missing != 5) { return {}; }
  static std::vector<value> outputs(G const&) requires(Missing != 6) { return {}; }
  static node insert(G&, node, fuse::new_node<value> const&) requires(Missing != 7) { return {}; }
  static void replace_uses(G&, value, value) requires(Missing != 8) {}
  static void erase(G&, node) requires(Missing != 9) {}
  static bool erase(G&, node) requires(Missing == 9) { return true; }
};

}  // namespace

}  // namespace graph_concepts

template <int Missing>
struct fuse::graph_traits<graph_concepts::adapted<Missing>> : graph_concepts::members<Missing> {};

namespace graph_concepts {

TEST_CASE("a type is readable with all of the required members, and rewritable with the edits as well") {
  STATIC_REQUIRE(fuse::readable_graph<adapted<0>>);
  STATIC_REQUIRE(fuse::rewritable_graph<adapted<0>>);
  STATIC_REQUIRE_FALSE(fuse::use_tracking_graph<adapted<0>>);
  STATIC_REQUIRE_FALSE(fuse::readable_graph<adapted<1>>);
  STATIC_REQUIRE_FALSE(fuse::readable_graph<adapted<2>>);
  STATIC_REQUIRE_FALSE(fuse::readable_graph<adapted<3>>);
  STATIC_REQUIRE_FALSE(fuse::readable_graph<adapted<4>>);
  STATIC_REQUIRE_FALSE(fuse::readable_graph<adapted<5>>);
  STATIC_REQUIRE_FALSE(fuse::readable_graph<adapted<6>>);
}

TEST_CASE("a type without an edit, or with one of another return type, can still be read") {
  STATIC_REQUIRE(fuse::readable_graph<adapted<7>>);
  STATIC_REQUIRE_FALSE(fuse::rewritable_graph<adapted<7>>);
  STATIC_REQUIRE(fuse::readable_graph<adapted<8>>);
  STATIC_REQUIRE_FALSE(fuse::rewritable_graph<adapted<8>>);
  STATIC_REQUIRE(fuse::readable_graph<adapted<9>>);
  STATIC_REQUIRE_FALSE(fuse::rewritable_graph<adapted<9>>);
  STATIC_REQUIRE_FALSE(fuse::readable_graph<int>);
}

}  // namespace graph_concepts
