// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/graph/graph.hpp>

#include "array.hpp"
#include "names.hpp"

namespace corpus {

[[noreturn]] inline void fail(std::string const& why) {
#ifdef __cpp_exceptions
  throw std::runtime_error(why);
#else
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
#endif
}

[[nodiscard]] inline array array_of(fuse::tensor_view t) {
  array a{{t.shape.begin(), t.shape.end()}, {}, !fuse::is_floating(t.type)};
  for (std::size_t i = 0; i < t.size(); ++i) a.data.push_back(t.number(i));
  return a;
}

/// A node's attributes under the names of either dialect.
struct parameters {
  std::map<std::string, fuse::graph::named, std::less<>> all{};

  [[nodiscard]] fuse::graph::named const* find(std::initializer_list<std::string_view> names) const {
    for (auto const name : names)
      if (auto const at = all.find(name); at != all.end()) return &at->second;
    return nullptr;
  }
  [[nodiscard]] double number(std::initializer_list<std::string_view> names, double fallback) const {
    auto const* a = find(names);
    if (a == nullptr) return fallback;
    if (auto const* whole = std::get_if<std::int64_t>(&a->content)) return static_cast<double>(*whole);
    return std::get<double>(a->content);
  }
  [[nodiscard]] std::optional<std::vector<std::int64_t>> list(std::initializer_list<std::string_view> names) const {
    auto const* a = find(names);
    if (a == nullptr) return std::nullopt;
    return std::get<std::vector<std::int64_t>>(a->content);
  }
};

/// Operators of a test's own; none of what it does not know.
using own_operators = std::function<std::optional<array>(
    std::string_view name, std::vector<array const*> const& operands, parameters const& attributes)>;

/// Evaluates graphs in double precision: floating Casts round nothing, constants keep the values that they store.
/// Independent of the library's own tables: it is what they are checked with. Throws std::runtime_error for what it
/// does not know; where there are no exceptions, that ends the program.
class evaluator {
 public:
  evaluator(fuse::graph const& g, std::map<std::string, array> const& inputs, own_operators own = {})
      : graph_(g), own_(std::move(own)) {
    for (auto const v : g.inputs()) {
      if (auto const at = inputs.find(std::string(g.name(v))); at != inputs.end())
        values_[v.id] = at->second;
      else if (g.constant(v))
        values_[v.id] = array_of(g.constant(v));
      else
        fail("no value for the input " + std::string(g.name(v)));
    }
    run(fuse::graph::main_body);
  }

  [[nodiscard]] array const& value(fuse::graph::value v) {
    auto const at = values_.find(v.id);
    if (at != values_.end()) return at->second;
    if (!graph_.constant(v)) fail("a value is read before it is computed");
    return values_[v.id] = array_of(graph_.constant(v));
  }
  [[nodiscard]] std::map<std::string, array> outputs() {
    std::map<std::string, array> all;
    auto const values = graph_.outputs();
    for (std::size_t i = 0; i < values.size(); ++i) all[std::string(graph_.output_name(i))] = value(values[i]);
    return all;
  }

 private:
  void run(fuse::graph::body b) {
    for (auto const n : graph_.nodes(b)) {
      parameters p;
      for (auto const& a : graph_.attributes(n)) p.all.emplace(a.name, a);
      std::vector<array const*> operands;
      for (auto const v : graph_.operands(n)) operands.push_back(v ? &value(v) : nullptr);
      std::vector<array> results;
      if (op_named(graph_.op(n)) == opcode::if_else) {
        auto const taken = graph_.bodies(n)[operands[0]->data[0] != 0 ? 0 : 1];
        run(taken);
        for (auto const v : graph_.outputs(taken)) results.push_back(value(v));
      } else {
        results = apply(graph_.op(n), operands, p);
      }
      std::size_t i = 0;
      for (auto const v : graph_.results(n)) {
        if (i == results.size()) fail("too few results of " + std::string(graph_.op(n)));
        values_[v.id] = std::move(results[i++]);
      }
    }
  }

