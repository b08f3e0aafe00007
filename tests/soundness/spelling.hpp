// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/infer/layout_of.hpp>
#include <fuse/verify/group_spelling.hpp>
#include <fuse/verify/layout_spelling.hpp>

#include "example.hpp"
#include "pool.hpp"

namespace soundness {

/// A graph that spells the pattern of a rule: sums and products in any bracketing and with any inverse operators, parts
/// that are shared or computed again, constants in their places, casts, repetitions, identities where the rule looks
/// through them; in either dialect. Every value is computed as it is written, so that its shape is known. Fails where
/// the choices do not fit together.
class spelling : public fuse::detail::group_spelling<spelling>, public fuse::detail::layout_spelling<spelling> {
 public:
  using fuse::detail::group_spelling<spelling>::value;

  example made;
  bool plain = true;  ///< the pattern itself, in operators that its rule may find

  spelling(member const& of, std::uint64_t seed, bool second)
      : group_spelling(seed, of.rule->pattern),
        made{fuse::graph(second ? 1 : version(of, seed)), {}, second},
        g_(made.graph),
        rule_(*of.rule) {
    for (std::size_t i = 0; i < rule_.transparent_count; ++i) {
      std::string const name{rule_.transparent[i]};
      casts_ = casts_ || name == "cast";
      identities_ = identities_ || name == "identity";
    }
    for (std::uint16_t i = 0; i < pattern_.size; ++i) {
      ranked_ = ranked_ || pattern_[i].op == opcode::sum || pattern_[i].op == opcode::mean || has_axes(pattern_[i]);
      matrices_ = matrices_ || op_of(pattern_[i]) == opcode::gemm;
      products_ = products_ || op_of(pattern_[i]) == opcode::matmul;
      convolved_ = convolved_ || op_of(pattern_[i]) == opcode::conv;
      rearranged_ = rearranged_ || pattern_[i].kind == term_kind::rearranged;
    }
    ranked_ = ranked_ || rearranged_;
    integers_ =
        of.among == elements::integers || (of.among == elements::either && !is_old() && choose.one_in("integers", 3));
    symbolic_ = choose.one_in("symbolic", 3);
    if (!integers_ && keeps_numbers()) {
      using enum fuse::element_type;
      constexpr fuse::element_type types[] = {float32, float32, float32, float64, float16, bfloat16};
      floats_ = types[choose.number("floats", {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 5})];
      if (floats_ == bfloat16 && is_old()) floats_ = float16;
      plain = floats_ != float16 && floats_ != bfloat16;  // numbers that are computed are rounded there
    }
    auto rank = static_cast<std::size_t>(choose.number("rank", {1, 2, 2, 3, 3}));
    if (!ranked_ && !products_ && choose.one_in("no axes", 20)) rank = 0;
    if (matrices_) rank = 2;
    if (products_) rank = std::max<std::size_t>(rank, 2);
    if (convolved_) rank = static_cast<std::size_t>(choose.number("rank of a convolution", {3, 3, 4}));
    for (std::size_t i = 0; i < rank; ++i) base_.push_back(choose.number("extent", {2, 3, 4, 4, 1}));
    if (rearranged_) shape_as_rearranged();
    if (rearranged_ && symbolic_) plain = false;  // what a shape is then nothing may tell
    if (!base_.empty() && !has_parts() && choose.one_in("empty", 40)) {
      base_.back() = 0;
      plain = false;  // every number equals every other one there
    }
    whole_ = base_;
    write_graph();
  }

  /// Whether the rule looks through what leaves a value as it is, and that is known to.
  [[nodiscard]] bool looks_through() const { return identities_ && !symbolic_; }

 private:
  friend group_spelling;
  friend layout_spelling;

