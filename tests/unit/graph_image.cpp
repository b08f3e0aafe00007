// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <vector>

#include <fuse/graph/image.hpp>

namespace graph_image {

using fuse::absent;
using fuse::graph_image;

namespace {

std::vector<fuse::node_id> users(graph_image const& image, fuse::value_id v) {
  std::vector<fuse::node_id> all;
  image.for_each_user(v, [&](fuse::node_id n) { all.push_back(n); });
  return all;
}

// x -> a -> (b, c), c also reads x and an absent operand
struct sample {
  graph_image image;
  fuse::value_id x = image.add_value();
  fuse::node_id a = image.add_node({1, 2}, 1, 0), b = image.add_node({3, 4}, 2, 0), c = image.add_node({5, 6}, 1, 0);
  sample() {
    fuse::value_id const to_a[]{x}, to_b[]{image.result(a)}, to_c[]{image.result(a), absent, x};
    for (auto n : {a, b, c}) image.place_last(n);
    image.attach_operands(a, to_a);
    image.attach_operands(b, to_b);
    image.attach_operands(c, to_c);
  }
};

}  // namespace

TEST_CASE("nodes know their operands and results, values their producer and users") {
  sample s;
  CHECK(s.image.producer(s.x) == absent);
  CHECK(s.image.producer(s.image.result(s.b, 1)) == s.b);
  CHECK(s.image.result_index(s.image.result(s.b, 1)) == 1);
  CHECK(s.image.operand_count(s.c) == 3);
  CHECK(s.image.operand(s.c, 1) == absent);
  CHECK(users(s.image, s.image.result(s.a)) == std::vector<fuse::node_id>{s.c, s.b});
  CHECK(s.image.value(s.x).use_count == 2);
  CHECK(s.image.node(s.b).tag.op == 4);
}

TEST_CASE("redirecting moves every use and every output") {
  sample s;
  s.image.add_output(s.image.result(s.a));
  s.image.redirect(s.image.result(s.a), s.x);
  CHECK(users(s.image, s.image.result(s.a)).empty());
  CHECK(s.image.value(s.image.result(s.a)).use_count == 0);
  CHECK(s.image.value(s.image.result(s.a)).outputs == 0);
  CHECK(s.image.unused(s.image.result(s.a)));
  CHECK_FALSE(s.image.unused(s.x));
  CHECK(s.image.value(s.x).outputs == 1);
  CHECK(s.image.value(s.x).use_count == 4);
  CHECK(s.image.operand(s.b, 0) == s.x);
  CHECK(s.image.operand(s.c, 0) == s.x);
}

TEST_CASE("an erased node uses nothing any more") {
  sample s;
  s.image.erase(s.c);
  CHECK_FALSE(s.image.node(s.c).alive);
  CHECK(users(s.image, s.image.result(s.a)) == std::vector<fuse::node_id>{s.b});
  CHECK(users(s.image, s.x) == std::vector<fuse::node_id>{s.a});
  s.image.erase(s.b);
  CHECK(s.image.value(s.image.result(s.a)).first_use == absent);
}

TEST_CASE("values are visible in their region and inside it") {
  graph_image image;
  auto const outer = image.add_region(absent, 0), inner = image.add_region(absent, outer),
             other = image.add_region(absent, 0);
  CHECK(image.visible(0, inner));
  CHECK(image.visible(outer, inner));
  CHECK(image.visible(inner, inner));
  CHECK_FALSE(image.visible(inner, outer));
  CHECK_FALSE(image.visible(outer, other));
  CHECK_FALSE(image.visible(inner, 0));
}

}  // namespace graph_image
