// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/eval/reference.hpp>

namespace eval_reference {

namespace {

using fuse::dense;
using fuse::evaluation;
using fuse::opcode;

struct given final : fuse::operator_parameters {
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> lists;
  std::string approximate;
  fuse::axis_use axis = fuse::axis_use::one;

  bool number(std::string_view name, double& into) const override {
    auto const at = numbers.find(name);
    if (at != numbers.end()) into = at->second;
    return at != numbers.end();
  }
  bool integers(std::string_view name, std::vector<std::int64_t>& into) const override {
    auto const at = lists.find(name);
    if (at != lists.end()) into = at->second;
    return at != lists.end();
  }
  bool text(std::string_view, std::string_view& into) const override {
    into = approximate;
    return !approximate.empty();
  }
  [[nodiscard]] fuse::axis_use use_of_axis() const override { return axis; }
};

/// Operators by hand: operands, parameters, results.
struct one {
  given parameters{};
  std::vector<dense> results = std::vector<dense>(1);

  evaluation run(opcode op, std::vector<dense> const& operands) {
    std::vector<dense const*> all;
    for (auto const& o : operands) all.push_back(&o);
    return evaluate(op, all, parameters, results);
  }
  std::vector<double> of(opcode op, std::vector<dense> const& operands) {
    REQUIRE(run(op, operands) == evaluation::done);
    return results[0].elements;
  }
};
dense row(std::vector<double> const& elements) { return {{static_cast<std::int64_t>(elements.size())}, elements}; }
dense const two_by_three{{2, 3}, {1, 2, 3, 4, 5, 6}};

bool close(std::vector<double> const& a, std::vector<double> const& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = std::fabs(a[i] - b[i]) <= 1e-6;
  return same;
}
using numbers = std::vector<double>;
using extents = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("operators of one element") {
  CHECK(close(one().of(opcode::gelu, {row({1, -2})}), {0.8413447, -0.0455003}));
  one by_tanh;
  by_tanh.parameters.approximate = "tanh";
  CHECK(close(by_tanh.of(opcode::gelu, {row({1, -2})}), {0.8411920, -0.0454023}));
  CHECK(close(one().of(opcode::softplus, {row({0, 100, -100})}), {0.6931472, 100, 0}));
  CHECK(close(one().of(opcode::leaky_relu, {row({-2, 3})}), {-0.02, 3}));
  CHECK(close(one().of(opcode::elu, {row({-1, 3})}), {-0.6321206, 3}));
  CHECK(close(one().of(opcode::hard_sigmoid, {row({-3, 0, 1, 3})}), {0, 0.5, 0.7, 1}));
  CHECK(close(one().of(opcode::hard_swish, {row({-4, 1, 4})}), {0, 0.6666667, 4}));
  CHECK(close(one().of(opcode::mish, {row({1})}), {0.8650984}));
  CHECK(close(one().of(opcode::round, {row({0.5, 1.5, -2.5, 2.4})}), {0, 2, -2, 2}));
  CHECK(one().of(opcode::sign, {row({-3, 0, 4})}) == numbers{-1, 0, 1});
  CHECK(close(one().of(opcode::tanh, {row({0.5})}), {0.4621172}));
  one clipped;
  clipped.parameters.numbers = {{"min", -1.}, {"max", 2.}};
  CHECK(clipped.of(opcode::clip, {row({-3, 1, 5})}) == numbers{-1, 1, 2});
  one to_integer;
  to_integer.results[0].type = fuse::element_type::int64;
  CHECK(to_integer.of(opcode::cast, {row({-1.7, 2.9})}) == numbers{-1, 2});
  one to_boolean;
  to_boolean.results[0].type = fuse::element_type::boolean;
  CHECK(to_boolean.of(opcode::cast, {row({-1.7, 0})}) == numbers{1, 0});
}

TEST_CASE("operands broadcast, and integers divide to zero") {
  CHECK(one().of(opcode::sub, {two_by_three, row({1, 2, 3})}) == numbers{0, 0, 0, 3, 3, 3});
  CHECK(one().of(opcode::div, {row({-7, 7}), dense::of(2)}) == numbers{-3.5, 3.5});
  dense whole = row({-7, 7});
  whole.type = fuse::element_type::int64;
  CHECK(one().of(opcode::div, {whole, dense::of(2)}) == numbers{-3, 3});
  CHECK(one().of(opcode::mod, {row({-7, 7}), dense::of(3)}) == numbers{2, 1});
  CHECK(one().of(opcode::sum_of, {row({1, 2}), row({3, 4}), dense::of(1)}) == numbers{5, 7});
  CHECK(one().of(opcode::mean_of, {row({1, 2}), row({3, 6})}) == numbers{2, 4});
  CHECK(one().of(opcode::prelu, {row({-2, 2}), dense::of(0.5)}) == numbers{-1, 2});
  CHECK(one().of(opcode::less, {row({1, 3}), dense::of(2)}) == numbers{1, 0});
  CHECK(one().of(opcode::where, {row({1, 0}), dense::of(5), row({6, 7})}) == numbers{5, 7});
  CHECK(one().run(opcode::add, {row({1, 2}), row({1, 2, 3})}) == evaluation::misfit);
}

TEST_CASE("reductions fold the axes that are named, or all") {
  one last;
  last.parameters.lists["axes"] = {-1};
  CHECK(last.of(opcode::sum, {two_by_three}) == numbers{6, 15});
  CHECK(last.results[0].shape == extents{2, 1});
  last.parameters.numbers["keepdims"] = 0;
  CHECK(last.of(opcode::mean, {two_by_three}) == numbers{2, 5});
  CHECK(last.results[0].shape == extents{2});
  CHECK(last.of(opcode::reduce_max, {two_by_three}) == numbers{3, 6});
  CHECK(last.of(opcode::product, {two_by_three}) == numbers{6, 120});
  CHECK(close(last.of(opcode::l2_norm, {two_by_three}), {3.7416574, 8.7749644}));
  CHECK(close(last.of(opcode::log_sum_exp, {two_by_three}), {3.4076059, 6.4076059}));
  CHECK(one().of(opcode::sum_square, {two_by_three}) == numbers{91});
  one nothing;
  nothing.parameters.numbers["noop_with_empty_axes"] = 1;
  CHECK(nothing.of(opcode::sum, {two_by_three}) == two_by_three.elements);
  last.parameters.lists["axes"] = {2};
  CHECK(last.run(opcode::sum, {two_by_three}) == evaluation::misfit);
}

TEST_CASE("softmax along one axis, or along all from one on") {
  CHECK(close(one().of(opcode::softmax, {row({0, 0.6931472})}), {1. / 3, 2. / 3}));
  one first;
  first.parameters.numbers["axis"] = 0;
  CHECK(close(first.of(opcode::softmax, {two_by_three}),
              {0.0474259, 0.0474259, 0.0474259, 0.9525741, 0.9525741, 0.9525741}));
  first.parameters.axis = fuse::axis_use::trailing;
  auto const all = first.of(opcode::softmax, {two_by_three});
  double sum = 0;
  for (auto x : all) sum += x;
  CHECK(sum == Approx(1));
  CHECK(close(one().of(opcode::log_softmax, {row({0, 0})}), {-0.6931472, -0.6931472}));
}

TEST_CASE("norms, their statistics, and the sum that was normed") {
  one layer;
  layer.parameters.numbers["epsilon"] = 0;
  layer.results.resize(3);
  CHECK(close(layer.of(opcode::layer_norm, {row({1, 3}), row({2, 2}), row({0, 1})}), {-2, 3}));
  CHECK(layer.results[1].elements == numbers{2});
  CHECK(layer.results[2].elements == numbers{1});
  CHECK(close(layer.of(opcode::rms_norm, {row({3, 4})}), {0.8485281, 1.1313708}));
  layer.results.resize(4);
  CHECK(close(layer.of(opcode::skip_layer_norm, {row({1, 1}), row({0, 2}), row({1, 1}), row({0, 0}), row({1, 1})}),
              {-1, 1}));
  CHECK(layer.results[3].elements == numbers{2, 4});
  CHECK(layer.run(opcode::layer_norm, {row({1, 3}), two_by_three}) == evaluation::misfit);
  one channels;
  channels.parameters.numbers["epsilon"] = 0;
  dense const image{{1, 2, 2}, {1, 3, 10, 30}};
  CHECK(close(channels.of(opcode::batch_norm, {image, row({1, 2}), row({0, 1}), row({1, 10}), row({4, 100})}),
              {0, 1, 1, 5}));
  CHECK(close(channels.of(opcode::instance_norm, {image, row({1, 2}), row({0, 1})}), {-1, 1, -1, 3}));
}

TEST_CASE("what moves elements is computed") {
  one by;
  CHECK(by.of(opcode::transpose, {two_by_three}) == numbers{1, 4, 2, 5, 3, 6});
  CHECK(by.results[0].shape == extents{3, 2});
  CHECK(by.of(opcode::reshape, {two_by_three, row({0, -1, 1})}) == two_by_three.elements);
  CHECK(by.results[0].shape == extents{2, 3, 1});
  CHECK(by.run(opcode::reshape, {two_by_three, row({4, -1})}) == evaluation::misfit);
  by.parameters.numbers["axis"] = 1;
  CHECK(by.of(opcode::concat, {two_by_three, dense{{2, 1}, {7, 8}}}) == numbers{1, 2, 3, 7, 4, 5, 6, 8});
  CHECK(by.of(opcode::gather, {two_by_three, row({-1, 0})}) == numbers{3, 1, 6, 4});
  CHECK(by.run(opcode::gather, {two_by_three, row({3})}) == evaluation::misfit);
  by.results.resize(2);
  CHECK(by.of(opcode::split, {two_by_three}) == numbers{1, 2, 4, 5});
  CHECK(by.results[1].elements == numbers{3, 6});
  one slice;
  slice.parameters.lists = {{"starts", {-1}}, {"ends", {-1000}}, {"axes", {1}}, {"steps", {-2}}};
  CHECK(slice.of(opcode::slice, {two_by_three}) == numbers{3, 1, 6, 4});
  slice.parameters.lists = {{"starts", {1}}, {"ends", {1000}}};
  CHECK(slice.of(opcode::slice, {two_by_three}) == numbers{4, 5, 6});
  CHECK(one().of(opcode::expand, {row({1, 2}), row({2, 1})}) == numbers{1, 2, 1, 2});
  CHECK(one().of(opcode::tile, {row({1, 2}), row({2})}) == numbers{1, 2, 1, 2});
  CHECK(one().of(opcode::shape, {two_by_three}) == numbers{2, 3});
  CHECK(one().of(opcode::range, {dense::of(5), dense::of(0), dense::of(-2)}) == numbers{5, 3, 1});
  one axes;
  axes.parameters.lists["axes"] = {0, -1};
  CHECK(axes.run(opcode::unsqueeze, {two_by_three}) == evaluation::done);
  CHECK(axes.results[0].shape == extents{1, 2, 3, 1});
  CHECK(axes.run(opcode::squeeze, {dense{{1, 2, 1}, {1, 2}}}) == evaluation::done);
  CHECK(axes.results[0].shape == extents{2});
  CHECK(axes.run(opcode::squeeze, {two_by_three}) == evaluation::misfit);
}

TEST_CASE("products of matrices are computed") {
  dense const square{{2, 2}, {1, 2, 3, 4}};
  CHECK(one().of(opcode::matmul, {square, two_by_three}) == numbers{9, 12, 15, 19, 26, 33});
  CHECK(one().of(opcode::matmul, {row({1, 2}), square}) == numbers{7, 10});
  one batches;
  CHECK(batches.of(opcode::matmul, {dense{{2, 1, 2}, {1, 0, 0, 1}}, square}) == numbers{1, 2, 3, 4});
  CHECK(batches.results[0].shape == extents{2, 1, 2});
  CHECK(one().of(opcode::linear, {row({1, 2}), square, row({10, 20})}) == numbers{15, 31});
  one general;
  general.parameters.numbers = {{"alpha", 2.}, {"beta", 10.}, {"transB", 1.}};
  CHECK(general.of(opcode::gemm, {square, square, row({1, 2})}) == numbers{20, 42, 32, 70});
  CHECK(one().run(opcode::matmul, {square, row({1, 2, 3})}) == evaluation::misfit);
}

TEST_CASE("what has no evaluation says so") {
  CHECK(one().run(opcode::opaque, {row({1})}) == evaluation::unknown);
  CHECK(one().run(opcode::lstm, {row({1})}) == evaluation::unknown);
  CHECK(one().run(opcode::bitwise_not, {row({1})}) == evaluation::unknown);
}

}  // namespace eval_reference
