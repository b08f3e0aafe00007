// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../corpus/draw.hpp"
#include "pool.hpp"

namespace soundness {

/// A graph that spells the pattern of a rule: sums and products in any bracketing and with any inverse operators, parts
/// that are shared or computed again, constants in their places, casts, repetitions, identities where the rule looks
/// through them. Some graphs have one operator that the pattern has not.
class spelling {
 public:
  using value = fuse::graph::value;

  corpus::draw choose;
  std::map<std::string, array> feeds{};
  bool plain = true;  ///< the pattern itself, in operators that its rule may find

  spelling(graph& g, member const& of, std::uint64_t seed)
      : choose(seed), g_(g), pattern_(of.rule->pattern), version_(version(seed)) {
    for (std::size_t i = 0; i < of.rule->transparent_count; ++i) {
      std::string const name{of.rule->transparent[i]};
      casts_ = casts_ || name == "cast";
      identities_ = identities_ || name == "identity";
      expands_ = expands_ || name == "expand";
    }
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      reduces_ = reduces_ || pattern_[i].op == opcode::sum || pattern_[i].op == opcode::mean;
    integers_ = of.integers && choose.one_in("integers", 3);
    if (choose.one_in("another operator", 4)) wrong_ = choose.number("which", {0, 1, 2, 3, 4, 5, 6, 7});
    symbolic_ = choose.one_in("symbolic", 3);
    auto const rank = static_cast<std::size_t>(choose.number("rank", {1, 2, 2, 3, 3}));
    for (std::size_t i = 0; i < rank; ++i) base_.push_back(choose.number("extent", {2, 3, 4, 4, 1}));
    write_graph();
  }

  [[nodiscard]] static int version(std::uint64_t seed) {
    constexpr int all[] = {13, 17, 18, 21};
    return all[seed / 7 % 4];
  }

 private:
  struct part {
    value v;
    int weight;
  };

  void write_graph() {
    bool const body = choose.one_in("in a body", 10);
    fuse::graph::node owner;
    if (body) {
      auto const c = g_.input("condition", fuse::element_type::boolean, {});
      feeds["condition"] = {{}, {1}, true};
      // What the body reads is computed before it.
      for (int i = 0; i < 3; ++i) leaves_.push_back(fresh_leaf(base_));
      owner = g_.append("If", {c});
      inside_ = true;
      g_.append_to(g_.add_body(owner, "then_branch"));
    }
    auto y = write(pattern_.root());
    if (choose.one_in("again", 6)) y = g_.add("Max", {y, write(pattern_.root())});
    if (choose.one_in("behind", 3)) y = integers_ ? g_.add("Abs", {y}) : g_.add("Tanh", {y});
    if (body) {
      g_.output(y, "out");
      g_.append_to(g_.add_body(owner, "else_branch"));
      g_.output(g_.add("Abs", {leaves_[0]}), "other");
      g_.append_to(fuse::graph::main_body);
      y = g_.result(owner);
    } else {
      for (auto const v : interior_)
        if (choose.one_in("another output", 12)) g_.output(v, "extra" + std::to_string(extra_++));
    }
    g_.output(y, "y");
    if (wrote_wrong_) plain = false;
  }

  // Leaves

  [[nodiscard]] fuse::element_type type() const {
    return integers_ ? fuse::element_type::int64 : fuse::element_type::float32;
  }
  std::vector<double> contents(std::size_t count) {
    if (!integers_) return choose.numbers("contents", count, 0.4, 1.6, choose.one_in("signs", 3));
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(choose.number("integer", {1, 2, 3, 5, -1, -2, 7}));
    return all;
  }
  value constant(std::vector<std::int64_t> const& shape, std::vector<double> const& data) {
    return g_.constant(fuse::make_tensor(type(), shape, data));
  }
  value number(double x) {
    auto const shapes = choose.number("shape of a number", {0, 0, 0, 1});
    return constant(std::vector<std::int64_t>(static_cast<std::size_t>(shapes), 1), {x});
  }
  value list(std::vector<std::int64_t> const& of) {
    return g_.constant(fuse::make_tensor({static_cast<std::int64_t>(of.size())}, fuse::span<std::int64_t const>(of)));
  }

