// SPDX-License-Identifier: BSL-1.0

// Kernels made of expressions against those by hand, and against plain loops where there is none.
#include <fuse/dsl/dsl.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/owned_graph_traits.hpp>
#include <fuse/kernelgen.hpp>
#include <fuse/run_group.hpp>

#include "comparison.hpp"
#include "norm_tensors.hpp"
#include "ways.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>

namespace bench {
namespace {
using namespace fuse::dsl;
using fuse::arg;

constexpr auto x = var<"x">, scale = var<"scale">, bias = var<"bias">;
constexpr auto centred = x - mean(x);
constexpr auto layer_norm_formula = centred * rsqrt(mean(square(centred)) + scalar<"epsilon">) * scale + bias;
constexpr auto rms_norm_formula = x * rsqrt(mean(square(x)) + scalar<"epsilon">) * scale;
constexpr auto softmax_formula = softmax(x), gelu_formula = gelu(x);
constexpr auto swiglu_formula = x * sigmoid(x) * var<"gate">;

using span_of_values = fuse::span<fuse::graph::value const>;
using tensors = std::shared_ptr<norm_tensors<float>>;
fuse::kernels::matrix_view<float const> input(tensors const& t) { return {t->x.data(), t->rows, t->columns}; }
fuse::kernels::matrix_view<float> output(tensors const& t) { return {t->y.data(), t->rows, t->columns}; }

template <formula Formula>
candidate of_norm(tensors const& t, row_way way = row_way::automatic) {
  if constexpr (Formula == formula::layer_norm) {
    return {"fuse::kernel", "", [t, way] {
              check(fuse::kernel<layer_norm_formula>(output(t), arg<"x">(input(t)), arg<"scale">(t->scale),
                                                     arg<"bias">(t->bias), arg<"epsilon">(epsilon), going(way)));
            }};
  } else {
    return {"fuse::kernel", "", [t, way] {
              check(fuse::kernel<rms_norm_formula>(output(t), arg<"x">(input(t)), arg<"scale">(t->scale),
                                                   arg<"epsilon">(epsilon), going(way)));
            }};
  }
}

// The same formulas as groups of a graph, which are known at run time only.
using graph = fuse::graph;
using graph_value = graph::value;

graph_value mean_of(graph& g, graph_value v) { return g.add("ReduceMean", {v}, {{"axes", {-1}}}); }
graph_value weighted_norm(graph& g, graph_value centred, graph_value scale) {
  auto const variance = mean_of(g, g.add("Mul", {centred, centred}));
  auto const deviation = g.add("Sqrt", {g.add("Add", {variance, g.scalar(epsilon)})});
  return g.add("Mul", {g.add("Div", {centred, deviation}), scale});
}
graph_value layer_norm_in(graph& g, span_of_values of) {
  return g.add("Add", {weighted_norm(g, g.add("Sub", {of[0], mean_of(g, of[0])}), of[1]), of[2]});
}
graph_value rms_norm_in(graph& g, span_of_values of) { return weighted_norm(g, of[0], of[1]); }
graph_value softmax_in(graph& g, span_of_values of) { return g.add("Softmax", {of[0]}, {{"axis", -1}}); }
graph_value gelu_in(graph& g, span_of_values of) { return g.add("Gelu", {of[0]}); }
graph_value swiglu_in(graph& g, span_of_values of) {
  return g.add("Mul", {g.add("Mul", {of[0], g.add("Sigmoid", {of[0]})}), of[1]});
}

struct group_of_graph {
  graph made{17};
  std::vector<fuse::group_kernel> kernel{};
  std::vector<fuse::tensor_view> inputs{};
  std::vector<std::int64_t> of_rows, of_columns;

