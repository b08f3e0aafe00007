// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluate.hpp"
#include "writer.hpp"

namespace corpus {

/// A row, and how it is applied to the normalised value: by mul, div, add or sub.
struct row_step {
  opcode op;
  value row;
};

/// What one norm of a spelling computes: `(x [- mean]) / sqrt(variance + epsilon)`, and then the steps in turn.
struct formula {
  bool centred = false;
  value x{};
  std::vector<row_step> steps{};
  double epsilon = 0;
  value y{};
};

/// The types that x comes in, the statistics are computed in, and y goes out in.
struct type_scheme {
  std::string_view name;
  element_type x, inside, y;
};
inline constexpr type_scheme type_schemes[] = {
    {"float", element_type::float32, element_type::float32, element_type::float32},
    {"half", element_type::float16, element_type::float16, element_type::float16},
    {"double", element_type::float64, element_type::float64, element_type::float64},
    {"half-island", element_type::float16, element_type::float32, element_type::float16},
    {"half-island-then-scale", element_type::float16, element_type::float32, element_type::float16},
    {"half-centred-in-half", element_type::float16, element_type::float32, element_type::float16},
    {"double-island", element_type::float32, element_type::float64, element_type::float32},
    {"double-island-then-scale", element_type::float32, element_type::float64, element_type::float32},
    {"bfloat16-island", element_type::bfloat16, element_type::float32, element_type::bfloat16},
    {"bfloat16-island-then-scale", element_type::bfloat16, element_type::float32, element_type::bfloat16},
};

/// Writes a layer norm or RMS norm, or two that share their statistics, in one of their countless spellings, and what
/// reads and feeds it. Everything follows from the seed.
class spelling {
 public:
  /// The operator set version that the graph for `seed` must have.
  static int version(std::uint64_t seed, bool second) {
    if (second) return 1;
    draw choose(seed);
    auto const types = scheme(choose);
    std::vector<int> versions{17};
    for (int v = types.x == element_type::bfloat16 ? 13 : 9; v <= 24; ++v) versions.push_back(v);
    return choose.number("operator set", versions);
  }

  spelling(fuse::graph& g, bool second, std::uint64_t seed) : choose(seed), w(g, second, choose) {
    plan();
    write();
  }

  draw choose;
  writer w;
  std::vector<formula> formulas{};
  bool strict = true;     ///< nothing of the norm may stay
  int casts = 0;          ///< Casts that may stay
  int residual_rows = 0;  ///< residuals as large as a row, of norms over all axes
  bool rounds = false;    ///< a row becomes a new constant, rounded once more
  bool spreads = false, flattened = false;
  std::vector<std::int64_t> norm_axes{};  ///< from the end

  [[nodiscard]] element_type narrowest() const {
    return fuse::size_of(types.y) < fuse::size_of(types.inside) ? types.y : types.inside;
  }

  [[nodiscard]] std::map<std::string, array> feeds() const {
    draw numbers(choose.seed());
    std::map<std::string, array> all;
    for (auto const& [name, shape] : w.inputs)
      all[name] = {shape, numbers.numbers("feed " + name, count_of(shape), -4, 4, false), false};
    return all;
  }

  /// How far the graph is from the formulas; both in double precision.
  [[nodiscard]] double formula_error() {
    evaluator values(w.g, feeds());
    double worst = 0;
    for (auto const& f : formulas) {
      auto const& x = values.value(f.x);
      auto const minus = [](double a, double b) { return a - b; };
      auto const times = [](double a, double b) { return a * b; };
      auto const d = f.centred ? combine(x, mean(x, norm_axes, true), minus) : x;
      auto y = combine(
          d, map(mean(combine(d, d, times), norm_axes, true), [&](double v) { return 1 / std::sqrt(v + f.epsilon); }),
          times);
      for (auto const& s : f.steps)
        y = combine(y, values.value(s.row), [&](double a, double b) {
          return s.op == opcode::mul ? a * b : s.op == opcode::div ? a / b : s.op == opcode::add ? a + b : a - b;
        });
      worst = std::max(worst, distance(y, values.value(f.y)));
    }
    return worst;
  }