  // Older operator sets for what they have as it is today: of floating numbers, and no operator with operands that were
  // attributes then.
  [[nodiscard]] static int version(member const& of, std::uint64_t seed) {
    constexpr int all[] = {13, 17, 18, 21}, old[] = {9, 10, 11, 12};
    bool today = of.among == elements::integers || seed % 6 != 0;
    for (auto const* of_rule : {&of.rule->pattern, &of.rule->replacement})
      for (std::uint16_t i = 0; i < of_rule->size; ++i)
        if (auto const op = op_of((*of_rule)[i]); op == opcode::softmax || op == opcode::top_k || op == opcode::split ||
                                                  op == opcode::clip || op == opcode::gemm || op == opcode::cast ||
                                                  op == opcode::slice || op == opcode::squeeze ||
                                                  op == opcode::unsqueeze)
          today = true;
        else if ((*of_rule)[i].kind == term_kind::rearranged && (*of_rule)[i].index != 0)
          today = true;  // a part is a Slice
    return today ? all[seed / 7 % 4] : old[seed / 7 % 4];
  }
  [[nodiscard]] bool is_old() const { return !made.second && g_.version() < 13; }
  // Axes count from the first where they cannot from the last.
  [[nodiscard]] std::vector<std::int64_t> written(std::vector<std::int64_t> axes, std::size_t rank) const {
    if (!made.second && g_.version() < 11)
      for (auto& axis : axes)
        if (axis < 0) axis += static_cast<std::int64_t>(rank);
    return axes;
  }
  static opcode op_of(fuse::term const& t) {
    bool const by_name = t.kind == term_kind::named || t.kind == term_kind::exact;
    return by_name ? corpus::op_named(std::string_view(t.name)) : t.kind == term_kind::neutral ? t.op : opcode::opaque;
  }
  // Whether the right side takes numbers as they are, into no constant that would round them: narrow types are left to
  // such rules.
  [[nodiscard]] bool keeps_numbers() const {
    auto const& right = rule_.replacement;
    for (std::size_t i = 0; i < right.size; ++i) {
      auto const kind = right[i].kind;
      if (kind == term_kind::neutral || kind == term_kind::number || kind == term_kind::row || kind == term_kind::fold)
        return false;
    }
    return true;
  }
  // As a notation says that what is rearranged last of all is shaped: so many axes, single elements where it has `1`.
  void shape_as_rearranged() {
    using fuse::detail::rearrangement;
    for (std::uint16_t i = 0; i < pattern_.size; ++i) {
      rearrangement what{};
      if (pattern_[i].kind != term_kind::rearranged || pattern_[i].index != 0 ||
          !fuse::detail::notation_reader().read(pattern_[i].name, what))
        continue;
      auto const& right = what.right;
      bool const one = right.joined && !what.regroups();
      while (base_.size() < right.rank + (one ? 1u : 0u)) base_.push_back(choose.number("extent", {2, 3, 4, 6, 1}));
      if (right.rest == rearrangement::none || one) base_.resize(right.rank + (one ? 1u : 0u));
      for (std::size_t axis = 0; axis < right.rank; ++axis) {
        bool named = false;
        for (std::size_t k = 0; k < right.count; ++k) named = named || right.all[k].axis == axis;
        if (!named) base_[axis < right.rest ? axis : axis + base_.size() - right.rank] = 1;
      }
    }
  }
  // Whether the pattern takes parts of an axis, or their extents as they are.
  [[nodiscard]] bool has_parts() const {
    if (rearranged_) return true;
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (auto const op = op_of(pattern_[i]);
          op == opcode::top_k || op == opcode::split || op == opcode::conv || fuse::detail::may_move_elements(op))
        return true;
    return false;
  }
  // Of the operators that one dialect has and the other lacks.
  [[nodiscard]] bool has(opcode op) const { return (op == opcode::sum_of) != made.second; }
  value exponent(int times) { return integers_ ? g_.scalar(static_cast<float>(times)) : constant({}, {1.0 * times}); }
  static bool has_axes(fuse::term const& t) {
    auto const op = op_of(t);
    return op == opcode::softmax || op == opcode::transpose || op == opcode::top_k || op == opcode::split ||
           op == opcode::gemm || op == opcode::matmul || op == opcode::conv || fuse::detail::may_move_elements(op);
  }

  void write_graph() {
    auto const& top = pattern_[pattern_.root()];
    bool const several = top.kind == term_kind::roots;
    bool const body = !several && !matrices_ && !products_ && !convolved_ && choose.one_in("in a body", 10);
    fuse::graph::node owner;
    if (body) {
      auto const c = g_.input("condition", fuse::element_type::boolean, {});
      made.feeds["condition"] = known_[c.id] = {{}, {1}, true};
      // What the body reads is computed before it.
      for (int i = 0; i < 3; ++i) leaves_.push_back(fresh_leaf(base_));
      owner = g_.append(corpus::name_of(opcode::if_else, made.second), {c});
      inside_ = true;
      g_.append_to(g_.add_body(owner, "then_branch"));
    }
    auto y = write(several ? top.child[0] : pattern_.root());
    for (int i = 1; several && i < top.operands(); ++i) g_.output(write(top.child[i]), "root" + std::to_string(i));
    if (choose.one_in("again", 6)) y = add(opcode::maximum, {y, write(several ? top.child[0] : pattern_.root())});
    if (choose.one_in("behind", 3)) y = add(integers_ ? opcode::abs : opcode::tanh, {y});
    if (body) {
      g_.output(y, "out");
      g_.append_to(g_.add_body(owner, "else_branch"));
      g_.output(add(opcode::abs, {leaves_[0]}), "other");
      g_.append_to(fuse::graph::main_body);
      y = g_.result(owner);
    } else {
      for (auto const v : interior_)
        if (choose.one_in("another output", 12)) g_.output(v, "extra" + std::to_string(extra_++));
    }
    g_.output(y, "y");
  }