  std::vector<std::int64_t> leaf_shape() {
    auto shape = base_;
    auto const how = choose.number("shape of a leaf", {0, 0, 0, 0, 0, 1, 2, 3});
    if (how == 1) shape[0] = 1;
    if (how == 2) shape.back() = 1;
    if (how == 3 && !reduces_) shape.erase(shape.begin());
    return shape;
  }
  value fresh_leaf(std::vector<std::int64_t> const& shape) {
    auto const name = "in" + std::to_string(feeds.size());
    array a{shape, contents(corpus::count_of(shape)), integers_};
    // Once where the value is an input of a body it would be captured; constants stand anywhere.
    if (inside_ && !choose.one_in("a constant", 3))
      return leaves_[static_cast<std::size_t>(choose.number("which leaf", {0, 1, 2, 3})) % leaves_.size()];
    if (inside_ || choose.one_in("a constant", 8)) {
      plain = false;  // sums and products of constants are numbers
      return constant(shape, a.data);
    }
    fuse::graph::dims declared;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      static constexpr char const* symbols[] = {"n", "m", "k"};
      auto const from_end = shape.size() - i;
      bool const named = symbolic_ && shape[i] != 1 && base_[base_.size() - from_end] == shape[i] && from_end <= 3;
      if (named)
        declared.emplace_back(symbols[from_end - 1]);
      else
        declared.emplace_back(static_cast<int>(shape[i]));
    }
    auto const v = g_.input(name, type(), declared);
    feeds[name] = std::move(a);
    return v;
  }
  value leaf(bool first) {
    if (!leaves_.empty() && choose.one_in("the same leaf", 5))
      return leaves_[static_cast<std::size_t>(choose.number("which leaf", {0, 1, 2, 3})) % leaves_.size()];
    auto v = fresh_leaf(first ? base_ : leaf_shape());
    if (!integers_) {
      auto const how =
          choose("a leaf is", {"itself", "itself", "itself", "tanh", "product", "negated", "repeated", "sum"});
      if (how == "tanh") v = g_.add("Tanh", {v});
      if (how == "product") v = g_.add("Mul", {v, fresh_leaf(leaf_shape())});
      if (how == "sum") v = g_.add("Add", {v, fresh_leaf(leaf_shape())});
      if (how == "negated") v = g_.add("Neg", {v});
      if (how == "repeated" && !symbolic_) v = g_.add("Expand", {fresh_leaf(leaf_shape()), list(base_)});
    }
    leaves_.push_back(v);
    return v;
  }

  // Terms

  value note(value v) {
    interior_.push_back(v);
    if (casts_ && choose.one_in("a cast", 12)) {
      v = g_.add("Cast", {v}, {{"to", 11}});
      v = g_.add("Cast", {v}, {{"to", 1}});
    }
    if (identities_ && choose.one_in("an identity", 10)) v = g_.add("Identity", {v});
    return v;
  }
  // An operator of two operands; perhaps the wrong one.
  value two(std::string_view op, value a, value b) {
    if (wrong_ == 0 && !wrote_wrong_) {
      wrote_wrong_ = true;
      auto const other = choose("wrong", {"Sub", "Mul", "Add", "Max", "swapped", "Div"});
      if (other == "swapped")
        std::swap(a, b);
      else if (!(integers_ && other == "Div"))
        op = other;
    }
    --wrong_;
    return note(g_.add(op, {a, b}));
  }