  group_of_graph(tensors const& t, graph_value (*formula)(graph&, span_of_values))
      : of_rows{static_cast<std::int64_t>(t->rows), static_cast<std::int64_t>(t->columns)},
        of_columns{static_cast<std::int64_t>(t->columns)} {
    graph_value const values[] = {made.input("x"), made.input("scale"), made.input("bias")};
    auto const result = formula(made, {values, std::size(values)});
    made.output(result, "y");
    fuse::fusion_group<graph> group;
    for (auto const n : made.nodes()) group.nodes.push_back(n);
    group.inputs.assign(std::begin(values), std::end(values));
    group.outputs.push_back(result);
    kernel = fuse::group_kernels(made, std::vector{group});
    auto const view = [](float const* data, std::vector<std::int64_t> const& shape, std::size_t count) {
      return fuse::tensor_view{
          fuse::element_type::float32, shape, {reinterpret_cast<std::byte const*>(data), count * sizeof(float)}};
    };
    inputs = {view(t->x.data(), of_rows, t->rows * t->columns), view(t->scale.data(), of_columns, t->columns),
              view(t->bias.data(), of_columns, t->columns)};
  }
};

candidate of_group(tensors const& t, graph_value (*formula)(graph&, span_of_values)) {
  auto const group = std::make_shared<group_of_graph>(t, formula);
  return {"fuse::group_kernel", "", [t, group] {
            fuse::span<std::byte> const y(reinterpret_cast<std::byte*>(t->y.data()),
                                          t->rows * t->columns * sizeof(float));
            if (group->kernel[0].run(group->inputs, {&y, 1})) return;
            std::cerr << group->kernel[0].refusal() << '\n';
            std::abort();
          }};
}

template <formula Formula>
void add_norm(std::vector<comparison>& all, std::string const& kernel) {
  for (auto const& [rows, columns] : norm_shapes) {
    all.push_back({kernel, "float", "of an expression", rows, columns, [rows = rows, columns = columns] {
                     auto const t = std::make_shared<norm_tensors<float>>(rows, columns, 0.0f, 0.1f);
                     return std::vector<candidate>{
                         of_norm<Formula>(t),
                         of_group(t, Formula == formula::layer_norm ? layer_norm_in : rms_norm_in),
                         {"fuse, by hand", "", [t] { norm<Formula>(*t, t->x.data(), t->y.data()); }},
                         {"memcpy", "", [t] { std::memcpy(t->y.data(), t->x.data(), t->bytes()); }}};
                   }});
  }
}

// What a program without kernels has: the C library's functions in loops.
void loop_of_softmax(norm_tensors<float>& t) {
  for (std::size_t r = 0; r < t.rows; ++r) {
    float const* const from = t.x.data() + r * t.columns;
    float* const to = t.y.data() + r * t.columns;
    float most = from[0], sum = 0;
    for (std::size_t c = 1; c < t.columns; ++c) most = std::max(most, from[c]);
    for (std::size_t c = 0; c < t.columns; ++c) sum += to[c] = std::exp(from[c] - most);
    for (std::size_t c = 0; c < t.columns; ++c) to[c] /= sum;
  }
}
template <class Function>
void loop_of(norm_tensors<float>& t, Function const& function) {
  for (std::size_t i = 0; i < t.rows * t.columns; ++i) t.y.data()[i] = function(t.x.data()[i], i % t.columns);
}

void add_function(std::vector<comparison>& all, std::string const& kernel, void (*fused)(tensors const&),
                  graph_value (*formula)(graph&, span_of_values), void (*loop)(norm_tensors<float>&)) {
  for (auto const& [rows, columns] : norm_shapes) {
    all.push_back({kernel, "float", "of an expression", rows, columns, [=, rows = rows, columns = columns] {
                     auto const t = std::make_shared<norm_tensors<float>>(rows, columns, 0.0f, 0.1f);
                     return std::vector<candidate>{
                         {"fuse::kernel", "", [t, fused] { fused(t); }},
                         of_group(t, formula),
                         {"plain loops", __VERSION__, [t, loop] { loop(*t); }},
                         {"memcpy", "", [t] { std::memcpy(t->y.data(), t->x.data(), t->bytes()); }}};
                   }});
  }
}

template <formula Formula>
void add_ways(std::vector<told_kernel>& all, std::string const& kernel) {
  for (auto const& [rows, columns] : way_shapes) {
    all.push_back({kernel,
                   "float, of an expression",
                   loops_here(fuse::kernels::detail::rows_from::computed, 0, true, false),
                   {.rows = rows,
                    .columns = columns,
                    .streamed = fuse::kernels::detail::is_streamed(fuse::kernels::output::automatic, false,
                                                                   rows * columns * sizeof(float))},
                   [rows = rows, columns = columns] {
                     auto const t = std::make_shared<norm_tensors<float>>(rows, columns, 0.0f, 0.1f);
                     return [t](row_way way) { of_norm<Formula>(t, way).run(); };
                   }});
  }
}

}  // namespace

void add_expression_ways(std::vector<told_kernel>& all) {
  add_ways<formula::layer_norm>(all, "layer_norm");
  add_ways<formula::rms_norm>(all, "rms_norm");
}

void add_expressions(std::vector<comparison>& all) {
  add_norm<formula::layer_norm>(all, "layer_norm");
  add_norm<formula::rms_norm>(all, "rms_norm");
  add_function(
      all, "softmax", [](tensors const& t) { check(fuse::kernel<softmax_formula>(output(t), arg<"x">(input(t)))); },
      softmax_in, loop_of_softmax);
  add_function(
      all, "gelu", [](tensors const& t) { check(fuse::kernel<gelu_formula>(output(t), arg<"x">(input(t)))); }, gelu_in,
      [](norm_tensors<float>& t) {
        loop_of(t, [](float v, std::size_t) { return 0.5f * v * (1 + std::erf(v * 0.70710678f)); });
      });
  add_function(
      all, "swiglu",
      [](tensors const& t) {
        check(fuse::kernel<swiglu_formula>(output(t), arg<"x">(input(t)), arg<"gate">(t->scale)));
      },
      swiglu_in,
      [](norm_tensors<float>& t) {
        loop_of(t, [&](float v, std::size_t column) { return v / (1 + std::exp(-v)) * t.scale.data()[column]; });
      });
}

}  // namespace bench