  // Nodes

  std::vector<value> append(std::string_view op, std::vector<value> const& operands,
                            std::vector<fuse::graph::named> const& attributes, std::uint32_t results) {
    corpus::parameters p;
    for (auto const& a : attributes) p.all.emplace(a.name, a);
    std::vector<array const*> in;
    for (auto const v : operands) in.push_back(v ? &known(v) : nullptr);
    auto computed = op == "test::Blend" ? blend(in, p) : corpus::results_of(op, in, p);
    auto const n = g_.append(op, operands, attributes, results);
    std::vector<value> all;
    for (std::uint32_t i = 0; i < results; ++i) {
      all.push_back(g_.result(n, i));
      known_[all.back().id] = std::move(computed.at(i));
    }
    return all;
  }
  value add(std::string_view op, std::vector<value> const& operands,
            std::vector<fuse::graph::named> const& attributes = {}) {
    return append(op, operands, attributes, 1)[0];
  }
  value add(opcode op, std::vector<value> const& operands, std::vector<fuse::graph::named> const& attributes = {}) {
    return add(corpus::name_of(op, made.second), operands, attributes);
  }
  array const& known(value v) {
    auto const at = known_.find(v.id);
    return at != known_.end() ? at->second : known_[v.id] = corpus::array_of(g_.constant(v));
  }
  value cast(value v, fuse::element_type to) {
    return add(opcode::cast, {v}, {{made.second ? "dtype" : "to", static_cast<int>(to)}});
  }

  // Leaves

  [[nodiscard]] fuse::element_type type() const { return integers_ ? fuse::element_type::int64 : floats_; }
  std::vector<double> contents(std::size_t count) {
    if (!integers_) return choose.numbers("contents", count, 0.4, 1.6, choose.one_in("signs", 3));
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(choose.number("integer", {1, 2, 3, 5, -1, -2, 7}));
    return all;
  }
  value constant(std::vector<std::int64_t> const& extents, std::vector<double> const& data) {
    return g_.constant(fuse::make_tensor(type(), extents, data));
  }
  value number(double x) {
    auto shapes = base_.empty() ? 0 : choose.number("shape of a number", {0, 0, 0, 0, 0, 1, 1, 3});
    if (shapes > 1) plain = false;  // it may be what makes the rank
    if (!base_.empty() && choose.one_in("a number several times", 40)) {
      plain = false;  // it may be what makes a shape
      return constant({base_.back()}, std::vector<double>(static_cast<std::size_t>(base_.back()), x));
    }
    return constant(std::vector<std::int64_t>(static_cast<std::size_t>(shapes), 1), {x});
  }
  value list(std::vector<std::int64_t> const& of) {
    return g_.constant(fuse::make_tensor({static_cast<std::int64_t>(of.size())}, fuse::span<std::int64_t const>(of)));
  }

