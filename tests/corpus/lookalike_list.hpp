// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "lookalike.hpp"

namespace corpus {

/// Collects look-alikes; each breaks one condition of an otherwise plain norm.
class lookalike_list {
 public:
  std::vector<lookalike> all{};

  lookalike_list() {
    squares();
    centrings();
    variances();
    epsilons();
    roots();
    rows();
    casts();
    readers();
  }

 private:
  using k = plain_norm;
  using norm = lookalike::norm;

  lookalike& add(std::string name, std::function<void(k&)> change) {
    all.push_back({std::move(name), std::move(change)});
    return all.back();
  }

  void squares() {
    auto square = [this](std::string name, std::function<value(k&, value)> f) -> lookalike& {
      auto& made = add(std::move(name), [f](k& n) { n.square = [&n, f](value d) { return f(n, d); }; });
      made.rms_may_stay = false;
      return made;
    };
    for (double const e : {3.0, 2.0001, 1.0, -2.0})
      square("exponent " + std::to_string(e), [e](k& n, value d) {
        return n.w.op(opcode::pow, {n.w.op(opcode::abs, {d}), n.c(e)});
      });
    square("exponent 3 of d", [](k& n, value d) { return n.w.op(opcode::pow, {d, n.c(3)}); });
    square("exponent is an input", [](k& n, value d) { return n.w.op(opcode::pow, {d, n.input("e", {}, {4})}); });
    square("exponent can be overridden", [](k& n, value d) {
      return n.w.op(opcode::pow, {d, n.overridable("e", {2}, {4})});
    });
    square("exponent per element", [](k& n, value d) {
      return n.w.op(opcode::pow, {d, n.c({2, 2, 2, 2, 2, 2, 4}, {7})});
    });
    square("exponent of higher rank", [](k& n, value d) { return n.w.op(opcode::pow, {d, n.c({2}, {1, 1, 1, 1})}); });
    square("absolute value for square", [](k& n, value d) { return n.w.op(opcode::abs, {d}); });
    square("product with another value", [](k& n, value d) {
      return n.w.op(opcode::mul, {d, n.input("other", n.shape)});
    });
    square("square of something else", [](k& n, value) {
      return n.w.op(opcode::pow, {n.input("other", n.shape), n.c(2)});
    });
    square("no square", [](k& n, value d) { return n.w.op(opcode::relu, {d}); });
  }

