// SPDX-License-Identifier: BSL-1.0

// Kernels made of expressions against those by hand, and against plain loops and oneDNN where there is none.
#include <fuse/dsl/dsl.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/owned_graph_traits.hpp>
#include <fuse/kernelgen.hpp>
#include <fuse/run_group.hpp>

#include "activations.hpp"
#include "comparison.hpp"
#include "norm_tensors.hpp"
#include "onednn_modules.hpp"
#include "read_then_write.hpp"
#include "ways.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {
using namespace fuse::dsl;
using fuse::arg;

constexpr auto x = var<"x">, scale = var<"scale">, bias = var<"bias">;
constexpr auto centred = x - mean(x);
constexpr auto layer_norm_formula = centred * rsqrt(mean(square(centred)) + scalar<"epsilon">) * scale + bias;
constexpr auto rms_norm_formula = x * rsqrt(mean(square(x)) + scalar<"epsilon">) * scale;

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
graph_value weighted_norm(graph& g, graph_value of, graph_value weight) {
  auto const variance = mean_of(g, g.add("Mul", {of, of}));
  auto const deviation = g.add("Sqrt", {g.add("Add", {variance, g.scalar(epsilon)})});
  return g.add("Mul", {g.add("Div", {of, deviation}), weight});
}
graph_value layer_norm_in(graph& g, span_of_values of) {
  return g.add("Add", {weighted_norm(g, g.add("Sub", {of[0], mean_of(g, of[0])}), of[1]), of[2]});
}
graph_value rms_norm_in(graph& g, span_of_values of) { return weighted_norm(g, of[0], of[1]); }
graph_value activation_in(graph& g, span_of_values of, activation_formula formula) {
  using enum activation_formula;
  switch (formula) {
    case softmax: return g.add("Softmax", {of[0]}, {{"axis", -1}});
    case gelu: return g.add("Gelu", {of[0]});
    case gelu_by_tanh: return g.add("Gelu", {of[0]}, {{"approximate", "tanh"}});
    case swiglu: return g.add("Mul", {g.add("Mul", {of[0], g.add("Sigmoid", {of[0]})}), of[1]});
  }
  std::abort();
}

struct group_of_graph {
  graph made{20};
  std::vector<fuse::group_kernel> kernel{};
  std::vector<fuse::tensor_view> inputs{};
  std::vector<std::int64_t> of_rows, of_columns;

  // `of` are the tensors that the formula reads, each of all rows or of one.
  template <class Formula>
  group_of_graph(std::size_t rows, std::size_t columns, std::vector<tensor<float> const*> const& of,
                 Formula const& formula)
      : of_rows{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)},
        of_columns{static_cast<std::int64_t>(columns)} {
    fuse::fusion_group<graph> group;
    for (auto const* const one : of) {
      group.inputs.push_back(made.input("input " + std::to_string(inputs.size())));
      inputs.push_back({fuse::element_type::float32,
                        one->size() == columns ? of_columns : of_rows,
                        {reinterpret_cast<std::byte const*>(one->data()), one->size() * sizeof(float)}});
    }
    auto const result = formula(made, span_of_values(group.inputs.data(), group.inputs.size()));
    made.output(result, "y");
    for (auto const n : made.nodes()) group.nodes.push_back(n);
    group.outputs.push_back(result);
    kernel = fuse::group_kernels(made, std::vector{group});
  }
};

template <class Tensors, class Formula>
candidate of_group(std::shared_ptr<Tensors> const& t, std::vector<tensor<float> const*> const& of,
                   Formula const& formula) {
  auto const group = std::make_shared<group_of_graph>(t->rows, t->columns, of, formula);
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
    all.push_back(
        {kernel, "float", "of an expression", rows, columns, [rows = rows, columns = columns] {
           auto const t = std::make_shared<norm_tensors<float>>(rows, columns, 0.0f, 0.1f);
           return std::vector<candidate>{
               of_norm<Formula>(t),
               of_group(t, {&t->x, &t->scale, &t->bias}, Formula == formula::layer_norm ? layer_norm_in : rms_norm_in),
               {"fuse, by hand", "", [t] { norm<Formula>(*t, t->x.data(), t->y.data()); }},
               {"memcpy", "", [t] { std::memcpy(t->y.data(), t->x.data(), t->bytes()); }}};
         }});
  }
}

struct activation_tensors {
  std::size_t rows, columns;
  tensor<float> x{rows * columns}, up{rows * columns}, y{rows * columns};