  std::vector<std::int64_t> leaf_shape() {
    auto extents = base_;
    if (exact_shapes_) return extents;
    if (extents.empty()) return extents;
    if (convolved_ && choose.one_in("a number for each channel", 2)) {
      for (std::size_t i = 0; i < extents.size(); ++i)
        if (i != 1) extents[i] = 1;
      return extents;
    }
    auto const how = choose.number("shape of a leaf", {0, 0, 0, 0, 0, 1, 2, 3});
    if (how == 1) extents[0] = 1;
    if (how == 2) extents.back() = 1;
    if (how == 3 && !ranked_) extents.erase(extents.begin());
    return extents;
  }
  // A condition wants it to be constant.
  [[nodiscard]] bool wanted_constant(std::string_view name) const {
    for (std::size_t i = 0; i < rule_.condition_count; ++i)
      if (auto const& c = rule_.conditions[i]; c.name == "a constant" && c.captures[0] == name) return true;
    return false;
  }
  value fresh_leaf(std::vector<std::int64_t> const& extents, bool as_constant = false) {
    auto const name = "in" + std::to_string(made.feeds.size());
    array a{extents, contents(corpus::count_of(extents)), integers_};
    // Once where the value is an input of a body it would be captured; constants stand anywhere.
    if (inside_ && !as_constant && (!exact_shapes_ || extents == whole_) && !choose.one_in("a constant", 3))
      return leaves_[static_cast<std::size_t>(choose.number("which leaf", {0, 1, 2, 3})) % leaves_.size()];
    if (inside_ || as_constant || choose.one_in("a constant", 8)) {
      plain = false;  // sums and products of constants are numbers
      return constant(extents, a.data);
    }
    fuse::graph::dims declared;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      static constexpr char const* symbols[] = {"n", "m", "k"};
      auto const from_end = extents.size() - i;
      bool const named = symbolic_ && base_ == whole_ && extents[i] != 1 && from_end <= base_.size() &&
                         base_[base_.size() - from_end] == extents[i] && from_end <= 3;
      if (named)
        declared.emplace_back(symbols[from_end - 1]);
      else if (symbolic_ && rearranged_ && base_ != whole_ && choose.one_in("an extent with a name", 2))
        declared.emplace_back("e" + std::to_string(extents[i]));
      else
        declared.emplace_back(static_cast<int>(extents[i]));
    }
    auto const v = g_.input(name, type(), declared);
    made.feeds[name] = known_[v.id] = std::move(a);
    return v;
  }
  value leaf(bool first, bool as_constant) {
    if (!leaves_.empty() && !exact_shapes_ && !as_constant && choose.one_in("the same leaf", 5))
      return leaves_[static_cast<std::size_t>(choose.number("which leaf", {0, 1, 2, 3})) % leaves_.size()];
    auto v = fresh_leaf(first ? base_ : leaf_shape(), as_constant);
    if (!integers_ && !as_constant) {
      auto const how =
          choose("a leaf is", {"itself", "itself", "itself", "tanh", "product", "negated", "repeated", "sum"});
      if (how == "tanh") v = add(opcode::tanh, {v});
      if (how == "product") v = add(opcode::mul, {v, fresh_leaf(leaf_shape())});
      if (how == "sum") v = add(opcode::add, {v, fresh_leaf(leaf_shape())});
      if (how == "negated") v = add(opcode::neg, {v});
      if (how == "repeated" && !symbolic_) v = add(opcode::expand, {fresh_leaf(leaf_shape()), list(base_)});
    }
    if (!exact_shapes_) leaves_.push_back(v);
    return v;
  }

  // Terms

  value note(value v) {
    interior_.push_back(v);
    return looked_through(v, casts_, identities_);
  }
  value looked_through(value v, bool casts, bool identities) {
    if (casts && !integers_ && choose.one_in("a cast", 12)) v = cast(cast(v, fuse::element_type::float64), type());
    if (identities && choose.one_in("an identity", 10)) v = add(opcode::identity, {v});
    return v;
  }

  value write(std::uint8_t at) {
    auto const& t = pattern_[at];
    std::string const name{t.name};
    switch (t.kind) {
      case term_kind::capture:
      case term_kind::rest:
        if (auto const captured = captured_.find(name); captured != captured_.end()) return captured->second;
        return captured_[name] = leaf(captured_.empty(), wanted_constant(name));
      case term_kind::scalar: return number(number_of(name));
      case term_kind::number: return number(t.number);
      case term_kind::alternatives: return write(t.child[choose.number("branch", {0, 1}) % t.children]);
      case term_kind::users:
      case term_kind::known_as:
      case term_kind::optional: return write(t.child[0]);
      case term_kind::through: return looked_through(write(t.child[0]), t.name == "cast", t.name == "identity");
      case term_kind::wrapped: {
        auto const inside = write(t.child[0]);
        return choose.one_in("wrapped", 2) ? note(add(std::string_view(t.name), {inside})) : inside;
      }
      case term_kind::result: {
        auto const of = t.child[0];
        if (several_.count(of) == 0) several_[of] = write_several(of);
        return several_[of].at(t.index);
      }
      default: break;
    }
    if (auto const before = written_.find(at); before != written_.end() && !choose.one_in("computed again", 3))
      return before->second;
    return written_[at] = write_operator(at);
  }
  double number_of(std::string const& name) {
    if (numbers_.count(name) == 0)
      numbers_[name] = integers_ ? choose.number("scalar", {2, 3, -5}) : choose.number("scalar", {2, 3, 5}) * 0.125;
    return numbers_[name];
  }