  std::vector<array> apply(std::string_view name, std::vector<array const*> const& in, parameters const& p) {
    for (auto const& function : graph_.functions())
      if (function.name == name) return call(function, in, p);
    switch (op_named(name)) {
      case opcode::layer_norm: return norm(in, p, true);
      case opcode::rms_norm: return norm(in, p, false);
      default: return {one(name, in, p)};
    }
  }

  array one(std::string_view name, std::vector<array const*> const& in, parameters const& p) {
    auto const unary = [&](double (*f)(double)) { return map(*in.at(0), f); };
    auto const binary = [&](double (*f)(double, double)) { return combine(*in.at(0), *in.at(1), f); };
    switch (op_named(name)) {
      case opcode::add: return binary([](double a, double b) { return a + b; });
      case opcode::sub: return binary([](double a, double b) { return a - b; });
      case opcode::mul: return binary([](double a, double b) { return a * b; });
      case opcode::div:
        if (in.at(0)->integers) return binary([](double a, double b) { return std::trunc(a / b); });
        return binary([](double a, double b) { return a / b; });
      case opcode::pow: return binary([](double a, double b) { return std::pow(a, b); });
      case opcode::maximum: return binary([](double a, double b) { return a < b ? b : a; });
      case opcode::neg: return unary([](double a) { return -a; });
      case opcode::abs: return unary([](double a) { return std::fabs(a); });
      case opcode::reciprocal: return unary([](double a) { return 1 / a; });
      case opcode::sqrt: return unary([](double a) { return std::sqrt(a); });
      case opcode::rsqrt: return unary([](double a) { return 1 / std::sqrt(a); });
      case opcode::square: return unary([](double a) { return a * a; });
      case opcode::relu: return unary([](double a) { return a < 0 ? 0 : a; });
      case opcode::identity: return *in.at(0);
      case opcode::cast:
        return cast(*in.at(0), static_cast<fuse::element_type>(static_cast<int>(p.number({"to", "dtype"}, 0))));
      case opcode::constant: return constant(p);
      case opcode::mean:
        if (name == "GlobalAveragePool") {
          std::vector<std::int64_t> axes;
          for (std::size_t i = 2; i < in.at(0)->rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
          return mean(*in[0], axes, true);
        }
        return reduce(in, p, [](array const& a, auto const& axes, bool keep) { return mean(a, axes, keep); });
      case opcode::sum:
        return reduce(in, p, [](array const& a, auto const& axes, bool keep) { return sum(a, axes, keep); });
      case opcode::sum_square:
        return reduce(in, p, [](array const& a, auto const& axes, bool keep) {
          return sum(map(a, [](double x) { return x * x; }), axes, keep);
        });
      case opcode::reduce_max:
        return reduce(in, p, [](array const& a, auto const& axes, bool keep) {
          return fold(a, axes, keep, -HUGE_VAL, [](double x, double y) { return x < y ? y : x; });
        });
      case opcode::unsqueeze: return unsqueeze(*in.at(0), axes_of(in, p).value());
      case opcode::shape: return row(in.at(0)->shape);
      case opcode::size: return {{}, {static_cast<double>(count_of(in.at(0)->shape))}, true};
      case opcode::range: return range(*in.at(0), *in.at(1), *in.at(2));
      case opcode::reshape: return reshape(*in.at(0), integers(*in.at(1)));
      case opcode::flatten: return flatten(*in.at(0), static_cast<std::int64_t>(p.number({"axis"}, 1)));
      case opcode::expand:
        return combine(*in.at(0), {integers(*in.at(1)), std::vector<double>(count_of(integers(*in.at(1)))), false},
                       [](double a, double) { return a; });
      case opcode::matmul: return matmul(*in.at(0), *in.at(1));
      case opcode::minimum: return binary([](double a, double b) { return b < a ? b : a; });
      case opcode::tanh: return unary([](double a) { return std::tanh(a); });
      case opcode::sigmoid: return unary([](double a) { return 1 / (1 + std::exp(-a)); });
      case opcode::exp: return unary([](double a) { return std::exp(a); });
      case opcode::log: return unary([](double a) { return std::log(a); });
      case opcode::erf: return unary([](double a) { return std::erf(a); });
      case opcode::sum_of: {
        auto all = *in.at(0);
        for (std::size_t i = 1; i < in.size(); ++i)
          all = combine(all, *in[i], [](double a, double b) { return a + b; });
        return all;
      }
      default:
        if (own_)
          if (auto made = own_(name, in, p)) return *made;
        fail("no evaluation of " + std::string(name));
    }
  }

  static array row(std::vector<std::int64_t> const& numbers) {
    return {{static_cast<std::int64_t>(numbers.size())}, {numbers.begin(), numbers.end()}, true};
  }
  static std::vector<std::int64_t> integers(array const& a) {
    std::vector<std::int64_t> all;
    for (double const x : a.data) all.push_back(static_cast<std::int64_t>(x));
    return all;
  }
  static array cast(array const& a, fuse::element_type to) {
    if (fuse::is_floating(to)) {
      auto result = a;
      result.integers = false;
      return result;
    }
    auto result = map(
        a, [&](double x) { return to == fuse::element_type::boolean ? static_cast<double>(x != 0) : std::trunc(x); });
    result.integers = true;
    return result;
  }
  static array constant(parameters const& p) {
    for (auto const& [name, a] : p.all) {
      if (auto const* t = std::get_if<fuse::tensor>(&a.content)) return array_of(*t);
      if (auto const* x = std::get_if<double>(&a.content)) return {{}, {*x}, false};
      if (auto const* x = std::get_if<std::int64_t>(&a.content)) return {{}, {static_cast<double>(*x)}, true};
      if (auto const* x = std::get_if<std::vector<std::int64_t>>(&a.content)) return row(*x);
      if (auto const* x = std::get_if<std::vector<float>>(&a.content))
        return {{static_cast<std::int64_t>(x->size())}, {x->begin(), x->end()}, false};
    }
    fail("a Constant without contents");
  }
  static std::optional<std::vector<std::int64_t>> axes_of(std::vector<array const*> const& in, parameters const& p) {
    if (in.size() > 1 && in[1] != nullptr) return integers(*in[1]);
    return p.list({"axes", "dim"});
  }
  template <class F>
  static array reduce(std::vector<array const*> const& in, parameters const& p, F f) {
    auto const axes = axes_of(in, p).value_or(std::vector<std::int64_t>{});
    if (axes.empty() && p.number({"noop_with_empty_axes"}, 0) != 0) return *in[0];
    return f(*in.at(0), axes, p.number({"keepdims"}, 1) != 0 && p.number({"squeeze"}, 0) == 0);
  }
  static array unsqueeze(array a, std::vector<std::int64_t> const& axes) {
    std::set<std::int64_t> inserted;
    auto const rank = static_cast<std::int64_t>(a.rank() + axes.size());
    for (auto const axis : axes) inserted.insert(axis < 0 ? axis + rank : axis);
    for (auto const axis : inserted) a.shape.insert(a.shape.begin() + axis, 1);
    return a;
  }
  static array range(array const& start, array const& limit, array const& step) {
    array result{{0}, {}, true};
    for (double x = start.data.at(0); step.data.at(0) > 0 ? x < limit.data.at(0) : x > limit.data[0]; x += step.data[0])
      result.data.push_back(x);
    result.shape[0] = static_cast<std::int64_t>(result.data.size());
    return result;
  }
  static array reshape(array a, std::vector<std::int64_t> shape) {
    std::int64_t known = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 0) shape[i] = a.shape[i];
      if (shape[i] > 0) known *= shape[i];
    }
    for (auto& extent : shape)
      if (extent < 0) extent = static_cast<std::int64_t>(a.data.size()) / known;
    a.shape = shape;
    if (count_of(shape) != a.data.size()) fail("Reshape to another size");
    return a;
  }
  static array flatten(array a, std::int64_t axis) {
    if (axis < 0) axis += static_cast<std::int64_t>(a.rank());
    auto const rows = count_of({a.shape.begin(), a.shape.begin() + axis});
    a.shape = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(a.data.size() / rows)};
    return a;
  }
  static array matmul(array const& a, array const& b) {  // b is a matrix
    auto const inner = static_cast<std::size_t>(b.shape.at(0)), columns = static_cast<std::size_t>(b.shape.at(1));
    array result{a.shape, {}, false};
    result.shape.back() = b.shape[1];
    for (std::size_t row = 0; row < a.data.size() / inner; ++row)
      for (std::size_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::size_t k = 0; k < inner; ++k) sum += a.data[row * inner + k] * b.data[k * columns + column];
        result.data.push_back(sum);
      }
    return result;
  }

  // The fused operators: result, mean, inverse deviation.
  static std::vector<array> norm(std::vector<array const*> const& in, parameters const& p, bool centre) {
    auto const& x = *in.at(0);
    auto const first = static_cast<std::int64_t>(p.number({"axis", "from"}, -1));
    std::vector<std::int64_t> axes;
    for (auto axis = first < 0 ? first + static_cast<std::int64_t>(x.rank()) : first;
         axis < static_cast<std::int64_t>(x.rank()); ++axis)
      axes.push_back(axis);
    double const epsilon = static_cast<double>(static_cast<float>(p.number({"epsilon", "eps"}, 1e-5)));
    auto const average = mean(x, axes, true);
    auto const d = centre ? combine(x, average, [](double a, double b) { return a - b; }) : x;
    auto const inverse = map(mean(map(d, [](double a) { return a * a; }), axes, true),
                             [&](double v) { return 1 / std::sqrt(v + epsilon); });
    auto const times = [](double a, double b) { return a * b; };
    auto y = combine(d, inverse, times);
    if (in.size() > 1 && in[1] != nullptr) y = combine(y, *in[1], times);
    if (in.size() > 2 && in[2] != nullptr) y = combine(y, *in[2], [](double a, double b) { return a + b; });
    if (y.shape != x.shape) fail("scale or bias of a norm enlarge its result");
    return centre ? std::vector<array>{y, average, inverse} : std::vector<array>{y, inverse};
  }

  std::vector<array> call(fuse::function_body const& f, std::vector<array const*> const& in, parameters const& given) {
    std::map<std::string, array> names;
    for (std::size_t i = 0; i < f.inputs.size() && i < in.size(); ++i)
      if (in[i] != nullptr) names[f.inputs[i]] = *in[i];
    for (auto const& step : f.steps) {
      parameters p;
      for (auto const& a : step.attributes) p.all.emplace(a.name, a);
      for (auto const& [to, from] : step.references)
        if (auto const at = given.all.find(from); at != given.all.end()) {
          auto copy = at->second;
          copy.name = to;
          p.all.emplace(to, copy);
        }
      std::vector<array const*> operands;
      for (auto const& name : step.operands) operands.push_back(name.empty() ? nullptr : &names.at(name));
      auto results = apply(step.op, operands, p);
      for (std::size_t i = 0; i < step.results.size(); ++i) names[step.results[i]] = results.at(i);
    }
    std::vector<array> results;
    for (auto const& name : f.outputs) results.push_back(names.at(name));
    return results;
  }

  fuse::graph const& graph_;
  own_operators own_;
  std::map<std::uint32_t, array> values_;
};

/// The largest distance between two arrays relative to the largest value of `a`; infinite where shapes differ.
[[nodiscard]] inline double distance(array const& a, array const& b) {
  if (a.shape != b.shape) return HUGE_VAL;
  double range = 0, worst = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i) {
    if (std::isfinite(a.data[i])) range = std::max(range, std::fabs(a.data[i]));
    if (a.data[i] == b.data[i] || (std::isnan(a.data[i]) && std::isnan(b.data[i]))) continue;
    auto const off = std::fabs(a.data[i] - b.data[i]);
    if (!std::isfinite(off)) return HUGE_VAL;
    worst = std::max(worst, off);
  }
  return range == 0 ? worst : worst / range;
}

}  // namespace corpus
