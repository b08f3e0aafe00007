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
  std::map<std::string, std::string, std::less<>> texts;
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
  [[nodiscard]] fuse::attribute_view attribute(std::string_view name) const override {
    auto const at = texts.find(name);
    if (at == texts.end()) return {};
    return std::string_view(at->second);
  }
  [[nodiscard]] fuse::axis_use use_of_axis() const override { return axis; }
};

std::vector<dense> untyped(std::size_t count) {
  return std::vector<dense>(count, dense{{}, {}, fuse::element_type::unknown, {}});
}

/// Operators by hand: operands, parameters, results.
struct one {
  given parameters{};
  std::vector<dense> results = untyped(1);

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
dense whole(std::vector<std::int64_t> const& elements, fuse::element_type type = fuse::element_type::int64) {
  return {{static_cast<std::int64_t>(elements.size())}, {}, type, elements};
}
dense row(std::vector<double> const& elements) { return {{static_cast<std::int64_t>(elements.size())}, elements}; }
dense const two_by_three{{2, 3}, {1, 2, 3, 4, 5, 6}};

bool close(std::vector<double> const& a, std::vector<double> const& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = std::fabs(a[i] - b[i]) <= 1e-6;
  return same;
}
using numbers = std::vector<double>;
using extents = std::vector<std::int64_t>;

extents integers(opcode op, std::vector<dense> const& operands) {
  one made;
  REQUIRE(made.run(op, operands) == evaluation::done);
  return made.results[0].integers;
}

}  // namespace

TEST_CASE("operators of one element") {
  CHECK(close(one().of(opcode::gelu, {row({1, -2})}), {0.8413447, -0.0455003}));
  one by_tanh;
  by_tanh.parameters.texts["approximate"] = "tanh";
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
  for (auto const* bound : {"min", "max"}) {  // between what is no number there is none
    clipped.parameters.numbers = {{bound, std::nan("")}};
    CHECK(std::isnan(clipped.of(opcode::clip, {row({1})})[0]));
  }
  one to_integer;
  to_integer.results[0].type = fuse::element_type::int64;
  (void)to_integer.of(opcode::cast, {row({-1.7, 2.9})});
  CHECK(to_integer.results[0].integers == extents{-1, 2});
  one to_boolean;
  to_boolean.results[0].type = fuse::element_type::boolean;
  CHECK(to_boolean.of(opcode::cast, {row({-1.7, 0})}) == numbers{1, 0});
}

TEST_CASE("operands broadcast, and integers divide to zero") {
  CHECK(one().of(opcode::sub, {two_by_three, row({1, 2, 3})}) == numbers{0, 0, 0, 3, 3, 3});
  CHECK(one().of(opcode::div, {row({-7, 7}), dense::of(2)}) == numbers{-3.5, 3.5});
  CHECK(integers(opcode::div, {whole({-7, 7}), whole({2})}) == extents{-3, 3});
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
  layer.results = untyped(3);
  CHECK(close(layer.of(opcode::layer_norm, {row({1, 3}), row({2, 2}), row({0, 1})}), {-2, 3}));
  CHECK(layer.results[1].elements == numbers{2});
  CHECK(layer.results[2].elements == numbers{1});
  CHECK(close(layer.of(opcode::rms_norm, {row({3, 4})}), {0.8485281, 1.1313708}));
  layer.results = untyped(4);
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
  CHECK(by.run(opcode::reshape, {two_by_three, row({1e10, 1e10})}) == evaluation::misfit);
  by.parameters.numbers["axis"] = 1;
  CHECK(by.of(opcode::concat, {two_by_three, dense{{2, 1}, {7, 8}}}) == numbers{1, 2, 3, 7, 4, 5, 6, 8});
  CHECK(by.of(opcode::gather, {two_by_three, row({-1, 0})}) == numbers{3, 1, 6, 4});
  CHECK(by.run(opcode::gather, {two_by_three, row({3})}) == evaluation::misfit);
  by.results = untyped(2);
  CHECK(by.of(opcode::split, {two_by_three}) == numbers{1, 2, 4, 5});
  CHECK(by.results[1].elements == numbers{3, 6});
  one slice;
  slice.parameters.lists = {{"starts", {-1}}, {"ends", {-1000}}, {"axes", {1}}, {"steps", {-2}}};
  CHECK(slice.of(opcode::slice, {two_by_three}) == numbers{3, 1, 6, 4});
  slice.parameters.lists = {{"starts", {1}}, {"ends", {1000}}};
  CHECK(slice.of(opcode::slice, {two_by_three}) == numbers{4, 5, 6});
  CHECK(one().of(opcode::expand, {row({1, 2}), row({2, 1})}) == numbers{1, 2, 1, 2});
  CHECK(one().of(opcode::tile, {row({1, 2}), row({2})}) == numbers{1, 2, 1, 2});
  CHECK(integers(opcode::shape, {two_by_three}) == extents{2, 3});
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
  CHECK(one().run(opcode::opaque_layout, {row({1})}) == evaluation::unknown);
  CHECK(one().run(opcode::bitwise_not, {row({1})}) == evaluation::unknown);
  one text;
  text.results[0].type = fuse::element_type::string;
  CHECK(text.run(opcode::cast, {row({1})}) == evaluation::unknown);
  one random;
  CHECK(random.run(opcode::dropout, {row({1}), dense::of(0.5), {{}, {1}, fuse::element_type::boolean, {}}}) ==
        evaluation::unknown);
}

