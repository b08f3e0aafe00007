// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "inferred.hpp"

namespace infer_malformed {

using fuse::element_type;
using fuse::graph;

namespace {

constexpr std::int64_t edges[] = {-1,
                                  0,
                                  1,
                                  2,
                                  3,
                                  4,
                                  -2,
                                  5,
                                  64,
                                  65,
                                  100,
                                  0x7fffffff,
                                  -0x7fffffff,
                                  std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min(),
                                  std::int64_t{1} << 40};

/// Any operators on any operands, with any parameters.
class random_graph {
 public:
  explicit random_graph(unsigned seed) : random_(seed), made(versions[seed % 4]) {
    for (int i = 0; i < 4; ++i) values_.push_back(leaf());
    auto const& rows = fuse::onnx.rows;
    for (int i = 0; i < 60; ++i) {
      std::vector<graph::value> operands;
      for (auto count = below(5); count > 0; --count)
        operands.push_back(below(12) == 0 ? graph::value{} : below(3) == 0 ? leaf() : any());
      std::vector<graph::named> attributes;
      for (auto const* name :
           {"axis",       "axes",   "perm",        "keepdims",     "to",        "shape",     "starts",
            "ends",       "pads",   "strides",     "kernel_shape", "dilations", "split",     "num_outputs",
            "batch_dims", "group",  "start",       "end",          "allowzero", "ceil_mode", "k",
            "value_ints", "transA", "q_num_heads", "kv_num_heads", "num_heads"})
        if (below(4) == 0)
          attributes.push_back(below(2) == 0 ? graph::named(name, edge()) : graph::named(name, edge_list()));
      if (below(4) == 0) attributes.emplace_back("equation", below(2) == 0 ? "ij,jk->ik" : "i-");
      if (below(4) == 0) attributes.emplace_back("value", contents());
      if (below(6) == 0) attributes.emplace_back("auto_pad", "SAME_LOWER");
      auto const n = made.append(rows[below(std::size(rows))].name, operands, attributes,
                                 1 + static_cast<std::uint32_t>(below(3)));
      for (auto v : made.results(n)) values_.push_back(v);
      made.output(values_.back());
    }
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  std::int64_t edge() { return edges[below(below(2) == 0 ? 8 : std::size(edges))]; }
  std::vector<std::int64_t> edge_list() {
    std::vector<std::int64_t> all;
    for (auto count = below(below(20) == 0 ? 80 : 5); count > 0; --count) all.push_back(edge());
    return all;
  }
  graph::value any() { return values_[below(values_.size())]; }
  fuse::tensor contents() {
    auto const numbers = edge_list();
    auto tensor = fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers);
    if (below(3) == 0) tensor.shape = edge_list();  // lies about its size
    if (below(3) == 0) tensor.type = element_type::float32;
    return tensor;
  }
  graph::value leaf() {
    if (below(2) == 0) return made.constant(contents());
    graph::dims dims;
    for (auto e : edge_list()) {
      if (below(3) == 0)
        dims.emplace_back(below(2) == 0 ? "m" : "n");
      else
        dims.emplace_back(e);
    }
    return made.input("i" + std::to_string(values_.size()), static_cast<element_type>(below(18)), dims);
  }

  static constexpr int versions[] = {9, 11, 14, 24};
  std::mt19937 random_;
  std::vector<graph::value> values_;

 public:
  graph made;
};

}  // namespace

TEST_CASE("no graph is too malformed to be studied") {
  std::size_t ranks = 0, contents = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    INFO("seed " << seed);
    random_graph random(seed);
    inferred const all(random.made);
    auto const& known = all.known;
    for (fuse::value_id v = 0; v < all.bound.image.value_count(); ++v) {
      ranks += known.has_rank(v);
      contents += known.has_integers(v) || known.has_numbers(v);
      REQUIRE(known.shape(v).size() <= fuse::detail::fact_table::most_rank);
      for (auto e : known.shape(v)) REQUIRE(known.symbols().nonnegative(e));
      REQUIRE(known.symbolic_integers(v).size() <= fuse::detail::fact_table::most_contents);
      REQUIRE_FALSE((known.has_integers(v) && known.has_numbers(v)));
    }
  }
  // The graphs are not so broken that nothing is tried.
  CHECK(ranks > 50000);
  CHECK(contents > 10000);
}

TEST_CASE("dimensions that multiply beyond all bounds are unknown") {
  graph g;
  auto const huge = std::int64_t{1} << 40;
  auto x = g.input("x", element_type::float32, {huge, huge});
  auto y = g.add("Reshape", {x, g.constant({-1})});
  g.output(y);
  inferred const known(g);
  CHECK(known.shape(y) == "[?]");
}

TEST_CASE("heads beyond all bounds are of no known size") {
  graph g(23);
  auto const q = g.input("q", element_type::float32, {2, 3, 8});
  auto const y = g.add("Attention", {q, q, q},
                       {{"q_num_heads", std::numeric_limits<std::int64_t>::max()}, {"kv_num_heads", std::int64_t{2}}});
  g.output(y);
  inferred const known(g);
  CHECK(known.shape(y) == "[2,3,?]");
}

TEST_CASE("a rank beyond the bound is unknown") {
  graph g;
  auto x = g.input("x", element_type::float32, graph::dims(65, graph::dim(1)));
  auto y = g.input("y", element_type::float32, graph::dims(64, graph::dim(1)));
  auto z = g.add("Unsqueeze", {y, g.constant({0})});
  g.output(g.add("Relu", {x}));
  g.output(z);
  inferred const known(g);
  CHECK(known.shape(x) == "unknown");
  CHECK(known.known.rank(known.id(y)) == 64);
  CHECK(known.shape(z) == "unknown");
}

}  // namespace infer_malformed
