// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "inferred.hpp"

namespace infer_shapes {

using fuse::element_type;
using fuse::graph;

namespace {

std::string shape_of(graph& g, graph::value v) {
  g.output(v);
  return inferred(g).shape(v);
}

graph::value list(graph& g, std::vector<std::int64_t> const& numbers) {
  return g.constant(fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
}

}  // namespace

TEST_CASE("operands broadcast from the last dimension") {
  graph g;
  auto a = g.input("a", element_type::float32, {"b", 1, 4}), b = g.input("c", element_type::float32, {3, 1});
  CHECK(shape_of(g, g.add("Add", {a, b})) == "[b,3,4]");
  CHECK(shape_of(g, g.add("Add", {b, a})) == "[b,3,4]");
  CHECK(shape_of(g, g.add("Mul", {a, g.scalar(2.f)})) == "[b,1,4]");
  CHECK(shape_of(g, g.add("Where", {g.input("m", element_type::boolean, {5, 1, 1, 1}), a, b})) == "[5,b,3,4]");
  CHECK(shape_of(g, g.add("Add", {a, g.input("u", element_type::float32)})) == "unknown");
}

TEST_CASE("a reshape cancels what it can") {
  graph g;
  auto x = g.input("x", element_type::float32, {"b", "s", 768});
  CHECK(shape_of(g, g.add("Reshape", {x, list(g, {0, 0, 12, -1})})) == "[b,s,12,64]");
  CHECK(shape_of(g, g.add("Reshape", {x, list(g, {0, -1, 12, 64})})) == "[b,s,12,64]");
  CHECK(shape_of(g, g.add("Reshape", {x, list(g, {-1, 768})})) == "[b*s,768]");
  CHECK(shape_of(g, g.add("Reshape", {x, list(g, {-1})})) == "[768*b*s]");
  CHECK(shape_of(g, g.add("Reshape", {x, list(g, {-1, -1})})) == "[?,?]");
  CHECK(shape_of(g, g.add("Reshape", {x, list(g, {-2, 3})})) == "unknown");
  CHECK(shape_of(g, g.add("Reshape", {g.input("u", element_type::float32), list(g, {4, -1})})) == "[4,?]");
  CHECK(shape_of(g, g.add("Reshape", {x, g.input("target", element_type::int64, {4})})) == "[?,?,?,?]");
}

TEST_CASE("a reshape by a computed shape knows the dimensions it was computed of") {
  graph g;
  auto x = g.input("x", element_type::float32, {-1, -1, 32});
  auto shape = g.add("Shape", {x});
  auto batch = g.add("Unsqueeze", {g.add("Gather", {shape, g.scalar(std::int64_t{0})}), list(g, {0})});
  auto length = g.add("Unsqueeze", {g.add("Gather", {shape, g.scalar(std::int64_t{1})}), list(g, {0})});
  auto split = g.add("Reshape", {x, g.add("Concat", {batch, length, list(g, {4, 8})}, {{"axis", 0}})});
  auto heads = g.add("Transpose", {split}, {{"perm", {0, 2, 1, 3}}});
  auto back = g.add("Reshape", {g.add("Transpose", {heads}, {{"perm", {0, 2, 1, 3}}}),
                                g.add("Concat", {batch, length, list(g, {-1})}, {{"axis", 0}})});
  g.output(back);
  inferred const known(g);
  CHECK(known.shape(heads) == "[?,4,?,8]");
  CHECK(known.same_shape(back, x));
}

TEST_CASE("layout operators move dimensions") {
  graph g;
  auto x = g.input("x", element_type::float32, {"b", 3, 4});
  CHECK(shape_of(g, g.add("Transpose", {x})) == "[4,3,b]");
  CHECK(shape_of(g, g.add("Transpose", {x}, {{"perm", {2, 0, 1}}})) == "[4,b,3]");
  CHECK(shape_of(g, g.add("Transpose", {x}, {{"perm", {2, 2, 1}}})) == "unknown");
  CHECK(shape_of(g, g.add("Flatten", {x})) == "[b,12]");
  CHECK(shape_of(g, g.add("Flatten", {x}, {{"axis", 0}})) == "[1,12*b]");
  CHECK(shape_of(g, g.add("Flatten", {x}, {{"axis", -1}})) == "[3*b,4]");
  CHECK(shape_of(g, g.add("Unsqueeze", {x, list(g, {0, -1})})) == "[1,b,3,4,1]");
  CHECK(shape_of(g, g.add("Squeeze", {g.input("y", element_type::float32, {1, 3, 1}), list(g, {-1})})) == "[1,3]");
  CHECK(shape_of(g, g.add("Squeeze", {g.input("z", element_type::float32, {1, 3, 1})})) == "[3]");
  CHECK(shape_of(g, g.add("Squeeze", {x})) == "unknown");  // b may be 1
  CHECK(shape_of(g, g.add("Concat", {x, x}, {{"axis", -2}})) == "[b,6,4]");
  CHECK(shape_of(g, g.add("Concat", {x, g.input("w", element_type::float32, {2, "n", 4})}, {{"axis", 1}})) ==
        "[2,n + 3,4]");
  CHECK(shape_of(g, g.add("Tile", {x, list(g, {2, 1, 3})})) == "[2*b,3,12]");
  CHECK(shape_of(g, g.add("Expand", {x, list(g, {5, 1, 1, 1})})) == "[5,b,3,4]");
  CHECK(shape_of(g, g.add("Pad", {x, list(g, {0, 1, 0, 0, 2, -1})})) == "[b,6,3]");
}

TEST_CASE("a slice is as long as it is known to be") {
  graph g;
  auto x = g.input("x", element_type::float32, {"s", 10});
  auto const slice = [&](std::int64_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
    return shape_of(g, g.add("Slice", {x, list(g, {start}), list(g, {end}), list(g, {axis}), list(g, {step})}));
  };
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  CHECK(slice(0, 0, most, 1) == "[s,10]");
  CHECK(slice(0, 0, 3, 1) == "[min(3, s),10]");
  CHECK(slice(0, 0, 999'999'999, 1) == "[min(999999999, s),10]");
  CHECK(slice(0, 0, 1'000'000'000, 1) == "[s,10]");  // tf2onnx's end, whatever the length
  CHECK(slice(0, 1, most, 1) == "[max(0, s + -1),10]");
  CHECK(slice(0, 0, -1, 1) == "[max(0, s + -1),10]");
  CHECK(slice(1, 2, -1, 1) == "[s,7]");
  CHECK(slice(1, -3, most, 1) == "[s,3]");
  CHECK(slice(1, 8, 3, 1) == "[s,0]");
  CHECK(slice(1, 0, most, 3) == "[s,4]");
  CHECK(slice(1, -1, least, -1) == "[s,10]");
  CHECK(slice(1, -1, least, -4) == "[s,3]");
  CHECK(slice(0, -1, least, -1) == "[s,10]");
  CHECK(slice(1, 0, most, 0) == "[s,?]");
  CHECK(slice(1, 0, most, -1) == "[s,?]");  // onnxruntime takes that end for the front
  CHECK(slice(1, 0, 0x7fffffff, -1) == "[s,?]");
  CHECK(slice(2, 0, 1, 1) == "[?,?]");
  // From the back by a length: all of it where that is the whole, otherwise nobody knows (the length may be 0).
  auto const length = g.add("Slice", {g.add("Shape", {x}), list(g, {0}), list(g, {1})});
  CHECK(shape_of(g, g.add("Slice", {x, g.add("Neg", {length}), list(g, {most}), list(g, {0})})) == "[s,10]");
  CHECK(shape_of(g, g.add("Slice", {x, g.add("Neg", {length}), list(g, {most}), list(g, {1})})) == "[s,?]");
}

TEST_CASE("a split divides, evenly or by a list") {
  graph g(13), g18(18);
  auto x = g.input("x", element_type::float32, {"s", 10}), y = g18.input("x", element_type::float32, {"s", 10});
  auto even = g.append("Split", {x}, {{"axis", 1}}, 2);
  auto listed = g.append("Split", {x, list(g, {3, 7})}, {{"axis", -1}}, 2);
  auto uneven = g18.append("Split", {y}, {{"axis", 1}, {"num_outputs", 3}}, 3);
  for (auto n : {even, listed})
    for (std::uint32_t i = 0; i < 2; ++i) g.output(g.result(n, i));
  for (std::uint32_t i = 0; i < 3; ++i) g18.output(g18.result(uneven, i));
  inferred const known(g), known18(g18);
  CHECK(known.shape(g.result(even, 1)) == "[s,5]");
  CHECK(known.shape(g.result(listed, 0)) == "[s,3]");
  CHECK(known.shape(g.result(listed, 1)) == "[s,7]");
  CHECK(known18.shape(g18.result(uneven, 0)) == "[s,4]");
  CHECK(known18.shape(g18.result(uneven, 2)) == "[s,2]");
}

TEST_CASE("look-ups") {
  graph g;
  auto table = g.input("table", element_type::float32, {100, 32});
  auto ids = g.input("ids", element_type::int64, {"b", "s"});
  CHECK(shape_of(g, g.add("Gather", {table, ids})) == "[b,s,32]");
  CHECK(shape_of(g, g.add("Gather", {table, ids}, {{"axis", -1}})) == "[100,b,s]");
  CHECK(shape_of(g, g.add("GatherElements", {table, ids})) == "[b,s]");
  CHECK(shape_of(g, g.add("GatherND", {table, g.input("at", element_type::int64, {"n", 1})})) == "[n,32]");
  CHECK(shape_of(g, g.add("OneHot", {ids, g.scalar(std::int64_t{7}), g.constant({0.f, 1.f})})) == "[b,s,7]");
  CHECK(shape_of(g, g.add("NonZero", {ids})) == "[2,?]");
  CHECK(shape_of(g, g.add("NonZero", {g.scalar(1.f)})) == "[?,?]");  // onnxruntime takes a scalar for a list
  auto top = g.append("TopK", {table, list(g, {5})}, {}, 2);
  g.output(g.result(top, 1));
  CHECK(inferred(g).shape(g.result(top, 1)) == "[100,5]");
  CHECK(inferred(g).type(g.result(top, 1)) == element_type::int64);
}

TEST_CASE("products of matrices") {
  graph g;
  auto x = g.input("x", element_type::float32, {"b", "s", 8}), w = g.input("w", element_type::float32, {8, 16});
  auto row = g.input("r", element_type::float32, {8});
  CHECK(shape_of(g, g.add("MatMul", {x, w})) == "[b,s,16]");
  CHECK(shape_of(g, g.add("MatMul", {x, row})) == "[b,s]");
  CHECK(shape_of(g, g.add("MatMul", {row, w})) == "[16]");
  CHECK(shape_of(g, g.add("MatMul", {row, row})) == "[]");
  CHECK(shape_of(g, g.add("MatMul", {x, g.scalar(1.f)})) == "unknown");
  CHECK(shape_of(g, g.add("Gemm", {w, row}, {{"transA", 1}})) == "[16,?]");
  CHECK(shape_of(g, g.add("Gemm", {w, w}, {{"transB", 1}})) == "[8,8]");
  CHECK(shape_of(g, g.add("Einsum", {x, w}, {{"equation", "bsi, io -> bos"}})) == "[b,16,s]");
  CHECK(shape_of(g, g.add("Einsum", {w}, {{"equation", "ij"}})) == "[8,16]");
  CHECK(shape_of(g, g.add("Einsum", {x, w}, {{"equation", "bs,io->bo"}})) == "unknown");
}

TEST_CASE("windows slide") {
  graph g;
  auto x = g.input("x", element_type::float32, {"b", 3, 32, "w"}),
       k = g.input("k", element_type::float32, {16, 3, 3, 3});
  CHECK(shape_of(g, g.add("Conv", {x, k}, {{"pads", {1, 1, 1, 1}}})) == "[b,16,32,w]");
  CHECK(shape_of(g, g.add("Conv", {x, k}, {{"strides", {2, 1}}})) == "[b,16,15,max(0, w + -2)]");
  CHECK(shape_of(g, g.add("Conv", {x, k}, {{"auto_pad", "SAME_UPPER"}, {"strides", {2, 2}}})) ==
        "[b,16,16,floor_div(w + 1, 2)]");
  CHECK(shape_of(g, g.add("Conv", {x, k}, {{"dilations", {2, 2}}, {"auto_pad", "VALID"}})) ==
        "[b,16,28,max(0, w + -4)]");
  CHECK(shape_of(g, g.add("Conv", {x, k}, {{"strides", {0, 1}}})) == "[b,16,?,max(0, w + -2)]");
  CHECK(shape_of(g, g.add("Conv", {x, g.input("u", element_type::float32)})) == "[b,?,?,?]");
  auto y = g.input("y", element_type::float32, {1, 3, 8, 8});
  CHECK(shape_of(g, g.add("MaxPool", {y}, {{"kernel_shape", {3, 3}}, {"strides", {2, 2}}})) == "[1,3,3,3]");
  CHECK(shape_of(g, g.add("MaxPool", {y}, {{"kernel_shape", {3, 3}}, {"strides", {2, 2}}, {"ceil_mode", 1}})) ==
        "[1,3,4,4]");
  CHECK(shape_of(
            g, g.add("MaxPool", {y}, {{"kernel_shape", {3, 3}}, {"auto_pad", "SAME_UPPER"}, {"dilations", {1, 2}}})) ==
        "[1,3,8,?]");
  CHECK(shape_of(g, g.add("MaxPool", {y})) == "[1,3,?,?]");
  CHECK(shape_of(g, g.add("Resize", {y, {}, g.constant({1.f, 1.f, .875f, 1.1f})})) == "[1,3,7,8]");
  auto ten = g.input("ten", element_type::float32, {1, 1, 10});
  CHECK(shape_of(g, g.add("Resize", {ten, {}, g.constant({1.f, 1.f, 0.7f})})) == "[1,1,7]");  // rounded as floats
  CHECK(shape_of(g, g.add("GlobalAveragePool", {x})) == "[b,3,1,1]");
  CHECK(shape_of(g, g.add("GlobalMaxPool", {x})) == "[b,3,1,1]");
  CHECK(shape_of(g, g.add("ConvTranspose", {y, g.input("t", element_type::float32, {3, 5, 2, 2})},
                          {{"strides", {2, 2}}})) == "[1,5,16,16]");
}

TEST_CASE("a norm has the shape of its operand, its statistics that of the rest") {
  graph g;
  auto x = g.input("x", element_type::float16, {"b", "s", 8});
  auto n = g.append("LayerNormalization", {x, g.constant({1.f})}, {{"axis", -1}}, 3);
  for (std::uint32_t i = 0; i < 3; ++i) g.output(g.result(n, i));
  inferred const known(g);
  CHECK(known.same_shape(g.result(n, 0), x));
  CHECK(known.shape(g.result(n, 1)) == "[b,s,1]");
  CHECK(known.type(g.result(n, 2)) == element_type::float32);
}

TEST_CASE("below operator set 17 a norm has the type of its scale") {
  graph g(11);
  auto x = g.input("x", element_type::float16, {"b", 2});
  auto y = g.add("LayerNormalization", {x, g.constant({1.f, 2.f})});
  auto z = g.add("SimplifiedLayerNormalization", {x, g.input("scale")});
  g.output(y);
  g.output(z);
  inferred const known(g);
  CHECK(known.type(y) == element_type::float32);
  CHECK(known.type(z) == element_type::unknown);
}

TEST_CASE("element types follow the operator") {
  graph g;
  auto x = g.input("x", element_type::float32, {"b", 2});
  auto ids = g.input("ids", element_type::int32, {"b"});
  auto const type = [&](graph::value v) {
    g.output(v);
    return inferred(g).type(v);
  };
  CHECK(type(g.add("Cast", {x}, {{"to", 10}})) == element_type::float16);
  CHECK(type(g.add("Cast", {x}, {{"to", 17}})) == element_type::other);
  CHECK(type(g.add("Cast", {x})) == element_type::unknown);
  CHECK(type(g.add("CastLike", {x, ids})) == element_type::int32);
  CHECK(type(g.add("Less", {x, x})) == element_type::boolean);
  CHECK(type(g.add("Where", {g.add("Less", {x, x}), x, x})) == element_type::float32);
  CHECK(type(g.add("ArgMax", {x})) == element_type::int64);
  CHECK(type(g.add("Shape", {x})) == element_type::int64);
  CHECK(type(g.add("Range", {ids, ids, ids})) == element_type::int32);
  CHECK(type(g.add("Pow", {x, ids})) == element_type::float32);
  CHECK(type(g.add("DequantizeLinear", {ids, g.scalar(1.f)})) == element_type::float32);
  CHECK(type(g.add("DequantizeLinear", {ids, g.scalar(1.f)}, {{"output_dtype", 10}})) == element_type::float16);
  CHECK(type(g.add("MatMulInteger", {ids, ids})) == element_type::int32);
}

}  // namespace infer_shapes