 private:
  static type_scheme scheme(draw& choose) {
    std::vector<std::string_view> names(8, "float");
    for (auto const& s : type_schemes) names.push_back(s.name);
    auto const chosen = choose("types", names);
    return *std::find_if(std::begin(type_schemes), std::end(type_schemes),
                         [&](auto const& s) { return s.name == chosen; });
  }

  void plan() {
    layer = choose("kind", {"layer", "rms"}) == "layer";
    types = scheme(choose);
    type = types.inside;
    rank = static_cast<std::size_t>(choose.number("rank", {3, 3, 2, 4}));
    auto const count =
        std::min<std::size_t>(static_cast<std::size_t>(choose.number("trailing axes", {1, 1, 1, 2, 3})), rank);
    extents const odd{3, 5, 7}, even{6, 4, 8}, leading{4, 3, 2};
    auto const& sizes = choose("sizes", {"odd", "even"}) == "odd" ? odd : even;
    normal.assign(sizes.end() - static_cast<std::ptrdiff_t>(count), sizes.end());
    run.assign(leading.begin(), leading.begin() + static_cast<std::ptrdiff_t>(rank - count));
    auto const dynamic = choose("leading dimensions", {"fixed", "symbolic", "unknown"});
    char const* const symbols[]{"batch", "sequence", "heads"};
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (dynamic == "fixed") dims.emplace_back(run[i]);
      if (dynamic == "symbolic") dims.emplace_back(symbols[i]);
      if (dynamic == "unknown") dims.emplace_back(-1);
    }
    dims.insert(dims.end(), normal.begin(), normal.end());
    run.insert(run.end(), normal.begin(), normal.end());
    flattened = !w.second && choose.one_in("flatten", 10);
    norm_shape = flattened ? extents{static_cast<std::int64_t>(count_of(normal))} : normal;
    norm_rank = flattened ? 2 : rank;
    for (auto axis = -static_cast<std::int64_t>(norm_shape.size()); axis < 0; ++axis) norm_axes.push_back(axis);
    w.identities = choose("identities", {"none", "none", "some"}) == "some";
    late = types.name.ends_with("then-scale");
    centred_in_half = types.name == "half-centred-in-half";
    epsilon =
        std::vector{1e-5, 1e-12, 0.0, 0.5, 1e-3}[static_cast<std::size_t>(choose.number("epsilon", {0, 1, 2, 3, 4}))];
    one_pass = layer && choose("variance", {"two passes", "two passes", "one pass"}) == "one pass" && !centred_in_half;
  }

  // What comes before and after.

  value producer() {
    auto const form = choose("x is", {"an input", "an input", "a sum", "a biased sum", "a product", "a scaled product",
                                      "a MatMul", "a Relu"});
    if (form == "a MatMul") {
      auto a = dims;
      auto a_run = run;
      a.back() = a_run.back() = 5;
      auto const weights = w.plain_constant(types.x, {5, run.back()},
                                            choose.numbers("weights", 5 * static_cast<std::size_t>(run.back())));
      return w.op(opcode::matmul, {w.input("x", types.x, a, a_run), weights});
    }
    auto const a = w.input("x", types.x, dims, run);
    if (form == "an input") return a;
    if (form == "a Relu") return w.op(opcode::relu, {w.op(opcode::add, {a, w.input("x2", types.x, dims, run)})});
    auto const b = form == "a biased sum" || form == "a scaled product"
                       ? w.plain_constant(types.x, normal, choose.numbers("row", count_of(normal)))
                       : w.input("x2", types.x, dims, run);
    return w.op(form.ends_with("product") ? opcode::mul : opcode::add, {a, b});
  }

  void consumer(value y, value x) {
    auto const form =
        choose("y goes to", {"the output", "the output", "a Relu", "a residual", "a gate", "a MatMul", "both"});
    if (form == "a residual") {
      y = w.op(opcode::add, {y, x});
      if (norm_rank == norm_shape.size()) ++residual_rows;
    }
    if (form == "a gate") y = w.op(opcode::mul, {y, w.input(fresh("gate"), types.y, dims, run)});
    if (form == "a MatMul")
      y = w.op(opcode::matmul,
               {y, w.plain_constant(types.y, {run.back(), 3},
                                    choose.numbers("weights", 3 * static_cast<std::size_t>(run.back())))});
    if (form == "both") w.g.output(y, fresh("y"));
    if (form == "both" || form == "a Relu") y = w.op(opcode::relu, {y});
    w.g.output(y, fresh("y"));
  }