  void centrings() {
    auto centred = [this](std::string name, std::function<value(k&, value)> f) {
      auto& made = add(std::move(name), [f](k& n) { n.centred = [&n, f](value m) { return f(n, m); }; });
      made.of = norm::layer;
      made.rms_may_stay = true;
    };
    auto mean = [this](std::string name, extents shape, std::function<value(k&)> f) -> lookalike& {
      auto& made = add(std::move(name), [f](k& n) { n.mean = [&n, f] { return f(n); }; });
      made.of = norm::layer;
      made.rms_may_stay = true;
      made.shape = std::move(shape);
      return made;
    };
    centred("mean - x", [](k& n, value m) { return n.w.op(opcode::sub, {m, n.x}); });
    centred("-(x - mean)", [](k& n, value m) { return n.w.op(opcode::neg, {n.w.op(opcode::sub, {n.x, m})}); });
    centred("x + mean", [](k& n, value m) { return n.w.op(opcode::add, {m, n.x}); });
    centred("something else less the mean", [](k& n, value m) {
      return n.w.op(opcode::sub, {n.input("other", n.shape), m});
    });
    mean("mean of something else", {4, 3, 7}, [](k& n) { return n.average(n.input("other", n.shape)); });
    mean("mean over another axis", {4, 3, 7}, [](k& n) { return n.average(n.x, {-2}); });
    mean("mean over more axes", {4, 3, 7}, [](k& n) { return n.average(n.x, {-2, -1}); });
    mean("mean over all axes", {4, 3, 7}, [](k& n) { return n.w.reduce(opcode::mean, n.x, std::nullopt, true); });
    mean("sum for mean", {4, 3, 7}, [](k& n) { return n.w.reduce(opcode::sum, n.x, n.axes, true); });
    auto const sum = [](k& n, value v, std::vector<std::int64_t> const& axes) {
      return n.w.reduce(opcode::sum, v, axes, true);
    };
    mean("sum over another count", {4, 3, 7}, [sum](k& n) {
      return n.w.op(opcode::div, {sum(n, n.x, n.axes), n.c(6)});
    });
    mean("sum times the count", {4, 3, 7}, [sum](k& n) { return n.w.op(opcode::mul, {sum(n, n.x, n.axes), n.c(7)}); });
    mean("sum times about the reciprocal", {4, 3, 7}, [sum](k& n) {
      return n.w.op(opcode::mul, {sum(n, n.x, n.axes), n.c(0.1429)});
    });
    mean("count over sum", {4, 3, 7}, [sum](k& n) { return n.w.op(opcode::div, {n.c(7), sum(n, n.x, n.axes)}); });
    mean("sum over a count that the caller gives", {4, 3, 7}, [sum](k& n) {
      return n.w.op(opcode::div, {sum(n, n.x, n.axes), n.overridable("count", {7}, {5})});
    });
    mean("sum over another axis and its count", {4, 7, 7}, [sum](k& n) {
      return n.w.op(opcode::div, {sum(n, n.x, {-2}), n.c(7)});
    });
    mean("mean over the count", {4, 3, 7}, [](k& n) { return n.w.op(opcode::div, {n.average(n.x), n.c(7)}); });
    mean("sum over the count twice", {4, 3, 7}, [sum](k& n) {
      auto const once = n.w.op(opcode::div, {sum(n, n.x, n.axes), n.c(7)});
      return n.w.op(opcode::div, {once, n.c(7)});
    });
    mean("mean without its dimension, square shape", {5, 5}, [](k& n) { return n.average(n.x, {-1}, false); });
    mean("mean without its dimension, cube", {5, 5, 5}, [](k& n) { return n.average(n.x, {-1}, false); });
    mean("dimension put back elsewhere", {5, 5}, [](k& n) { return n.w.unsqueeze(n.average(n.x, {-1}, false), {0}); });
    mean("half of the mean", {4, 3, 7}, [](k& n) { return n.w.op(opcode::mul, {n.average(n.x), n.c(0.5)}); });
    mean("maximum for mean", {4, 3, 7}, [](k& n) {
      return n.w.reduce(opcode::reduce_max, n.x, n.axes, true);
    }).onnx_only = true;
    mean("pool over two axes", {2, 3, 4, 7}, [](k& n) { return n.w.g.add("GlobalAveragePool", {n.x}); }).onnx_only =
        true;
  }