  value write_operator(std::uint8_t at) {
    auto const& t = pattern_[at];
    auto const op = op_of(t);
    if (t.kind == term_kind::rearranged) return write_rearranged(at);
    if (t.kind == term_kind::neutral) {
      auto const kind = fuse::info(op).group;
      if (kind == fuse::op_group::sum || op == opcode::neg) return write_sum(at);
      if (kind == fuse::op_group::product) return write_product(at);
      if (op == opcode::sum || op == opcode::mean) return write_reduction(t);
    }
    switch (op) {
      case opcode::softmax: return write_softmax(t);
      case opcode::transpose: return write_transpose(at);
      case opcode::matmul: return write_matmul(t);
      case opcode::gemm: return write_gemm(t);
      case opcode::conv: return write_conv(t);
      case opcode::clip: return write_clip(t);
      case opcode::concat: return write_concat(t);
      case opcode::reshape:
      case opcode::squeeze:
      case opcode::unsqueeze:
      case opcode::slice:
      case opcode::gather:
      case opcode::expand:
      case opcode::tile: return write_moved(t);
      case opcode::cast: return note(cast(write(t.child[0]), type()));
      default: break;
    }
    std::vector<value> operands;
    for (int i = 0; i < t.operands(); ++i) operands.push_back(write(t.child[i]));
    auto const name = t.kind == term_kind::neutral ? corpus::name_of(op, made.second) : std::string_view(t.name);
    if (operands.size() == 2 && fuse::info(op).commutative && t.kind != term_kind::exact &&
        choose.one_in("commuted", 2))
      std::swap(operands[0], operands[1]);
    std::vector<fuse::graph::named> attributes;
    for (int i = t.operands(); i < t.children; ++i) {
      auto const& a = pattern_[t.child[i]];
      double const x = a.children == 0 ? a.number : number_of(std::string(pattern_[a.child[0]].name));
      attributes.emplace_back(std::string_view(a.name), x);
    }
    return note(add(name, operands, attributes));
  }

  std::vector<std::int64_t> const& axes_named(std::string const& name, bool one) {
    auto& axes = axes_[name];
    if (axes.empty()) {
      auto const rank = static_cast<int>(base_.size());
      axes.push_back(choose.number("axis", {-1, -1, -2, -3}));
      axes[0] = std::max<std::int64_t>(axes[0], -rank);
      if (!one && rank > 1 && choose.one_in("two axes", 4) && axes[0] == -1) axes.push_back(-2);
    }
    return axes;
  }

  // The node keeps its axes, or they are put back; a mean is the node, or a sum that is divided, a sum is the node, or
  // a mean that is multiplied; a sum of squares is one node, too.
  value write_reduction(fuse::term const& t) {
    std::string name = "axes";
    for (int c = t.operands(); c < t.children; ++c)
      if (auto const& a = pattern_[t.child[c]]; a.children == 1) name = std::string(pattern_[a.child[0]].name);
    auto op = t.op;
    bool const swapped = (op == opcode::mean || op == opcode::sum) && !symbolic_ && !integers_ &&
                         choose.one_in("a sum for a mean, a mean for a sum", 6);
    if (swapped) op = op == opcode::mean ? opcode::sum : opcode::mean;
    auto const& inside = pattern_[t.child[0]];
    bool const squares = op == opcode::sum && inside.kind == term_kind::neutral && inside.op == opcode::square &&
                         !integers_ && choose.one_in("a sum of squares", 3);
    if (squares) op = opcode::sum_square;
    auto const of = write(squares ? inside.child[0] : t.child[0]);
    auto const axes = written(axes_named(name, false), known(of).rank());
    double count = 1;
    for (auto const axis : axes) count *= static_cast<double>(known(of).shape[axis_of(known(of), axis)]);
    bool const dropped = choose.one_in("axes put back", 6);
    std::vector<fuse::graph::named> attributes;
    std::vector<value> operands{of};
    if (made.second) {
      attributes.emplace_back("dim", axes);
      if (dropped) attributes.emplace_back("squeeze", 1);
    } else {
      if (g_.version() >= (op == opcode::sum ? 13 : 18))
        operands.push_back(list(axes));
      else
        attributes.emplace_back("axes", axes);
      if (dropped || choose.one_in("keepdims written", 2)) attributes.emplace_back("keepdims", dropped ? 0 : 1);
    }
    auto v = add(op, operands, attributes);
    if (dropped)
      v = made.second || is_old() ? add(opcode::unsqueeze, {v}, {{made.second ? "dim" : "axes", axes}})
                                  : add(opcode::unsqueeze, {v, list(axes)});
    if (!swapped) return note(v);
    if (t.op == opcode::sum) count = 1 / count;
    return note(choose.one_in("divided by", 2) ? add(opcode::div, {v, number(count)})
                                               : add(opcode::mul, {v, number(1 / count)}));
  }