  std::string fresh(std::string const& name) { return name + std::to_string(++names[name]); }

  // Scale and bias.

  value row(std::string const& role, element_type t) {
    auto const form =
        choose(role, {"constant", "none", "constant", "an input", "one plus an input", "one plus a constant"});
    constant_row = form == "constant";
    if (form == "none") return {};
    std::vector<extents> shapes;
    for (std::size_t ones = 0; ones + norm_shape.size() <= norm_rank; ++ones) {
      shapes.emplace_back(ones, 1);
      shapes.back().insert(shapes.back().end(), norm_shape.begin(), norm_shape.end());
    }
    if (!flattened) shapes.insert(shapes.end(), {{}, {1}, extents(norm_rank, 1)});
    std::vector<int> indices;
    for (std::size_t i = 0; i < shapes.size(); ++i) indices.push_back(static_cast<int>(i));
    auto const& of = shapes[static_cast<std::size_t>(choose.number(role + " shape", indices))];
    if (flattened && choose.one_in(role + " flattened", 2))
      return w.op(opcode::flatten, {numbers(role, form, t, normal)}, {{"axis", 0}});
    if (form != "constant" && count_of(of) == 1) spreads = true;
    auto const made = numbers(role, form, t, of);
    if (count_of(of) == 1) single.push_back(made);
    return made;
  }

  value numbers(std::string const& role, std::string_view form, element_type t, extents const& of) {
    auto values = choose.numbers(role + " numbers", count_of(of));
    auto const narrow = fuse::size_of(types.x) < fuse::size_of(t)   ? types.x
                        : fuse::size_of(types.y) < fuse::size_of(t) ? types.y
                                                                    : t;
    if (narrow != t) {  // fused in the narrow type, the row must be exact there, or Casts stay
      if (form != "constant" || choose.one_in("inexact weights", 2)) {
        casts += 3;
      } else {
        auto const rounded = fuse::make_tensor(narrow, of, values);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = rounded.number(i);
      }
    }
    rounds = rounds || form == "one plus a constant";
    if (form == "one plus a constant") return one_plus(t, w.plain_constant(t, of, values));
    if (form == "constant") {
      if (narrow == t && t == element_type::float32 && choose.one_in("half weights", 4))
        return w.cast(w.plain_constant(element_type::float16, of, values), t);
      return w.constant(t, of, values);
    }
    auto const in = w.input(fresh(role + "_in"), t, of);
    if (form == "an input") return in;
    return one_plus(t, in);
  }
  value one_plus(element_type t, value v) {
    return w.add(w.constant(t, choose.one_in("one's shape", 2) ? extents{} : extents{1}, {1}), v);
  }

  extents one_element(std::string_view dimension, value beside = {}) {
    auto const drawn = choose.number(dimension, {0, 1, 2});
    if (is_flat(beside)) return {};  // it must not get axes
    switch (drawn) {
      case 0: return {};
      case 1: return {1};
      default: return extents(std::min<std::size_t>(2, norm_rank), 1);
    }
  }

  // The norm.