  void variances() {
    auto variance = [this](std::string name, extents shape, std::function<value(k&, value)> f) -> lookalike& {
      auto& made = add(std::move(name), [f](k& n) { n.variance = [&n, f](value s) { return f(n, s); }; });
      made.shape = std::move(shape);
      return made;
    };
    variance("variance over another axis", {4, 3, 7}, [](k& n, value s) { return n.average(s, {-2}); });
    variance("variance without its dimension, square shape", {5, 5},
             [](k& n, value s) { return n.average(s, {-1}, false); });
    variance("variance without its dimension, cube", {5, 5, 5},
             [](k& n, value s) { return n.average(s, {-1}, false); });
    variance("variance with its dimension elsewhere", {5, 5},
             [](k& n, value s) { return n.w.unsqueeze(n.average(s, {-1}, false), {0}); });
    variance("sum of squares", {4, 3, 7}, [](k& n, value s) { return n.w.reduce(opcode::sum, s, n.axes, true); });
    variance("unbiased variance as a sum", {4, 3, 7}, [](k& n, value s) {
      return n.w.op(opcode::div, {n.w.reduce(opcode::sum, s, n.axes, true), n.c(6)});
    });
    variance("unbiased variance", {4, 3, 7}, [](k& n, value s) {
      return n.w.op(opcode::mul, {n.average(s), n.c(7.0 / 6)});
    });
    variance("one-pass variance of another value", {4, 3, 7}, [](k& n, value) {
      auto const m = n.average(n.input("other", n.shape));
      auto const squares = n.average(n.w.op(opcode::mul, {n.x, n.x}));
      return n.w.op(opcode::abs, {n.w.op(opcode::sub, {squares, n.w.op(opcode::mul, {m, m})})});
    }).of = norm::layer;
    variance("square of mean less mean of squares", {4, 3, 7}, [](k& n, value) {
      auto const m = n.average(n.x);
      auto const squares = n.average(n.w.op(opcode::mul, {n.x, n.x}));
      auto const negative = n.w.op(opcode::sub, {n.w.op(opcode::mul, {m, m}), squares});
      return n.w.op(opcode::add, {negative, n.c(40)});
    }).of = norm::layer;
    auto over = [this](std::string name, extents shape, std::vector<std::int64_t> axes) {
      add(std::move(name), [axes](k& n) { n.axes = axes; }).shape = std::move(shape);
    };
    over("axis 1 of 3", {4, 7, 7}, {1});
    over("axis 0 of 2, square shape", {5, 5}, {0});
    over("axes 0 and 2", {5, 5, 5}, {0, 2});
    over("axes 1 and 2 of 4", {2, 3, 7, 7}, {1, 2});
    auto& idle = add("axes that do nothing", [](k& n) {
      n.mean = [&n] { return n.w.op(opcode::mean, {n.x}, {{"noop_with_empty_axes", 1}}); };
      n.variance = [&n](value s) { return n.w.op(opcode::mean, {s}, {{"noop_with_empty_axes", 1}}); };
    });
    idle.version = 18;
    idle.onnx_only = true;
    auto& given = add("axes can be overridden", [](k& n) {
      auto const axes = n.overridable("axes", {-1}, {1}, element_type::int64);
      n.mean = [&n, axes] { return n.w.op(opcode::mean, {n.x, axes}); };
      n.variance = [&n, axes](value s) { return n.w.op(opcode::mean, {s, axes}); };
    });
    given.version = 18;
    given.onnx_only = true;
  }

  void epsilons() {
    auto epsilon = [this](std::string name, std::function<value(k&, value)> f) -> lookalike& {
      return add(std::move(name), [f](k& n) { n.epsilon = [&n, f](value v) { return f(n, v); }; });
    };
    epsilon("epsilon is an input", [](k& n, value v) { return n.w.op(opcode::add, {v, n.input("eps", {1}, {0.5})}); });
    epsilon("epsilon can be overridden", [](k& n, value v) {
      return n.w.op(opcode::add, {v, n.overridable("eps", {1e-5}, {0.5})});
    });
    epsilon("epsilon per element", [](k& n, value v) {
      return n.w.op(opcode::add, {v, n.c({.1, .2, .3, .4, .5, .6, .7}, {7})});
    });
    epsilon("epsilon per row", [](k& n, value v) { return n.w.op(opcode::add, {v, n.c({.1, .5, .9}, {3, 1})}); });
    epsilon("epsilon of higher rank", [](k& n, value v) { return n.w.op(opcode::add, {v, n.c({0.1}, {1, 1, 1, 1})}); });
    epsilon("epsilon multiplied", [](k& n, value v) { return n.w.op(opcode::mul, {v, n.c(0.1)}); });
    epsilon("variance subtracted from epsilon", [](k& n, value v) {
      return n.w.op(opcode::abs, {n.w.op(opcode::sub, {n.c(0.1), v})});
    });
    epsilon("epsilon as a maximum", [](k& n, value v) {
      return n.w.op(opcode::maximum, {v, n.c(2)});
    }).onnx_only = true;
    auto& below = epsilon("epsilon subtracted", [](k& n, value v) { return n.w.op(opcode::sub, {v, n.c(0.1)}); });
    below.norm_may_stay = true;
    below.needs_reason = false;
  }

