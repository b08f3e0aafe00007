// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluate.hpp"
#include "writer.hpp"

namespace corpus {

/// A plain norm under construction, each step of which a look-alike may replace.
class plain_norm {
 public:
  plain_norm(fuse::graph& g, bool in_second, bool is_layer, extents of)
      : layer(is_layer), shape(std::move(of)), choose(7), w(g, in_second, choose) {
    x = input("x", shape);
  }

  bool const layer;
  extents const shape;
  draw choose;
  writer w;
  value x{};
  element_type type = element_type::float32;
  std::vector<std::int64_t> axes{-1};
  std::map<std::string, array> feeds{};

  std::function<value()> mean = [this] { return average(x); };
  std::function<value(value)> centred = [this](value m) { return w.op(opcode::sub, {x, m}); };
  std::function<value(value)> square = [this](value d) { return w.op(opcode::pow, {d, c(2)}); };
  std::function<value(value)> variance = [this](value s) { return average(s); };
  std::function<value(value)> epsilon = [this](value v) { return w.op(opcode::add, {v, c(0.1)}); };
  std::function<value(value)> root = [this](value v) { return w.op(opcode::sqrt, {v}); };
  std::function<value(value, value)> quotient = [this](value d, value r) { return w.op(opcode::div, {d, r}); };
  std::function<value(value)> scale = [this](value n) { return w.op(opcode::mul, {n, row()}); };
  std::function<value(value)> bias = [this](value n) { return layer ? w.op(opcode::add, {n, row()}) : n; };

  void write() {
    auto const d = layer ? centred(mean()) : x;
    auto const r = root(epsilon(variance(square(d))));
    w.g.output(bias(scale(quotient(d, r))), "y");
  }

  // What look-alikes are made of.

  /// An input whose extents the graph does not know as well as the run does.
  value symbolic(std::string const& name, extents const& of, fuse::graph::dims const& dims,
                 std::vector<double> numbers = {}) {
    if (numbers.empty()) numbers = choose.numbers(name, count_of(of), -3, 3, false);
    numbers.resize(count_of(of), numbers[0]);
    feeds[name] = {of, numbers, false};
    return w.input(name, type, dims, of);
  }
  value input(std::string const& name, extents const& of, std::vector<double> numbers = {}) {
    return symbolic(name, of, fuse::graph::dims(of.begin(), of.end()), std::move(numbers));
  }
  /// A constant that the caller may override, and does.
  value overridable(std::string const& name, std::vector<double> const& held, std::vector<double> const& given,
                    element_type t = element_type::float32) {
    extents const of{static_cast<std::int64_t>(held.size())};
    feeds[name] = {of, given, !fuse::is_floating(t)};
    return w.g.input(name, fuse::make_tensor(t, of, held));
  }
  value c(double number) { return c({number}, {}); }
  value c(std::vector<double> const& numbers, extents const& of) { return w.plain_constant(type, of, numbers); }
  value row(extents const& of) { return c(choose.numbers("a row", count_of(of)), of); }
  value row() { return row({shape.back()}); }
  value average(value v, std::vector<std::int64_t> const& over, bool keepdims = true) {
    return w.reduce(opcode::mean, v, over, keepdims);
  }
  value average(value v) { return average(v, axes); }
  value through(value v, element_type t) { return w.cast(w.cast(v, t), type); }
};

/// A graph that looks like a norm and is none, or one of which only a part may be fused.
struct lookalike {
  std::string name;
  std::function<void(plain_norm&)> change;  ///< replaces steps, before `write`
  enum class norm { either, layer, rms } of = norm::either;
  bool rms_may_stay = false;   ///< an RMS norm inside it is right: the break is in the centring, scale or bias
  bool norm_may_stay = false;  ///< so is the norm itself, without the unsuitable part
  bool twice = false;          ///< even two of them: what is read outside may be a norm of its own
  bool needs_reason = true;    ///< the report must name a refusal
  bool onnx_only = false;
  extents shape{4, 3, 7};
  int version = 17;
};

/// Whether the look-alike can be written for this norm in this dialect.
[[nodiscard]] inline bool concerns(lookalike const& look, bool layer, bool second) {
  return !(second && look.onnx_only) &&
         (look.of == lookalike::norm::either || (look.of == lookalike::norm::layer) == layer);
}

}  // namespace corpus