  // The mean over the axes of the norm, or that of the squares.
  value mean_of(value v, bool squares = false) {
    std::vector<std::string_view> forms{"kept", "kept", "kept", "unsqueezed", "summed"};
    if (!w.second && type == element_type::float32 && norm_rank > 2 && norm_rank - norm_shape.size() == 2)
      forms.emplace_back("pooled");
    auto const form = choose("mean", forms);
    if (form == "pooled" && !squares) {
      ++w.written[w.as][opcode::mean];
      return w.g.add("GlobalAveragePool", {v});
    }
    std::vector<std::int64_t> positive = norm_axes;
    for (auto& axis : positive) axis += static_cast<std::int64_t>(norm_rank);
    auto axes = choose("sign of axes", {"negative", "positive"}) == "negative" ? norm_axes : positive;
    if (choose.one_in("axes reversed", 2)) std::reverse(axes.begin(), axes.end());
    std::vector<std::string_view> ways(4, "written");
    if (norm_rank == norm_shape.size()) ways.emplace_back("absent");
    if (!w.second && w.g.version() >= 18) ways.insert(ways.end(), {"computed", "cast"});
    auto const way = choose("axes", ways);
    std::optional<value> computed;
    if (way == "computed") computed = range_of_axes();
    if (way == "cast") {
      std::vector<double> const wide(axes.begin(), axes.end());
      computed = w.cast(w.plain_constant(element_type::int32, {static_cast<std::int64_t>(axes.size())}, wide),
                        element_type::int64);
    }
    bool const summed = squares || (form == "summed" && type_of_sum());
    bool const kept = form != "unsqueezed" && !(summed && choose.one_in("sum unsqueezed", 3));
    bool const later = !kept && choose.one_in("unsqueezed behind the root", 2);
    auto const asked = way == "absent" ? std::nullopt : std::optional(axes);
    auto const op = squares ? opcode::sum_square : summed ? opcode::sum : opcode::mean;
    auto result = w.reduce(op, v, asked, kept, computed);
    bool const divided_late = summed && !kept && !later && choose.one_in("sum unsqueezed first", 2);
    bool const scalar = !kept && norm_rank == norm_shape.size();  // a count with an axis would give it one
    if (summed && !divided_late) result = divided(result, scalar);
    if (kept) return result;
    flat.push_back(result);
    if (later) return result;
    result = restored(result);
    return divided_late ? divided(result, false) : result;
  }
  value mean_of_squares(value a, value b) {
    if (!w.second && type_of_sum() && choose.one_in("squares summed", 4)) return mean_of(a, true);
    return mean_of(square(a, b));
  }
  // What has lost the axes of the norm, with extents of 1 in their place.
  value restored(value v) {
    if (!is_flat(v)) return v;
    auto positive = norm_axes;
    for (auto& axis : positive) axis += static_cast<std::int64_t>(norm_rank);
    bool const negative = (w.second || w.g.version() >= 11) && choose.one_in("negative unsqueezed axes", 2);
    return w.unsqueeze(v, negative ? norm_axes : positive);
  }
  [[nodiscard]] bool is_flat(value v) const { return std::find(flat.begin(), flat.end(), v) != flat.end(); }
  [[nodiscard]] bool is_number(value v) const { return std::find(single.begin(), single.end(), v) != single.end(); }
  value as_flat_as(value from, value made) {
    if (is_flat(from)) flat.push_back(made);
    return made;
  }
  // A sum over the axes of the norm, divided by the number of its elements.
  value divided(value sum, bool scalar) {
    auto const count = static_cast<double>(count_of(norm_shape));
    auto const of = !scalar && choose.one_in("count of one axis", 2) ? extents{1} : extents{};
    if (choose("sum scaled by", {"division", "reciprocal"}) == "division")
      return w.op(opcode::div, {sum, w.constant(type, of, {count})});
    return w.mul(sum, w.constant(type, of, {1 / count}));
  }
  // Half types round the reciprocal of a count further than fuse takes for one.
  [[nodiscard]] bool type_of_sum() const { return fuse::size_of(type) >= 4; }

  // Range(size - count, size, 1), as ONNX's own function bodies write it.
  value range_of_axes() {
    auto size = w.op(opcode::size, {w.op(opcode::shape, {norm_input})});
    auto const of = choose.one_in("Range of vectors", 2) ? extents{1} : extents{};
    auto const one = w.plain_constant(element_type::int64, of, {1});
    auto const count = w.plain_constant(element_type::int64, of, {-static_cast<double>(norm_shape.size())}, true);
    if (!of.empty()) size = w.op(opcode::reshape, {size, w.integers({1})});
    return w.op(opcode::range, {w.op(opcode::add, {size, count}), size, one});
  }

  // A constant with one element, of a type that Pow takes as its exponent.
  value exponent(double number, std::string_view dimension, value beside = {}) {
    std::vector<int> options{static_cast<int>(type)};
    if ((w.second || w.g.version() >= 12) && fuse::size_of(type) > 2) {
      options.insert(options.end(), {static_cast<int>(element_type::float32), static_cast<int>(element_type::float64)});
      if (number == std::floor(number))
        options.insert(options.end(), {static_cast<int>(element_type::int64), static_cast<int>(element_type::int32)});
    }
    auto const t = static_cast<element_type>(choose.number(std::string(dimension) + " type", options));
    auto const of = one_element(dimension, beside);
    spread_square = number == 2 && !is_flat(beside) && choose.one_in("exponents, one each", 8);
    if (spread_square) return w.constant(t, norm_shape, std::vector<double>(count_of(norm_shape), number));
    return w.constant(t, of, {number});
  }