  void roots() {
    auto root = [this](std::string name, std::function<value(k&, value)> f) {
      add(std::move(name), [f](k& n) { n.root = [&n, f](value v) { return f(n, v); }; });
    };
    root("epsilon outside the root", [](k& n, value v) {
      return n.w.op(opcode::add, {n.w.op(opcode::sqrt, {v}), n.c(0.3)});
    });
    root("no root", [](k&, value v) { return v; });
    root("root of root", [](k& n, value v) { return n.w.op(opcode::sqrt, {n.w.op(opcode::sqrt, {v})}); });
    root("cube root", [](k& n, value v) { return n.w.op(opcode::pow, {v, n.c(1.0 / 3)}); });
    root("exponent 0.501", [](k& n, value v) { return n.w.op(opcode::pow, {v, n.c(0.501)}); });
    root("divided by the power -0.5", [](k& n, value v) { return n.w.op(opcode::pow, {v, n.c(-0.5)}); });
    root("root exponent is an input", [](k& n, value v) { return n.w.op(opcode::pow, {v, n.input("e", {}, {0.25})}); });
    root("root per element", [](k& n, value v) {
      return n.w.op(opcode::pow, {v, n.c({.5, .5, .5, .5, .5, .5, .25}, {7})});
    });
    auto quotient = [this](std::string name, std::function<value(k&, value, value)> f) -> lookalike& {
      return add(std::move(name), [f](k& n) { n.quotient = [&n, f](value d, value r) { return f(n, d, r); }; });
    };
    quotient("root over d", [](k& n, value d, value r) { return n.w.op(opcode::div, {r, d}); });
    quotient("d times root", [](k& n, value d, value r) { return n.w.op(opcode::mul, {d, r}); });
    auto& inverted = quotient("reciprocal of the quotient", [](k& n, value d, value r) {
      return n.w.op(opcode::reciprocal, {n.w.op(opcode::div, {d, r})});
    });
    inverted.norm_may_stay = true;  // of which the reciprocal is then taken
    inverted.needs_reason = false;
    quotient("d divided by 1 / root", [](k& n, value d, value r) {
      return n.w.op(opcode::div, {d, n.w.op(opcode::reciprocal, {r})});
    });
    quotient("something else divided", [](k& n, value, value r) {
      return n.w.op(opcode::div, {n.input("other", n.shape), r});
    });
    for (double const one : {1.001, 2.0}) {
      auto& made = quotient(std::to_string(one) + " / root", [one](k& n, value d, value r) {
        return n.w.op(opcode::mul, {d, n.w.op(opcode::div, {n.c(one), r})});
      });
      made.norm_may_stay = true;
      made.needs_reason = false;
    }
    auto& given = quotient("1 can be overridden", [](k& n, value d, value r) {
      return n.w.op(opcode::mul, {d, n.w.op(opcode::div, {n.overridable("one", {1}, {3}), r})});
    });
    given.norm_may_stay = true;
    given.needs_reason = false;
  }

  // The norm without the unsuitable row may still be fused.
  void part(std::string name, extents shape, std::function<void(k&)> change, norm of = norm::either) {
    auto& made = add(std::move(name), std::move(change));
    made.shape = std::move(shape);
    made.of = of;
    made.rms_may_stay = made.norm_may_stay = true;
    made.needs_reason = false;
  }
  void scale(std::string name, extents shape, std::function<value(k&, value)> f) {
    part(std::move(name), std::move(shape), [f](k& n) { n.scale = [&n, f](value v) { return f(n, v); }; });
  }
  void bias(std::string name, extents shape, std::function<value(k&, value)> f) {
    part(
        std::move(name), std::move(shape), [f](k& n) { n.bias = [&n, f](value v) { return f(n, v); }; }, norm::layer);
  }