  value write(std::uint8_t at) {
    auto const& t = pattern_[at];
    std::string const name{t.name};
    switch (t.kind) {
      case term_kind::capture:
      case term_kind::rest:
        if (auto const known = captured_.find(name); known != captured_.end()) return known->second;
        return captured_[name] = leaf(captured_.empty());
      case term_kind::scalar:
        if (numbers_.count(name) == 0)
          numbers_[name] = integers_ ? choose.number("scalar", {2, 3, -5}) : choose.number("scalar", {2, 3, 5}) * 0.125;
        return number(numbers_[name]);
      case term_kind::number: return number(t.number);
      case term_kind::alternatives: return write(t.child[choose.number("branch", {0, 1}) % t.children]);
      case term_kind::users:
      case term_kind::known_as:
      case term_kind::optional: return write(t.child[0]);
      case term_kind::neutral: break;
      default: corpus::fail("no spelling of this term");
    }
    if (auto const known = written_.find(at); known != written_.end() && !choose.one_in("computed again", 3))
      return known->second;
    return written_[at] = write_operator(at);
  }

  value write_operator(std::uint8_t at) {
    auto const& t = pattern_[at];
    auto const kind = fuse::info(t.op).group;
    if (kind == fuse::op_group::sum || t.op == opcode::neg) return write_sum(at);
    if (kind == fuse::op_group::product) return write_product(at);
    if (t.op == opcode::sum || t.op == opcode::mean) return write_reduction(t);
    auto const name = corpus::name_of(t.op, false);
    if (t.operands() == 1) return note(g_.add(name, {write(t.child[0])}));
    auto const a = write(t.child[0]), b = write(t.child[1]);
    return choose.one_in("commuted", 2) ? two(name, b, a) : two(name, a, b);
  }

  value write_reduction(fuse::term const& t) {
    std::string name = "axes";
    for (int c = t.operands(); c < t.children; ++c)
      if (auto const& a = pattern_[t.child[c]]; a.children == 1) name = std::string(pattern_[a.child[0]].name);
    auto const of = write(t.child[0]);
    auto& axes = axes_[name];
    if (axes.empty()) {
      auto const rank = static_cast<int>(base_.size());
      axes.push_back(choose.number("axis", {-1, -1, -2, -3}));
      axes[0] = std::max<std::int64_t>(axes[0], -rank);
      if (rank > 1 && choose.one_in("two axes", 4) && axes[0] == -1) axes.push_back(-2);
    }
    bool const mean = t.op == opcode::mean;
    if (version_ >= (mean ? 18 : 13)) return note(g_.add(mean ? "ReduceMean" : "ReduceSum", {of, list(axes)}));
    return note(g_.add("ReduceMean", {of}, {{"axes", axes}, {"keepdims", 1}}));
  }

  // Sums: the signed terms, in any order and bracketing.

  void collect_sum(std::uint8_t at, int sign, std::vector<part>& into) {
    auto const& t = pattern_[at];
    bool const opens = t.kind == term_kind::neutral;
    if (opens && (t.op == opcode::add || t.op == opcode::sub)) {
      collect_sum(t.child[0], sign, into);
      collect_sum(t.child[1], t.op == opcode::sub ? -sign : sign, into);
    } else if (opens && t.op == opcode::neg) {
      collect_sum(t.child[0], -sign, into);
    } else if (t.kind == term_kind::alternatives) {
      collect_sum(t.child[choose.number("branch", {0, 1}) % t.children], sign, into);
    } else if (!left_out(t)) {
      into.push_back({write(at), sign});
    }
  }
  bool left_out(fuse::term const& t) {
    return (t.kind == term_kind::optional || t.kind == term_kind::rest) && captured_.count(std::string(t.name)) == 0 &&
           choose.one_in("left out", 3);
  }
  value write_sum(std::uint8_t at) {
    std::vector<part> all;
    collect_sum(at, 1, all);
    shuffle(all);
    if (choose.one_in("plus nothing", 8)) all.push_back({number(0), 1});
    return sum_of(all);
  }
  value negated(value v) {
    if (integers_ || choose.one_in("negated by", 2)) return note(g_.add("Neg", {v}));
    return two("Mul", v, number(-1));
  }
  value sum_of(std::vector<part> const& all) {
    if (all.size() == 1) return all[0].weight > 0 ? all[0].v : negated(all[0].v);
    auto const middle = split(all.size());
    std::vector<part> const left(all.begin(), all.begin() + middle);
    std::vector<part> right(all.begin() + middle, all.end());
    if (choose.one_in("added", 2)) return two("Add", sum_of(left), sum_of(right));
    for (auto& p : right) p.weight = -p.weight;
    return two("Sub", sum_of(left), sum_of(right));
  }