  value square(value a, value b) {
    std::vector<std::string_view> forms{"Pow", "Mul"};
    if (w.second) forms.emplace_back("squared");
    auto const form = choose("square", forms);
    spread_square = false;
    if (form == "Mul") return w.op(opcode::mul, {a, b});
    return form == "Pow" ? w.op(opcode::pow, {a, exponent(2, "exponent", a)}) : w.op(opcode::square, {a});
  }

  value reads_x() {
    if (types.x == type) return norm_input;
    if (!cast_x || choose("casts of x", {"one", "several"}) == "several") cast_x = w.cast(norm_input, type);
    return cast_x;
  }

  // Values that may be computed once, or again at every use.
  template <class F>
  auto shared(std::string const& name, std::optional<decltype(std::declval<F>()())>& slot, F compute) {
    if (!slot || choose(name + " computed", {"once", "once", "again"}) == "again") {
      auto const made = compute();
      slot = made;
    }
    return *slot;
  }
  value average() {
    return shared("mean", shared_mean, [this] { return mean_of(reads_x()); });
  }
  value centred() {
    return shared("centred", shared_centred, [this] { return centred_in_half ? half_centred() : subtraction(); });
  }
  value half_centred() {  // mean and subtraction in half, the rest in float
    auto const outer_mean = std::exchange(shared_mean, std::nullopt);
    auto const outer_x = std::exchange(cast_x, value{});
    type = element_type::float16;
    auto const d = subtraction();
    type = element_type::float32;
    shared_mean = outer_mean;
    cast_x = outer_x;
    return w.cast(d, type);
  }
  value subtraction() {
    auto const form = choose("subtraction", {"x - mean", "x + -mean", "-(mean - x)"});
    auto const m = restored(average());
    if (form == "x - mean") return w.op(opcode::sub, {reads_x(), m});
    if (form == "x + -mean") return w.add(reads_x(), w.op(opcode::neg, {m}));
    return w.op(opcode::neg, {w.op(opcode::sub, {m, reads_x()})});
  }

  value safe_variance() {
    return shared("variance", shared_variance, [this] {
      value v;
      spread_variance = false;
      if (!layer) {
        auto const a = reads_x(), b = reads_x();
        v = mean_of_squares(a, b);
      } else if (one_pass) {
        auto m = average(), squares = mean_of_squares(reads_x(), reads_x());
        if (is_flat(m) != is_flat(squares)) m = restored(m), squares = restored(squares);
        auto const less = square(m, m);
        spread_variance = spread_square;
        v = choose.one_in("difference negated", 2) ? w.add(squares, w.op(opcode::neg, {less}))
                                                   : w.op(opcode::sub, {squares, less});
        as_flat_as(squares, v);
        if (choose.one_in("clipped at 0", 4)) v = as_flat_as(v, w.op(opcode::relu, {v}));
      } else if (centred_in_half || choose("squares of", {"x - mean", "mean - x"}) == "x - mean") {
        auto const a = centred(), b = centred();
        v = mean_of_squares(a, b);
      } else {
        auto const reverse = w.op(opcode::sub, {restored(average()), reads_x()});
        v = mean_of_squares(reverse, reverse);
      }
      last_variance = v;
      if (epsilon == 0 && choose.one_in("epsilon 0 left out", 2)) return v;
      if (choose.one_in("unsqueezed before epsilon", 2)) v = restored(v);
      auto const e = w.constant(type, one_element("epsilon shape", v), {epsilon}, &epsilon, !epsilon_written);
      epsilon_written = true;  // written again, it must be the very number
      return as_flat_as(v, w.add(v, e));
    });
  }