TEST_CASE("integers are exact beyond what a double tells apart, and wrap around in their type") {
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
  CHECK(integers(opcode::add, {whole({large}), whole({large + 1})}) == extents{2 * large + 1});
  CHECK(integers(opcode::mul, {whole({large}), whole({3})}) == extents{3 * large});
  CHECK(integers(opcode::sum, {whole({large, 1, 1})}) == extents{large + 2});
  CHECK(integers(opcode::transpose, {whole({large})}) == extents{large});
  CHECK(one().of(opcode::equal, {whole({large}), whole({large - 1})}) == numbers{0});
  CHECK(integers(opcode::pow, {whole({3}), whole({39})}) == extents{4052555153018976267});
  CHECK(integers(opcode::arg_max, {whole({large - 1, large})}) == extents{1});
  auto const bytes = [](std::vector<std::int64_t> const& of) { return whole(of, fuse::element_type::uint8); };
  CHECK(integers(opcode::add, {bytes({200}), bytes({100})}) == extents{44});
  CHECK(integers(opcode::sub, {bytes({1}), bytes({2})}) == extents{255});
  auto const words = [](std::vector<std::int64_t> const& of) { return whole(of, fuse::element_type::uint64); };
  CHECK(integers(opcode::div, {words({-1}), words({2})}) == extents{INT64_MAX});
  CHECK(one().of(opcode::less, {words({-1}), words({2})}) == numbers{0});
  CHECK(integers(opcode::mod, {whole({-7}), whole({3})}) == extents{2});
  CHECK(integers(opcode::div, {whole({INT64_MIN, 1}), whole({-1, 0})}) == extents{INT64_MIN, 0});
}

TEST_CASE("results are rounded to their type by whoever asks") {
  dense third{{3}, {1. / 3, 65520, 1 + 0x1p-9}, fuse::element_type::float16, {}};
  fuse::round_to_type(third);
  CHECK(third.elements == numbers{0.333251953125, HUGE_VAL, 1 + 0x1p-9});
  dense narrow{{2}, {1 + 0x1p-8, 1 + 0x1p-7}, fuse::element_type::bfloat16, {}};
  fuse::round_to_type(narrow);
  CHECK(narrow.elements == numbers{1, 1 + 0x1p-7});
}

TEST_CASE("an embedding, its sum and its mask") {
  one embedding;
  embedding.parameters.numbers["epsilon"] = 0;
  embedding.results = untyped(3);
  dense const ids{{1, 2}, {}, fuse::element_type::int64, {1, 0}}, words{{2, 2}, {0, 0, 1, 2}},
      positions{{2, 2}, {1, 2, 0, 4}};
  std::vector<dense const*> operands(9, nullptr);
  auto const scale = row({1, 1}), bias = row({0, 1});
  operands[0] = operands[7] = &ids;
  operands[2] = &words;
  operands[3] = &positions;
  operands[5] = &scale;
  operands[6] = &bias;
  REQUIRE(evaluate(opcode::embed_layer_norm, operands, embedding.parameters, embedding.results) == evaluation::done);
  CHECK(close(embedding.results[0].elements, {-1, 2, -1, 2}));
  CHECK(embedding.results[1].integers == extents{1});
  CHECK(embedding.results[2].elements == numbers{2, 4, 0, 4});
}