  void rows() {
    for (extents const& of : std::vector<extents>{{3, 7}, {4, 3, 7}, {3, 1}, {4, 1, 1}, {1, 1, 1, 7}, {2, 1, 1, 7}}) {
      std::string name = "of shape";
      for (auto const extent : of) name += ' ' + std::to_string(extent);
      scale("scale " + name, {4, 3, 7}, [of](k& n, value v) { return n.w.op(opcode::mul, {v, n.row(of)}); });
      bias("bias " + name, {4, 3, 7}, [of](k& n, value v) { return n.w.op(opcode::add, {v, n.row(of)}); });
    }
    scale("scale in a column, square shape", {3, 5, 5}, [](k& n, value v) {
      return n.w.op(opcode::mul, {v, n.row({5, 1})});
    });
    bias("bias in a column, square shape", {3, 5, 5}, [](k& n, value v) {
      return n.w.op(opcode::add, {v, n.row({5, 1})});
    });
    scale("scale enlarges a row of one", {4, 3, 1}, [](k& n, value v) { return n.w.op(opcode::mul, {v, n.row({7})}); });
    scale("scale enlarges the batch", {1, 7}, [](k& n, value v) { return n.w.op(opcode::mul, {v, n.row({5, 7})}); });
    bias("bias enlarges the batch", {1, 7}, [](k& n, value v) { return n.w.op(opcode::add, {v, n.row({5, 7})}); });
    bias("scale after bias", {4, 3, 7}, [](k& n, value v) {
      return n.w.op(opcode::mul, {n.w.op(opcode::add, {v, n.row()}), n.row()});
    });
    scale("n / scale", {4, 3, 7}, [](k& n, value v) { return n.w.op(opcode::div, {v, n.row()}); });
    scale("scale / n", {4, 3, 7}, [](k& n, value v) { return n.w.op(opcode::div, {n.row(), v}); });
    bias("bias - n", {4, 3, 7}, [](k& n, value v) { return n.w.op(opcode::sub, {n.row(), v}); });
    bias("n - bias", {4, 3, 7}, [](k& n, value v) { return n.w.op(opcode::sub, {v, n.row()}); });
    scale("one scale twice", {4, 3, 7}, [](k& n, value v) {
      auto const row = n.row();
      return n.w.op(opcode::mul, {n.w.op(opcode::mul, {v, row}), row});
    });
    scale("gate of unknown size", {4, 3, 7}, [](k& n, value v) {
      return n.w.op(opcode::mul, {v, n.symbolic("gate", {7}, {"k"})});
    });
    scale("scale of unknown rank", {1, 7}, [](k& n, value v) {
      n.feeds["s"] = {{5, 7}, n.choose.numbers("s", 35), false};
      return n.w.op(opcode::mul, {v, n.w.g.input("s", element_type::float32)});
    });
    scale("scale can be overridden", {4, 3, 7}, [](k& n, value v) {
      return n.w.op(opcode::mul, {v, n.overridable("w", std::vector<double>(7, 1), std::vector<double>(7, 3))});
    });
    part("scale for one of two axes", {4, 3, 7}, [](k& n) { n.axes = {-2, -1}; });
    part("unknown length, really one", {4, 3, 1}, [](k& n) {
      n.x = n.symbolic("z", {4, 3, 1}, {-1, -1, -1});
      n.scale = [&n](value v) { return n.w.op(opcode::mul, {v, n.row({7})}); };
      n.bias = [](value v) { return v; };
    });
    part("another symbol's length, really one", {4, 3, 1}, [](k& n) {
      n.x = n.symbolic("z", {4, 3, 1}, {"b", "s", "h"});
      n.scale = [&n](value v) { return n.w.op(opcode::mul, {v, n.symbolic("w", {5}, {"k"})}); };
      n.bias = [](value v) { return v; };
    });
    part(
        "scale made of the mean", {4, 7},
        [](k& n) {
          n.axes = {0, 1};
          auto const m = n.average(n.x);
          n.mean = [m] { return m; };
          n.scale = [&n, m](value v) { return n.w.op(opcode::mul, {v, n.w.op(opcode::add, {n.row({4, 7}), m})}); };
        },
        norm::layer);
    part(
        "distributed with a scale that multiplies x and divides the mean", {4, 3, 7},
        [](k& n) {
          n.quotient = [&n](value, value r) {
            auto const factor = n.w.op(opcode::div, {n.row(), r}), second = n.row();
            auto const shift = n.w.op(opcode::div, {n.w.op(opcode::mul, {n.average(n.x), factor}), second});
            return n.w.op(opcode::sub, {n.w.op(opcode::mul, {n.w.op(opcode::mul, {n.x, factor}), second}), shift});
          };
          n.scale = n.bias = [](value v) { return v; };
        },
        norm::layer);
    for (bool const root_alone :
         {true, false})  // TensorFlow's form, once without the scale in the shift, once with its sign wrong
      part(
          root_alone ? "distributed with the root alone" : "distributed with the wrong sign", {4, 3, 7},
          [root_alone](k& n) {
            n.quotient = [&n, root_alone](value, value r) {
              auto const inverse = n.w.op(opcode::reciprocal, {r});
              auto const factor = n.w.op(opcode::mul, {inverse, n.row()});
              auto const shift = n.w.op(opcode::mul, {n.average(n.x), root_alone ? inverse : factor});
              return n.w.op(opcode::add, {n.w.op(opcode::mul, {n.x, factor}),
                                          n.w.op(root_alone ? opcode::sub : opcode::add, {n.row(), shift})});
            };
            n.scale = n.bias = [](value v) { return v; };
          },
          norm::layer);
  }