  struct root_value {
    bool divides = false;
    value v{};
  };
  root_value root() {
    return shared("root", shared_root, [this]() -> root_value {
      auto const v = safe_variance();
      auto made = root_of(v);
      root_lost_axes = is_flat(v);
      made.v = restored(as_flat_as(v, made.v));
      return made;
    });
  }
  root_value root_of(value v) {
    std::vector<std::string_view> forms{"/ sqrt",     "* recip sqrt", "* 1 / sqrt", "* sqrt recip",
                                        "* sqrt 1 /", "* pow -0.5",   "/ pow 0.5",  "* recip pow 0.5"};
    if (w.second) forms.insert(forms.end(), {"* rsqrt", "/ recip rsqrt"});
    auto const form = choose("root", forms);
    auto const one = [&] { return w.constant(type, one_element("one", v), {1}); };
    if (form == "/ sqrt") return {true, w.op(opcode::sqrt, {v})};
    if (form == "* recip sqrt") return {false, w.op(opcode::reciprocal, {w.op(opcode::sqrt, {v})})};
    if (form == "* 1 / sqrt") return {false, w.op(opcode::div, {one(), w.op(opcode::sqrt, {v})})};
    if (form == "* sqrt recip") return {false, w.op(opcode::sqrt, {w.op(opcode::reciprocal, {v})})};
    if (form == "* sqrt 1 /") return {false, w.op(opcode::sqrt, {w.op(opcode::div, {one(), v})})};
    if (form == "* pow -0.5") return {false, w.op(opcode::pow, {v, exponent(-0.5, "root exponent", v)})};
    if (form == "/ pow 0.5") return {true, w.op(opcode::pow, {v, exponent(0.5, "root exponent", v)})};
    if (form == "* recip pow 0.5")
      return {false, w.op(opcode::reciprocal, {w.op(opcode::pow, {v, exponent(0.5, "root exponent", v)})})};
    if (form == "* rsqrt") return {false, w.op(opcode::rsqrt, {v})};
    return {true, w.op(opcode::reciprocal, {w.op(opcode::rsqrt, {v})})};
  }
  value times_root(value v) {
    auto const r = root();
    return r.divides ? w.op(opcode::div, {v, r.v}) : w.mul(v, r.v);
  }
  value whole() { return layer ? centred() : reads_x(); }

  struct part {
    value v;
    bool inverse;  ///< a divisor, or subtracted
  };
  part take(std::vector<part>& from) {
    std::vector<int> places;
    for (std::size_t i = 0; i < from.size(); ++i) places.push_back(static_cast<int>(i));
    auto const at = from.begin() + choose.number("next part", places);
    auto const taken = *at;
    from.erase(at);
    return taken;
  }
  // A product or sum in any bracketing.
  value any_bracketing(std::vector<part> parts, bool product) {
    while (parts.size() > 1) {
      auto a = take(parts), b = take(parts);
      if (product && !is_number(a.v) && !is_number(b.v) && choose.one_in("both negated", 10))
        for (auto* each : {&a, &b}) each->v = w.op(opcode::neg, {each->v});
      if (!product && a.inverse != b.inverse && choose.one_in("difference negated", 3)) {
        auto& negative = a.inverse ? a : b;
        negative = {w.op(opcode::neg, {negative.v}), false};
      }
      if (a.inverse && !b.inverse) std::swap(a, b);
      auto const op = product                  ? (a.inverse == b.inverse ? opcode::mul : opcode::div)
                      : a.inverse == b.inverse ? opcode::add
                                               : opcode::sub;
      parts.push_back(
          {a.inverse == b.inverse ? w.commuted(op, a.v, b.v) : w.op(op, {a.v, b.v}), a.inverse && b.inverse});
    }
    if (!parts[0].inverse) return parts[0].v;
    return w.op(product ? opcode::reciprocal : opcode::neg, {parts[0].v});
  }
  // Takes the scales that come first, and perhaps what is added, into the norm.
  value tree(std::vector<row_step>& steps) {
    auto const scales_end = [&] {
      auto at = steps.begin();
      while (at != steps.end() && (at->op == opcode::mul || at->op == opcode::div)) ++at;
      return at;
    };
    auto const r = root();
    bool const distributes = layer && choose.one_in("distributed", 2);
    std::vector<part> inner{{r.v, r.divides}}, outer;
    if (!distributes) {
      inner.push_back({whole(), false});
      for (auto at = steps.begin(); at != scales_end(); ++at) inner.push_back({at->row, at->op == opcode::div});
      steps.erase(steps.begin(), scales_end());
      return any_bracketing(inner, true);
    }
    auto const inside = choose("distributed parts", {"all", "the root", "the scales"});
    if (inside != "the root" && scales_end() != steps.begin()) {
      auto const scales = choose.one_in("the first scale alone", 3) ? steps.begin() + 1 : scales_end();
      for (auto at = steps.begin(); at != scales; ++at) inner.push_back({at->row, at->op == opcode::div});
      steps.erase(steps.begin(), scales);
      if (inside == "the scales") {
        outer.push_back(inner.front());
        inner.erase(inner.begin());
      }
    }
    auto const times = [&](value v) {
      auto factors = inner;
      factors.push_back({v, false});
      return any_bracketing(factors, true);
    };
    if (inner.size() > 1 && choose.one_in("factor shared", 2)) inner = {{any_bracketing(inner, true), false}};
    auto const scaled = times(reads_x()), shift = times(restored(average()));
    std::vector<part> terms{{scaled, false}, {shift, true}};
    while (outer.empty() && !late && !steps.empty() &&
           (steps.front().op == opcode::add || steps.front().op == opcode::sub)) {
      terms.push_back({steps.front().row, steps.front().op == opcode::sub});
      steps.erase(steps.begin());
    }
    outer.push_back({any_bracketing(terms, false), false});
    return any_bracketing(outer, true);
  }