  // Operators with axes: their operands have the shapes that make the result what is wanted.

  value write_shaped(std::uint8_t at, std::vector<std::int64_t> extents) {
    auto const before = std::exchange(base_, std::move(extents));
    bool const exact = std::exchange(exact_shapes_, true);
    auto const v = write(at);
    base_ = before;
    exact_shapes_ = exact;
    return v;
  }
  value write_softmax(fuse::term const& t) {
    std::string name = "last";
    for (int c = t.operands(); c < t.children; ++c)
      if (auto const& a = pattern_[t.child[c]]; a.children == 1) name = std::string(pattern_[a.child[0]].name);
    auto axis = name == "last" ? -1 : axes_named(name, true)[0];
    if (choose.one_in("from the first", 3)) axis += static_cast<std::int64_t>(base_.size());
    return note(add(opcode::softmax, {write_shaped(t.child[0], base_)}, {{made.second ? "from" : "axis", axis}}));
  }
  value write_transpose(std::uint8_t at) {
    if (turned_.empty()) {
      for (std::size_t i = 0; i < base_.size(); ++i) turned_.push_back(static_cast<std::int64_t>(i));
      for (std::size_t i = turned_.size(); i > 1; --i)
        std::swap(turned_[i - 1], turned_[static_cast<std::size_t>(choose.number("turned", {0, 1, 2})) % i]);
    }
    auto extents = base_;
    for (std::size_t i = 0; i < turned_.size(); ++i) extents[static_cast<std::size_t>(turned_[i])] = base_[i];
    return note(add(opcode::transpose, {write_shaped(pattern_[at].child[0], extents)},
                    {{made.second ? "order" : "perm", turned_}}));
  }
  value write_concat(fuse::term const& t) {
    auto const count = t.operands();
    auto each = base_;
    if (each.empty() || each.back() % count != 0) fail("an axis that has no parts");
    each.back() /= count;
    std::vector<value> operands;
    for (int i = 0; i < count; ++i) operands.push_back(write_shaped(t.child[i], each));
    auto const last = choose.one_in("from the first", 3) ? static_cast<std::int64_t>(each.size()) - 1 : -1;
    return note(add("Concat", operands, {{"axis", last}}));
  }

  // What moves elements, of an operand whose shape follows from the result's; every node of a pattern does it alike.
  value write_moved(fuse::term const& t) {
    auto const op = op_of(t);
    auto below = base_;
    if (moved_axis_ < 0 && !base_.empty())
      moved_axis_ = choose.number("moved axis", {0, 1, 2}) % static_cast<std::int64_t>(base_.size());
    auto const axis = static_cast<std::size_t>(std::max<std::int64_t>(moved_axis_, 0));
    auto const place = below.begin() + static_cast<std::ptrdiff_t>(axis);
    if (below.empty() && op != opcode::unsqueeze && op != opcode::reshape) fail("no axis to move along");
    auto const from_last = choose.one_in("from the last", 3) ? static_cast<std::int64_t>(base_.size()) : 0;
    switch (op) {
      case opcode::reshape: {
        std::reverse(below.begin(), below.end());
        auto const of = write_shaped(t.child[0], below);
        return note(write_reshape(of, base_));
      }
      case opcode::squeeze: {
        below.insert(place, 1);
        auto const of = write_shaped(t.child[0], below);
        return note(add("Squeeze", {of, list({moved_axis_ - (from_last != 0 ? from_last + 1 : 0)})}));
      }
      case opcode::unsqueeze: {
        if (base_.empty() || base_[axis] != 1) fail("no axis of one element");
        below.erase(place);
        return note(add("Unsqueeze", {write_shaped(t.child[0], below), list({moved_axis_ - from_last})}));
      }
      case opcode::slice: {
        if (cut_ < 0) cut_ = choose.number("cut off", {0, 1, 2});
        below[axis] += cut_ + 1;
        auto const of = write_shaped(t.child[0], below);
        auto const ends = list({cut_ + base_[axis]});
        return note(add("Slice", {of, list({cut_}), ends, list({moved_axis_ - from_last}), list({1})}));
      }
      case opcode::gather: {
        below[axis] += 1;
        std::vector<std::int64_t> picked;
        for (std::int64_t i = 0; i < base_[axis]; ++i) picked.push_back((i * 3 + 1) % below[axis]);
        auto const of = write_shaped(t.child[0], below);
        return note(add("Gather", {of, list(picked)}, {{"axis", moved_axis_ - from_last}}));
      }
      case opcode::expand: {
        if (choose.one_in("really", 2)) below[axis] = 1;
        auto const of = write_shaped(t.child[0], below);
        return note(add(opcode::expand, {of, list(base_)}));
      }
      default: {
        std::vector<std::int64_t> times(base_.size(), 1);
        if (base_[axis] % 2 == 0) times[axis] = 2, below[axis] /= 2;
        auto const of = write_shaped(t.child[0], below);
        return note(add("Tile", {of, list(times)}));
      }
    }
  }