  // A result through a narrower type is not the same result; the evaluator rounds floating Casts nowhere, so only
  // counts judge.
  void casts() {
    for (auto const& [type, name] :
         {std::pair{element_type::float16, "half"}, std::pair{element_type::int32, "an integer"}}) {
      add(std::string("variance through ") + name, [t = type](k& n) {
        n.epsilon = [&n, t](value v) { return n.w.op(opcode::add, {n.through(v, t), n.c(0.5)}); };
      });
      add(std::string("root through ") + name, [t = type](k& n) {
        n.quotient = [&n, t](value d, value r) { return n.w.op(opcode::div, {d, n.through(r, t)}); };
      });
      add(std::string("square of d through ") + name, [t = type](k& n) {
        n.square = [&n, t](value d) { return n.w.op(opcode::pow, {n.through(d, t), n.c(2)}); };
      });
    }
    auto const first = all.size();
    add("mean through half", [](k& n) { n.mean = [&n] { return n.through(n.average(n.x), element_type::float16); }; });
    add("mean of the half x", [](k& n) { n.mean = [&n] { return n.average(n.through(n.x, element_type::float16)); }; });
    add("d through half", [](k& n) {
      n.centred = [&n](value m) { return n.through(n.w.op(opcode::sub, {n.x, m}), element_type::float16); };
    });
    for (auto at = first; at < all.size(); ++at) {
      all[at].of = norm::layer;
      all[at].rms_may_stay = true;
    }
  }

  // Interior values that others read: fused around or refused, never lost.
  void readers() {
    using hook = std::function<void(k&, value)>;
    std::vector<std::pair<std::string, hook>> const ways{
        {"the caller", [](k& n, value v) { n.w.g.output(v, "interior"); }},
        {"an If body", [](k& n, value v) {
           auto const condition = n.w.g.input("condition", element_type::boolean, fuse::graph::dims{});
           n.feeds["condition"] = {{}, {0}, true};
           auto const branch = n.w.g.append(name_of(opcode::if_else, n.w.second), {condition});
           for (auto const& [name, o] :
                {std::pair{"then_branch", opcode::identity}, std::pair{"else_branch", opcode::neg}}) {
             n.w.g.append_to(n.w.g.add_body(branch, name));
             n.w.g.output(n.w.op(o, {v}), "out");
           }
           n.w.g.append_to(fuse::graph::main_body);
           n.w.g.output(n.w.g.result(branch), "chosen");
         }}};
    for (auto const& [reader, way] : ways) {
      auto add_reader = [this, who = reader, attach = way](std::string const& what,
                                                           std::function<void(k&, hook)> change) {
        part(what + " read by " + who, {4, 3, 7}, [attach, change](k& n) { change(n, attach); });
        all.back().twice = true;
      };
      add_reader("the square", [](k& n, hook h) { n.variance = [&n, h](value s) { return h(n, s), n.average(s); }; });
      add_reader("the variance", [](k& n, hook h) {
        n.epsilon = [&n, h](value v) { return h(n, v), n.w.op(opcode::add, {v, n.c(0.1)}); };
      });
      add_reader("the root", [](k& n, hook h) {
        n.quotient = [&n, h](value d, value r) { return h(n, r), n.w.op(opcode::div, {d, r}); };
      });
      add_reader("d", [](k& n, hook h) {
        n.square = [&n, h](value d) { return h(n, d), n.w.op(opcode::pow, {d, n.c(2)}); };
      });
      add_reader("the norm without scale", [](k& n, hook h) {
        n.scale = [&n, h](value v) { return h(n, v), n.w.op(opcode::mul, {v, n.row()}); };
      });
    }
  }
};

}  // namespace corpus