  value apply(std::vector<row_step> steps) {
    std::vector<std::string_view> forms(3, "plain");
    forms.insert(forms.end(), 3, "tree");
    if (!steps.empty() && steps.front().op == opcode::mul && !late) {
      forms.emplace_back("scale before the root");
      forms.emplace_back("root times scale");
    }
    if (layer) forms.emplace_back("reversed");
    auto const form = choose("bracketing", forms);
    if (steps.size() > 1 && steps[0].op == opcode::mul && steps[1].op == opcode::mul &&
        choose("two scales", {"one by one", "multiplied first"}) == "multiplied first") {
      steps[1].row = w.mul(steps[0].row, steps[1].row);
      steps.erase(steps.begin());
    }
    auto take_scale = [&] {
      auto const first = steps.front().row;
      steps.erase(steps.begin());
      return first;
    };
    value y;
    if (form == "scale before the root") {
      y = times_root(w.mul(whole(), take_scale()));
    } else if (form == "root times scale") {
      auto const factor = times_root(take_scale());
      y = w.mul(whole(), factor);
    } else if (form == "reversed") {
      y = w.op(opcode::neg, {times_root(w.op(opcode::sub, {restored(average()), reads_x()}))});
    } else if (form == "tree") {
      std::vector<row_step> none;
      y = tree(late ? none : steps);
    } else {
      y = shared("normalised", shared_normal, [this] { return times_root(whole()); });
    }
    if (late) y = w.cast(y, types.y);
    for (auto const& s : steps)
      y = s.op == opcode::mul || s.op == opcode::add ? w.commuted(s.op, y, s.row) : w.op(s.op, {y, s.row});
    return y;
  }