  // What is rearranged, in the names that layout_spelling has for it.

  [[noreturn]] static void fail(std::string const& why) { corpus::fail(why); }
  [[nodiscard]] shape const& shape_of(value v) { return known(v).shape; }

  value write_rearranged(std::uint8_t at) {
    fuse::detail::rearrangement what;
    shape below;
    if (!shape_below(pattern_[at], base_, what, below)) fail("a shape that is not rearranged");
    auto const wanted = base_;
    auto const inside = write_shaped(pattern_[at].child[0], below);
    if (shape_of(inside) != below) fail("a value of another shape than is rearranged");
    return note(rearranged(what, inside, wanted));
  }
  value layout_node(opcode op, value of, std::vector<listed> const& parameters, shape const& to) {
    if (op == opcode::expand) return add(op, {of, list(to)});
    if (op == opcode::transpose) return add(op, {of}, {{made.second ? "order" : "perm", parameters[0].list}});
    if (op == opcode::reshape) return write_reshape(of, to);
    std::vector<value> operands{of};
    for (auto const& each : parameters) operands.push_back(list(each.list));
    return add("Slice", operands);
  }
  // Extents that remain may stand as 0, one may be left to the others; an axis of one element may be put in instead.
  value write_reshape(value of, shape to) {
    auto const from = shape_of(of);
    if (from.size() + 1 == to.size() && !made.second && g_.version() >= 13 && choose.one_in("an axis put in", 2))
      for (std::size_t i = 0; i < to.size(); ++i)
        if (auto without = to;
            to[i] == 1 && (without.erase(without.begin() + static_cast<std::ptrdiff_t>(i)), without == from))
          return add("Unsqueeze", {of, list({static_cast<std::int64_t>(i)})});
    if (made.second) return add(opcode::reshape, {of}, {{"extents", to}});
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
      if (from[i] == to[i] && choose.one_in("as it was", 3)) to[i] = 0;
    if (!to.empty() && choose.one_in("left to the others", 3))
      to[static_cast<std::size_t>(choose.number("which extent", {0, 1, 2, 3})) % to.size()] = -1;
    return add(opcode::reshape, {of, list(to)});
  }
  value indexed(value of, std::int64_t axis, shape const& indices, shape const& of_indices, shape const&) {
    auto const places = g_.constant(fuse::make_tensor(of_indices, fuse::span<std::int64_t const>(indices)));
    return add("Gather", {of, places}, {{"axis", axis}});
  }
  value joined_along(std::int64_t axis, std::vector<value> const& parts, shape const&) {
    return add("Concat", parts, {{"axis", axis}});
  }