  // Products: factors with whole exponents, in any order and bracketing.

  void collect_product(std::uint8_t at, int exponent, std::vector<part>& into) {
    auto const& t = pattern_[at];
    if (t.kind == term_kind::neutral) {
      switch (t.op) {
        case opcode::mul:
        case opcode::div:
          collect_product(t.child[0], exponent, into);
          return collect_product(t.child[1], t.op == opcode::div ? -exponent : exponent, into);
        case opcode::reciprocal: return collect_product(t.child[0], -exponent, into);
        case opcode::square: return collect_product(t.child[0], 2 * exponent, into);
        case opcode::pow:
          return collect_product(t.child[0], static_cast<int>(pattern_[t.child[1]].number) * exponent, into);
        case opcode::rsqrt: return into.push_back({root(write(t.child[0])), -exponent});
        case opcode::sqrt: return into.push_back({root(write(t.child[0])), exponent});
        default: break;
      }
    } else if (t.kind == term_kind::alternatives) {
      return collect_product(t.child[choose.number("branch", {0, 1}) % t.children], exponent, into);
    } else if (left_out(t)) {
      return;
    }
    into.push_back({write(at), exponent});
  }
  value root(value v) {
    return choose.one_in("a root is", 3) ? note(g_.add("Pow", {v, number(0.5)})) : note(g_.add("Sqrt", {v}));
  }
  value write_product(std::uint8_t at) {
    std::vector<part> all;
    collect_product(at, 1, all);
    std::vector<part> factors;
    for (auto const& p : all) {
      auto const times = std::abs(p.weight);
      if (times > 1 && choose.one_in("a power is", 2)) {
        factors.push_back({note(g_.add("Pow", {p.v, g_.scalar(static_cast<float>(times))})), p.weight / times});
        continue;
      }
      for (int i = 0; i < times; ++i) factors.push_back({p.v, p.weight / times});
    }
    shuffle(factors);
    if (choose.one_in("times one", 8)) factors.push_back({number(1), 1});
    return product_of(factors);
  }
  value inverse(value v) {
    return choose.one_in("inverted by", 2) ? note(g_.add("Reciprocal", {v})) : two("Div", number(1), v);
  }
  value product_of(std::vector<part> const& all) {
    if (all.size() == 1) return all[0].weight > 0 ? all[0].v : inverse(all[0].v);
    auto const middle = split(all.size());
    std::vector<part> const left(all.begin(), all.begin() + middle);
    std::vector<part> right(all.begin() + middle, all.end());
    if (integers_ || choose.one_in("multiplied", 2)) return two("Mul", product_of(left), product_of(right));
    for (auto& p : right) p.weight = -p.weight;
    return two("Div", product_of(left), product_of(right));
  }

  std::ptrdiff_t split(std::size_t size) {
    return 1 + choose.number("split", {0, 1, 2, 3, 4, 5, 6}) % static_cast<std::ptrdiff_t>(size - 1);
  }
  void shuffle(std::vector<part>& all) {
    for (std::size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[static_cast<std::size_t>(choose.number("order", {0, 1, 2, 3, 4, 5, 6})) % i]);
  }

  graph& g_;
  expression const& pattern_;
  int version_;
  bool casts_ = false, identities_ = false, expands_ = false, integers_ = false, symbolic_ = false, inside_ = false;
  bool wrote_wrong_ = false, reduces_ = false;
  int wrong_ = -1, extra_ = 0;
  std::vector<std::int64_t> base_;
  std::vector<value> leaves_, interior_;
  std::map<std::string, value> captured_;
  std::map<std::string, double> numbers_;
  std::map<std::string, std::vector<std::int64_t>> axes_;
  std::map<std::uint8_t, value> written_;
};

}  // namespace soundness