  activation_tensors(std::size_t rows_, std::size_t columns_) : rows(rows_), columns(columns_) {
    fill(x, 0, 1);
    fill(up, 1, 0.1f);
  }
};

// A row by the C library's functions: in float what a program without kernels has, in double what results are held to.
template <class T>
void loop(activation_formula formula, float const* from, float const* up, T* y, std::size_t columns) {
  using enum activation_formula;
  auto const each = [&](auto const& function) {
    for (std::size_t c = 0; c < columns; ++c) y[c] = function(T{from[c]}, T{up[c]});
  };
  switch (formula) {
    case softmax: {
      T const most{*std::max_element(from, from + columns)};
      T sum = 0;
      each([&](T v, T) {
        T const power = std::exp(v - most);
        sum += power;
        return power;
      });
      for (std::size_t c = 0; c < columns; ++c) y[c] /= sum;
      return;
    }
    case gelu: return each([](T v, T) { return v * (1 + std::erf(v * static_cast<T>(formulas::root_of_half))) / 2; });
    case gelu_by_tanh:
      return each([](T v, T) {
        T const argument = static_cast<T>(formulas::root_of_2_by_pi) * (v + static_cast<T>(0.044715) * v * v * v);
        return v * (1 + std::tanh(argument)) / 2;
      });
    case swiglu: return each([](T v, T factor) { return v / (1 + std::exp(-v)) * factor; });
  }
}

// A measurement of what computes something else means nothing.
void check_result(candidate const& one, activation_formula formula, activation_tensors const& t) {
  one.run();
  std::vector<double> expected(t.columns);
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    std::size_t const column = i % t.columns;
    if (column == 0) loop(formula, t.x.data() + i, t.up.data() + i, expected.data(), t.columns);
    if (std::abs(double{t.y.data()[i]} - expected[column]) <= 1e-3 * std::abs(expected[column]) + 1e-6) continue;
    std::cerr << one.name << ' ' << one.version << " computes something else\n";
    std::abort();
  }
}

std::vector<candidate> activation_candidates(activation const& what, std::size_t rows, std::size_t columns) {
  auto const t = std::make_shared<activation_tensors>(rows, columns);
  auto const formula = what.formula;
  bool const gated = formula == activation_formula::swiglu;
  std::vector<candidate> all;
  all.push_back({"fuse::kernel", "", [t, kernel = what.kernel] {
                   auto const view = [&](auto* data) { return fuse::kernels::matrix_view(data, t->rows, t->columns); };
                   check(kernel(view(t->x.data()), view(t->up.data()), view(t->y.data())));
                 }});
  std::vector<tensor<float> const*> inputs{&t->x};
  if (gated) inputs.push_back(&t->up);
  all.push_back(of_group(t, inputs, [&](graph& g, span_of_values of) { return activation_in(g, of, formula); }));
  all.push_back({"plain loops", __VERSION__, [t, formula] {
                   for (std::size_t i = 0; i < t->x.size(); i += t->columns) {
                     loop(formula, t->x.data() + i, t->up.data() + i, t->y.data() + i, t->columns);
                   }
                 }});
  for (auto const* const version : onednn_versions()) {
    auto call = prepare(*version, {formula, rows, columns, t->x.data(), t->up.data(), t->y.data()});
    if (call) all.push_back({"oneDNN", version->name, [t, call = std::move(call)] { call(); }});
  }
  for (auto const& one : all) check_result(one, formula, *t);
  std::size_t const bytes = t->x.size() * sizeof(float);
  bool const past_caches = fuse::kernels::detail::is_streamed(fuse::kernels::output::automatic, false, bytes);
  all.push_back({"reading and writing", "", [=] {
                   if (formula == activation_formula::softmax) {
                     read_then_write(t->x.data(), t->y.data(), t->rows, t->columns * sizeof(float), past_caches);
                   } else {
                     read_and_write(t->x.data(), gated ? t->up.data() : nullptr, t->y.data(), bytes, past_caches);
                   }
                 }});
  return all;
}

void add_activations(std::vector<comparison>& all) {
  for (auto const& what : activations) {
    for (auto const& [rows, columns] : norm_shapes) {
      all.push_back({what.name, "float", "of an expression", rows, columns,
                     [&what, rows = rows, columns = columns] { return activation_candidates(what, rows, columns); }});
    }
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
  add_activations(all);
}

}  // namespace bench