  [[nodiscard]] std::int64_t inner() { return choose.number("inner", {2, 3, 4}); }
  value write_matmul(fuse::term const& t) {
    auto left = base_;
    left.back() = inner();
    auto const a = write_shaped(t.child[0], left);
    return note(add(opcode::matmul, {a, write_shaped(t.child[1], {left.back(), base_.back()})}));
  }
  value write_gemm(fuse::term const& t) {
    bool turned_a = false, turned_b = false, open = false;
    for (int c = t.operands(); c < t.children; ++c) open = open || pattern_[t.child[c]].children == 1;
    if (open) turned_a = choose.one_in("transA", 2), turned_b = choose.one_in("transB", 2);
    auto const k = inner();
    std::vector<std::int64_t> a{base_[0], k}, b{k, base_[1]};
    if (turned_a) std::swap(a[0], a[1]);
    if (turned_b) std::swap(b[0], b[1]);
    std::vector<value> operands{write_shaped(t.child[0], a), write_shaped(t.child[1], b)};
    if (t.operands() > 2 && (pattern_[t.child[2]].kind != term_kind::optional || !choose.one_in("no addend", 2))) {
      auto row = base_;
      if (choose.one_in("a row", 2)) row.erase(row.begin());
      operands.push_back(write_shaped(t.child[2], row));
    }
    std::vector<fuse::graph::named> attributes;
    if (turned_a || choose.one_in("transA written", 2)) attributes.emplace_back("transA", turned_a ? 1 : 0);
    if (turned_b) attributes.emplace_back("transB", 1);
    if (choose.one_in("alpha written", 2)) attributes.emplace_back("alpha", 1.0);
    return note(add(opcode::gemm, operands, attributes));
  }
  value write_conv(fuse::term const& t) {
    auto const dimensions = base_.size() - 2;
    auto groups = static_cast<std::int64_t>(choose.number("groups", {1, 1, 2, 3}));
    if (base_[1] % groups != 0) groups = 1;
    auto const channels = static_cast<std::int64_t>(choose.number("channels of a group", {1, 2, 3}));
    std::vector<std::int64_t> x{base_[0], groups * channels}, w{base_[1], channels}, steps, apart, pads(2 * dimensions);
    for (std::size_t i = 0; i < dimensions; ++i) {
      w.push_back(choose.number("kernel", {1, 2, 3}));
      steps.push_back(choose.number("step", {1, 1, 2}));
      apart.push_back(choose.number("distance", {1, 1, 2}));
      auto const room = (base_[i + 2] - 1) * steps[i] + (w.back() - 1) * apart[i] + 1;
      for (auto const side : {i, i + dimensions}) pads[side] = choose.number("padding", {0, 0, 1});
      if (pads[i] + pads[i + dimensions] >= room) pads[i] = pads[i + dimensions] = 0;
      x.push_back(room - pads[i] - pads[i + dimensions]);
    }
    std::vector<value> operands{write_shaped(t.child[0], x), write_shaped(t.child[1], w)};
    if (t.operands() > 2 && (pattern_[t.child[2]].kind != term_kind::optional || !choose.one_in("no addend", 2)))
      operands.push_back(write_shaped(t.child[2], {base_[1]}));
    std::vector<fuse::graph::named> attributes;
    auto const attribute = [&](std::string_view name, std::vector<std::int64_t> const& list, std::int64_t otherwise) {
      bool const plain_one = std::all_of(list.begin(), list.end(), [&](auto each) { return each == otherwise; });
      if (!plain_one || choose.one_in("a default written", 2)) attributes.emplace_back(name, list);
    };
    attribute("strides", steps, 1);
    attribute("dilations", apart, 1);
    attribute("pads", pads, 0);
    if (choose.one_in("kernel written", 2)) attributes.emplace_back("kernel_shape", shape(w.begin() + 2, w.end()));
    if (groups != 1 || choose.one_in("a default written", 2)) attributes.emplace_back("group", groups);
    return note(add(opcode::conv, operands, attributes));
  }
  value write_clip(fuse::term const& t) {
    std::vector<value> operands{write(t.child[0])};
    for (int c = t.operands(); c < t.children; ++c) {
      auto const& a = pattern_[t.child[c]];
      operands.push_back(constant({}, {number_of(std::string(pattern_[a.child[0]].name))}));
    }
    return note(add(opcode::clip, operands));
  }
  std::vector<value> write_several(std::uint8_t at) {
    auto const& t = pattern_[at];
    auto extents = base_;
    if (op_of(t) == opcode::top_k) {
      extents.back() += choose.number("more", {0, 1, 2});
      auto const x = write_shaped(t.child[0], extents);
      return append("TopK", {x, list({base_.back()})}, {{"axis", -1}}, 2);
    }
    extents.back() *= 2;
    auto const x = write_shaped(t.child[0], extents);
    return append("Split", {x, list({base_.back(), base_.back()})}, {{"axis", -1}}, 2);
  }

  fuse::graph& g_;
  fuse::rewrite_rule const& rule_;
  fuse::element_type floats_ = fuse::element_type::float32;
  bool casts_ = false, identities_ = false, symbolic_ = false, inside_ = false;
  bool ranked_ = false, matrices_ = false, products_ = false, convolved_ = false, rearranged_ = false;
  bool exact_shapes_ = false;
  int extra_ = 0;
  std::int64_t moved_axis_ = -1, cut_ = -1;
  std::vector<std::int64_t> base_, whole_, turned_;
  std::vector<value> leaves_, interior_;
  std::map<std::uint32_t, array> known_;
  std::map<std::string, double> numbers_;
  std::map<std::string, std::vector<std::int64_t>> axes_;
  std::map<std::uint8_t, value> written_;
  std::map<std::uint8_t, std::vector<value>> several_;
};

}  // namespace soundness