TEST_CASE("any operands are stood, and what is done is whole") {
  std::vector<dense> pool{row({1, 2}),
                          two_by_three,
                          whole({0, 1}),
                          whole({-1}),
                          dense::of(1),
                          {{2, 0}, {}},
                          {{1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}},
                          {{1, 2, 2}, {}, fuse::element_type::uint8, {1, 2, 3, 255}},
                          {{2}, {0, 1}, fuse::element_type::boolean, {}},
                          {{}, {}, fuse::element_type::int64, {1}}};
  std::uint64_t seed = 1;
  auto const draw = [&](std::size_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(seed >> 33) % below;
  };
  std::size_t done = 0;
  for (std::size_t op = 0; op < static_cast<std::size_t>(opcode::count_); ++op)
    for (int turn = 0; turn < 200; ++turn) {
      std::vector<dense const*> operands;
      for (auto count = draw(10); count > 0; --count)
        operands.push_back(draw(8) == 0 ? nullptr : &pool[draw(pool.size())]);
      given parameters;
      for (auto const* name : {"axes", "pads", "kernel_shape", "strides", "dilations", "k", "split", "perm", "starts",
                               "ends", "steps", "shape", "output_padding"})
        for (auto count = draw(5); count > 0; --count)
          parameters.lists[name].push_back(static_cast<std::int64_t>(draw(6)) - 2);
      for (auto const* name : {"axis", "group", "num_groups", "blocksize", "block_size", "size", "p", "batch_dims", "k",
                               "q_num_heads", "kv_num_heads", "num_heads", "ceil_mode", "time_axis", "training_mode"})
        if (draw(3) == 0) parameters.numbers[name] = static_cast<double>(draw(5)) - 1;
      auto results = untyped(1 + draw(4));
      if (evaluate(static_cast<opcode>(op), operands, parameters, results) != evaluation::done) continue;
      ++done;
      INFO(name_of(static_cast<opcode>(op)));
      CHECK(results[0].size() == fuse::detail::count_of(results[0].shape));
    }
  CHECK(done > 1000);
}