  void write() {
    auto const outer = producer();
    w.as = owner::prepared;
    norm_input = flattened ? w.op(opcode::flatten, {outer}, {{"axis", static_cast<int>(rank - normal.size())}}) : outer;
    auto const count = choose.number("norms", {1, 1, 1, 1, 2});
    auto const row_type = late ? types.y : types.inside;
    bool const wide_rows = fuse::size_of(row_type) > std::min(fuse::size_of(types.x), fuse::size_of(types.y));
    std::vector<value> results;
    auto const another = [&](std::string_view name) {
      if (wide_rows) casts += 3;
      return w.plain_constant(row_type, norm_shape, choose.numbers(name, count_of(norm_shape)));
    };
    for (int k = 0; k < count; ++k) {
      w.as = owner::prepared;
      if (k == 1 && choose.one_in("the other kind", 2)) {  // of norm, over the same x
        layer = !layer && !centred_in_half;
        one_pass = false;
        shared_centred = shared_normal = shared_variance = std::nullopt;
        shared_root = std::nullopt;
      }
      std::vector<row_step> steps;
      auto add_step = [&](std::string const& role, opcode usual, opcode other) {
        auto const v = row(role, row_type);
        if (!v) return;
        bool const turned = (constant_row || other == opcode::sub) && choose.one_in(role + " turned round", 4);
        steps.push_back({turned ? other : usual, v});
        if (turned && other == opcode::div) {  // the inverse of an exact row need not be exact
          rounds = true;
          if (wide_rows) casts += 3;
        }
        if (turned && !constant_row) ++w.written[owner::prepared][opcode::neg];
      };
      add_step("scale", opcode::mul, opcode::div);
      if (k == 0 && count == 2 && steps.empty()) steps.push_back({opcode::mul, another("first scale")});
      if (!steps.empty() && choose.number("scales", {1, 1, 1, 2}) == 2) add_step("scale", opcode::mul, opcode::div);
      if (layer) add_step("bias", opcode::add, opcode::sub);
      if (layer && choose.one_in("a second bias", 5)) add_step("bias", opcode::add, opcode::sub);
      if (steps.size() > 1) {  // what is made of two exact rows need not be exact, either
        rounds = true;
        if (wide_rows) casts += 3;
      }
      if (k == 1 && steps.empty())
        steps.push_back({opcode::mul, another("second scale")});  // else it is inside the first one
      w.as = owner::norm;
      auto y = apply(steps);
      if (std::any_of(formulas.begin(), formulas.end(), [&](auto const& f) { return f.y == y; }))
        y = w.op(opcode::identity, {y});
      if (!late && types.inside != types.y) y = w.cast(y, types.y);
      formulas.push_back({layer, norm_input, steps, epsilon, y});
      w.as = owner::prepared;  // a Reshape around the norm may stay, with what it reads
      results.push_back(flattened ? w.op(opcode::reshape, {y, w.op(opcode::shape, {outer})}) : y);
    }
    for (auto& f : formulas) f.epsilon = epsilon;
    live();
    w.as = owner::context;
    for (auto const y : results) consumer(y, outer);
    remove_unread();
  }

  // What a form wrote and then left unread (the other operand of a square) is no part of the norm.
  void remove_unread() {
    std::vector<fuse::graph::node> all;
    for (auto const n : w.g.nodes()) all.push_back(n);
    for (auto n = all.rbegin(); n != all.rend(); ++n)
      if (w.g.use_count(w.g.result(*n)) == 0) w.g.erase(*n);
  }

  // Interior values that something outside reads.
  void live() {
    std::vector<std::string_view> forms(8, "none");
    forms.insert(forms.end(), {"mean", "inverse", "mean and inverse", "variance", "centred"});
    auto const form = choose("live", forms);
    if (form == "none" || centred_in_half) return;
    std::vector<value> values;
    if (form.starts_with("mean") && shared_mean) values.push_back(*shared_mean);
    if (form.ends_with("inverse") && shared_root && !shared_root->divides) values.push_back(shared_root->v);
    if (form == "variance") values.push_back(last_variance);
    if (form == "centred" && shared_centred) values.push_back(*shared_centred);
    if (values.empty()) return;
    // The operator's inverse deviation has an extent of 1 on the axes of the norm: one of another shape stays beside
    // it.
    bool const lost = ((root_lost_axes || spread_variance) && form.ends_with("inverse")) ||
                      std::any_of(values.begin(), values.end(), [&](value v) { return is_flat(v); });
    strict = !lost && form != "variance" && form != "centred" && types.name == "float" && layer && !flattened;
    w.as = owner::context;
    for (auto v : values) {
      if (choose.one_in("live value is read", 2)) v = w.op(opcode::neg, {v});
      w.g.output(v, fresh("live"));
    }
  }

  bool constant_row = false;     // the last row that was written
  bool spread_square = false;    // the last exponent was one for each element of a row
  bool spread_variance = false;  // such an exponent gave the square of a mean, and the variance, the shape of rows
  bool layer = false, late = false, centred_in_half = false, one_pass = false, epsilon_written = false,
       root_lost_axes = false;
  type_scheme types{};
  element_type type{};
  std::size_t rank = 0, norm_rank = 0;
  fuse::graph::dims dims{};
  extents run{}, normal{}, norm_shape{};
  double epsilon = 0;
  value norm_input{}, cast_x{}, last_variance{};
  std::optional<value> shared_mean{}, shared_centred{}, shared_variance{}, shared_normal{};
  std::optional<root_value> shared_root{};
  std::vector<value> single{};  ///< rows of one element: of one part with their sign, however they are computed
  std::vector<value> flat{};    ///< what has lost the axes of the norm
  std::map<std::string, int> names{};
};

}  // namespace corpus
