// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "inferred.hpp"

namespace infer_contents {

using fuse::element_type;
using fuse::graph;

namespace {

std::string contents_of(graph& g, graph::value v) {
  g.output(v);
  return inferred(g).contents(v);
}

graph::value list(graph& g, std::vector<std::int64_t> const& numbers) {
  return g.constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
}

}  // namespace

TEST_CASE("the shape of a value is a list of its dimensions") {
  graph g;
  auto x = g.input("x", element_type::float32, {"b", 3, "s"});
  auto shape = g.add("Shape", {x});
  CHECK(contents_of(g, shape) == "[b,3,s]");
  CHECK(contents_of(g, g.add("Shape", {x}, {{"start", 1}})) == "[3,s]");
  CHECK(contents_of(g, g.add("Shape", {x}, {{"start", -2}, {"end", -1}})) == "[3]");
  CHECK(contents_of(g, g.add("Size", {x})) == "[3*b*s]");
  CHECK(contents_of(g, g.add("Gather", {shape, list(g, {-1, 0})})) == "[s,b]");
  CHECK(contents_of(g, g.add("Gather", {shape, list(g, {5})})) == "[?]");
  CHECK(contents_of(g, g.add("Slice", {shape, list(g, {1}), list(g, {9})})) == "[3,s]");
  CHECK(contents_of(g, g.add("Slice", {shape, list(g, {-1}), list(g, {-9}), list(g, {0}), list(g, {-1})})) ==
        "[s,3,b]");
  CHECK(contents_of(g, g.add("Concat", {shape, list(g, {7}), g.input("n", element_type::int64, {1})}, {{"axis", 0}})) ==
        "[b,3,s,7,?]");
  CHECK(contents_of(g, g.add("ReduceProd", {shape}, {{"keepdims", 0}})) == "[3*b*s]");
  auto split = g.append("Split", {shape, list(g, {1, 2})}, {}, 2);
  CHECK(contents_of(g, g.result(split, 1)) == "[3,s]");
}

TEST_CASE("integer arithmetic is done on symbols") {
  graph g;
  auto shape = g.add("Shape", {g.input("x", element_type::float32, {"b", "s"})});
  CHECK(contents_of(g, g.add("Add", {shape, shape})) == "[2*b,2*s]");
  CHECK(contents_of(g, g.add("Mul", {shape, g.scalar(std::int64_t{4})})) == "[4*b,4*s]");
  CHECK(contents_of(g, g.add("Div", {g.add("Mul", {shape, list(g, {4, 6})}), list(g, {2})})) == "[2*b,3*s]");
  CHECK(contents_of(g, g.add("Sub", {shape, shape})) == "[0,0]");
  CHECK(contents_of(g, g.add("Neg", {shape})) == "[-1*b,-1*s]");
  CHECK(contents_of(g, g.add("Max", {shape, list(g, {0})})) == "[b,s]");
  CHECK(contents_of(g, g.add("Mod", {list(g, {-7, 7}), list(g, {3})})) == "[2,1]");
  CHECK(contents_of(g, g.add("Mod", {list(g, {-7, 7}), list(g, {3})}, {{"fmod", 1}})) == "unknown");
  CHECK(contents_of(g, g.add("Min", {list(g, {3, 5})})) == "[3,5]");
  CHECK(contents_of(g, g.add("Sum", {g.scalar(0.5f)})) == "[0.500000]");
  CHECK(contents_of(g, g.add("Add", {list(g, {3, 5})})) == "unknown");
  CHECK(contents_of(g, g.add("Div", {list(g, {-7}), list(g, {2})})) == "[-3]");
  CHECK(contents_of(g, g.add("Div", {list(g, {7}), list(g, {0})})) == "[?]");
}

TEST_CASE("a comparison is decided where it holds for every extent") {
  graph g;
  auto shape = g.add("Shape", {g.input("x", element_type::float32, {"b", 1, "s"})});
  CHECK(contents_of(g, g.add("Equal", {shape, list(g, {-1})})) == "[0,0,0]");
  CHECK(contents_of(g, g.add("Equal", {shape, list(g, {1})})) == "[?,1,?]");
  CHECK(contents_of(g, g.add("Less", {shape, list(g, {0})})) == "[0,0,0]");
  CHECK(contents_of(g, g.add("GreaterOrEqual", {shape, list(g, {0})})) == "[1,1,1]");
  // How exporters write Expand with -1 for "as it is".
  auto wanted = list(g, {-1, 4, -1});
  auto ones = g.add("ConstantOfShape", {list(g, {3})},
                    {{"value", fuse::make_tensor<std::int64_t>({1}, std::vector<std::int64_t>{1})}});
  auto picked = g.add("Where", {g.add("Equal", {wanted, g.add("Mul", {ones, list(g, {-1})})}), shape, wanted});
  CHECK(contents_of(g, picked) == "[b,4,s]");
}

TEST_CASE("axes, exponents and epsilons may be computed") {
  graph g(18);
  auto x = g.input("x", element_type::float32, {"b", "s", 64});
  auto rank = g.add("Size", {g.add("Shape", {x})});
  // As in the standard's own function body: from an axis to the rank, by vectors of one element.
  auto axes = g.add("Range", {list(g, {2}), g.add("Reshape", {rank, list(g, {1})}), list(g, {1})});
  CHECK(contents_of(g, axes) == "[2]");
  auto mean = g.add("ReduceMean", {x, axes});
  g.output(mean);
  CHECK(inferred(g).shape(mean) == "[b,s,1]");
  auto width = g.add("Cast", {g.add("Slice", {g.add("Shape", {x}), list(g, {-1}), list(g, {3})})}, {{"to", 1}});
  CHECK(contents_of(g, g.add("Sqrt", {width})) == "[8.000000]");
  CHECK(contents_of(g, g.add("Reciprocal", {g.add("Sqrt", {width})})) == "[0.125000]");
  CHECK(contents_of(g, g.add("Identity", {g.scalar(0.5f)})) == "[0.500000]");
  CHECK(contents_of(g, g.add("Cast", {g.scalar(2.75)}, {{"to", 7}})) == "[2]");
  CHECK(contents_of(g, g.add("Cast", {g.scalar(1e300)}, {{"to", 7}})) == "[?]");
  CHECK(contents_of(g, g.add("Cast", {g.add("Shape", {x})}, {{"to", 1}})) == "unknown");
}

TEST_CASE("a number is rounded to its element type at every step") {
  graph g;
  auto tenth = g.scalar(0.1);
  auto single = g.add("Cast", {tenth}, {{"to", 1}}), half = g.add("Cast", {tenth}, {{"to", 10}});
  g.output(single);
  g.output(half);
  inferred const known(g);
  double number = 0;
  REQUIRE(known.known.number(known.id(single), number));
  CHECK(number == static_cast<double>(0.1f));
  REQUIRE(known.known.number(known.id(half), number));
  CHECK(number == 0.0999755859375);
  REQUIRE(known.known.number(known.id(tenth), number));
  CHECK(number == 0.1);
}

TEST_CASE("an integer type holds only its integers") {
  graph g;
  auto large = list(g, {300, 3, -1});
  CHECK(contents_of(g, g.add("Cast", {large}, {{"to", 2}})) == "[?,3,?]");
  CHECK(contents_of(g, g.add("Cast", {large}, {{"to", 9}})) == "[1,1,1]");
  CHECK(contents_of(g, g.add("Add", {g.add("Cast", {list(g, {2147483647})}, {{"to", 6}}),
                                     g.add("Cast", {list(g, {1})}, {{"to", 6}})})) == "[?]");
}

TEST_CASE("contents of more than one dimension are read by rows") {
  graph g;
  auto table = g.constant(fuse::make_tensor<std::int64_t>({2, 3}, std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
  CHECK(contents_of(g, g.add("Gather", {table, g.scalar(std::int64_t{1})}, {{"axis", 1}})) == "[2,5]");
  CHECK(contents_of(g, g.add("Concat", {table, table}, {{"axis", 1}})) == "[1,2,3,1,2,3,4,5,6,4,5,6]");
  CHECK(contents_of(g, g.add("Add", {table, g.constant(fuse::make_tensor<std::int64_t>(
                                                {2, 1}, std::vector<std::int64_t>{10, 20}))})) ==
        "[11,12,13,24,25,26]");
  CHECK(contents_of(g, g.add("Slice", {table, list(g, {1}), list(g, {3}), list(g, {1})})) == "[2,3,5,6]");
  CHECK(contents_of(g, g.add("Transpose", {table})) == "unknown");
  CHECK(contents_of(g, g.add("Expand", {list(g, {7}), list(g, {2, 2})})) == "[7,7,7,7]");
}

TEST_CASE("one number everywhere is followed, in tensors of any size") {
  graph g;
  auto const uniform = [&](graph::value v) {
    g.output(v);
    inferred const known(g);
    double number = 0;
    return known.known.uniform(known.id(v), number) ? std::to_string(number) : "no";
  };
  auto const floats = [&](std::size_t count, double last, double others = 0.5) {
    std::vector<double> numbers(count, others);
    numbers.back() = last;
    return g.constant(fuse::make_tensor(element_type::float32, {static_cast<std::int64_t>(count)}, numbers));
  };
  auto const unknown = g.input("n", element_type::int64, {2});
  for (std::size_t const count : {std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{1000}})
    CHECK(uniform(floats(count, 0.5)) == "0.500000");
  for (std::size_t const count : {std::size_t{2}, std::size_t{64}, std::size_t{1000}}) {
    CHECK(uniform(floats(count, 0.25)) == "no");
    CHECK(uniform(floats(count, -0.0, 0.0)) == "no");
    CHECK(uniform(floats(count, 0.0, -0.0)) == "no");
  }
  CHECK(uniform(floats(1000, std::numeric_limits<double>::quiet_NaN())) == "no");
  CHECK(uniform(g.add("Expand", {floats(1, 0.5), unknown})) == "0.500000");
  CHECK(uniform(g.add("Sqrt", {g.add("Expand", {floats(1, 0.25), unknown})})) == "0.500000");
  CHECK(uniform(g.add("ConstantOfShape", {unknown})) == "0.000000");
  CHECK(uniform(g.add("Cast", {floats(1000, 0.5)}, {{"to", 10}})) == "0.500000");
  CHECK(uniform(g.add("Add", {floats(1000, 0.5), g.add("Relu", {floats(1000, 0.5)})})) == "1.000000");
  CHECK(uniform(g.add("Add", {floats(1000, 0.5), g.add("Softplus", {floats(1000, 0.5)})})) == "no");
  CHECK(uniform(g.input("x", element_type::float32, {4})) == "no");
}

TEST_CASE("large tensors are not followed") {
  graph g;
  auto large = g.constant(fuse::make_tensor(element_type::int64, {65}, std::vector<double>(65, 1.0)));
  CHECK(contents_of(g, large) == "unknown");
  CHECK(contents_of(g, g.add("ConstantOfShape", {list(g, {1000})})) == "unknown");
  CHECK(contents_of(g, g.add("Range", {list(g, {0}), list(g, {65}), list(g, {1})})) == "unknown");
}

}  // namespace infer_contents