TEST_CASE("windows: convolutions, their transposes, pools") {
  dense const image{{1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}, kernel{{1, 1, 2, 2}, {1, 0, 0, 1}};
  CHECK(one().of(opcode::conv, {image, kernel, row({1})}) == numbers{7, 9, 13, 15});
  one padded;
  padded.parameters.lists = {{"pads", {1, 1, 0, 0}}, {"strides", {2, 2}}, {"dilations", {2, 2}}};
  CHECK(padded.of(opcode::conv, {image, kernel}) == numbers{5});
  dense const channels{{1, 2, 1, 1}, {3, 4}}, by_group{{2, 1, 1, 1}, {2, 10}};
  one groups;
  groups.parameters.numbers["group"] = 2;
  CHECK(groups.of(opcode::conv, {channels, by_group}) == numbers{6, 40});
  CHECK(groups.of(opcode::conv_transpose, {channels, by_group}) == numbers{6, 40});
  CHECK(one().run(opcode::conv, {channels, by_group}) == evaluation::misfit);
  dense const small{{1, 1, 1, 2}, {1, 2}}, spread{{1, 1, 1, 2}, {1, 10}};
  CHECK(one().of(opcode::conv_transpose, {small, spread}) == numbers{1, 12, 20});
  one pool;
  pool.parameters.lists = {{"kernel_shape", {2, 2}}};
  pool.results = untyped(2);
  CHECK(pool.of(opcode::max_pool, {image}) == numbers{5, 6, 8, 9});
  CHECK(pool.results[1].integers == extents{4, 5, 7, 8});
  one mean;
  mean.parameters.lists = {{"kernel_shape", {2, 2}}, {"pads", {1, 1, 0, 0}}, {"strides", {3, 3}}};
  CHECK(mean.of(opcode::average_pool, {image}) == numbers{1});
  mean.parameters.numbers["count_include_pad"] = 1;
  CHECK(mean.of(opcode::average_pool, {image}) == numbers{0.25});
}

TEST_CASE("quantised numbers are whole, saturate, and come back") {
  auto const zero = whole({128}, fuse::element_type::uint8);
  dense const scale{{1}, {0.5}, fuse::element_type::float32, {}};
  CHECK(integers(opcode::quantize, {row({0.25, 0.75, 1000, -1000}), scale, zero}) == extents{128, 130, 255, 0});
  CHECK(one().of(opcode::dequantize, {whole({129, 0}, fuse::element_type::uint8), scale, zero}) == numbers{0.5, -64});
}

TEST_CASE("attention looks where it may") {
  dense const q{{1, 1, 2, 1}, {0, 0}}, v{{1, 1, 2, 1}, {2, 4}};
  CHECK(one().of(opcode::attention, {q, q, v}) == numbers{3, 3});
  one causal;
  causal.parameters.numbers["is_causal"] = 1;
  CHECK(causal.of(opcode::attention, {q, q, v}) == numbers{2, 3});
  dense const none{{2, 2}, {0, 0, 0, 1}, fuse::element_type::boolean, {}};
  CHECK(one().of(opcode::attention, {q, q, v, none}) == numbers{0, 4});
}

TEST_CASE("attention of heads side by side is that of heads") {
  one side_by_side, apart;
  side_by_side.parameters.numbers = {{"num_heads", 2}, {"scale", 0.5}};
  apart.parameters.numbers = {{"scale", 0.5}};
  dense const q{{1, 1, 2}, {1, 2}}, k{{1, 2, 2}, {1, 3, 2, 4}}, v{{1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}};
  dense const heads_q{{1, 2, 1, 1}, {1, 2}}, heads_k{{1, 2, 2, 1}, {1, 2, 3, 4}},
      heads_v{{1, 2, 2, 2}, {1, 2, 5, 6, 3, 4, 7, 8}};
  auto const made = side_by_side.of(opcode::multi_head_attention, {q, k, v});
  CHECK(made == apart.of(opcode::attention, {heads_q, heads_k, heads_v}));
  CHECK(side_by_side.results[0].shape == extents{1, 1, 4});
  SECTION("a query that may look at nothing is no number") {
    dense const none{{1, 1, 1, 2}, {-HUGE_VAL, -HUGE_VAL}}, absent;
    side_by_side.results = untyped(1);
    std::vector<dense const*> const operands{&q, &k, &v, nullptr, nullptr, &none};
    CHECK(fuse::evaluate(opcode::multi_head_attention, operands, side_by_side.parameters, side_by_side.results) ==
          fuse::evaluation::done);
    for (auto x : side_by_side.results[0].elements) CHECK(x != x);
  }
  SECTION("keys and values of the past come first") {
    dense const now_k{{1, 1, 2}, {2, 4}}, now_v{{1, 1, 4}, {5, 6, 7, 8}}, past_k{{1, 2, 1, 1}, {1, 3}},
        past_v{{1, 2, 1, 2}, {1, 2, 3, 4}};
    side_by_side.results = untyped(3);
    std::vector<dense const*> const operands{&q, &now_k, &now_v, nullptr, nullptr, nullptr, &past_k, &past_v};
    REQUIRE(fuse::evaluate(opcode::multi_head_attention, operands, side_by_side.parameters, side_by_side.results) ==
            fuse::evaluation::done);
    CHECK(side_by_side.results[0].elements == made);
    CHECK(side_by_side.results[1].elements == heads_k.elements);
    CHECK(side_by_side.results[2].elements == heads_v.elements);
  }
}

TEST_CASE("attention that projects is that of what it projects") {
  one projecting, of_projected;
  projecting.parameters.numbers = {{"num_heads", 2}, {"scale", 0.5}};
  of_projected.parameters.numbers = projecting.parameters.numbers;
  dense const x{{1, 2, 1}, {1, 2}}, weights{{1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}}, bias{{8}, {0, 0, 1, 0, 0, 0, 0, -1}};
  projecting.parameters.lists["qkv_hidden_sizes"] = {2, 2, 4};
  auto const made = projecting.of(opcode::projected_attention, {x, weights, bias});
  dense const q{{1, 2, 2}, {1, 2, 2, 4}}, k{{1, 2, 2}, {4, 4, 7, 8}}, v{{1, 2, 4}, {5, 6, 7, 7, 10, 12, 14, 15}};
  CHECK(made == of_projected.of(opcode::multi_head_attention, {q, k, v}));
  CHECK(projecting.results[0].shape == extents{1, 2, 4});
  SECTION("three of as many columns, unless sizes are told") {
    one alike;
    alike.parameters.numbers = {{"num_heads", 1}};
    dense const even{{1, 3}, {1, 0, 2}}, none{{3}, {0, 0, 0}};
    auto const each = alike.of(opcode::projected_attention, {x, even, none});
    REQUIRE(each.size() == 2);
    CHECK(each[0] == Approx(3));  // keys are all 0: the mean of 2 and 4
  }
}

TEST_CASE("what orders elements is computed") {
  one best;
  best.parameters.lists["k"] = {2};
  best.results = untyped(2);
  CHECK(best.of(opcode::top_k, {row({1, 3, 2, 3})}) == numbers{3, 3});
  CHECK(best.results[1].integers == extents{1, 3});
  CHECK(one().of(opcode::cumulative_sum, {row({1, 2, 3}), whole({0})}) == numbers{1, 3, 6});
  one before;
  before.parameters.numbers = {{"exclusive", 1.}, {"reverse", 1.}};
  CHECK(before.of(opcode::cumulative_sum, {row({1, 2, 3}), whole({0})}) == numbers{5, 3, 0});
  CHECK(one().of(opcode::scatter_nd, {row({1, 2, 3}), dense{{2, 1}, {}, fuse::element_type::int64, {2, 0}},
                                      row({8, 9})}) == numbers{9, 2, 8});
  one letters;
  letters.parameters.texts["equation"] = "ij, kj -> ki";
  CHECK(letters.of(opcode::einsum, {two_by_three, dense{{1, 3}, {1, 0, 1}}}) == numbers{4, 10});
}

}  // namespace eval_reference
