// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/dsl/conditions.hpp>
#include <fuse/dsl/expression.hpp>
#include <fuse/dsl/rule.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/node_parameters.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/verify/group_spelling.hpp>
#include <fuse/verify/layer_shapes.hpp>
#include <fuse/verify/layout_spelling.hpp>
#include <fuse/verify/leaf_shape.hpp>
#include <fuse/verify/read_pattern.hpp>
#include <fuse/verify/shaped_sample.hpp>

namespace fuse::inline v0::detail {

/// A graph that spells the pattern of a rule, in the dialect of `names`, with whatever the pattern leaves open drawn by
/// `seed`: alternatives, optional parts, bracketings and inverse operators, what stands between two nodes that the rule
/// looks through, who else uses a value; ranks, extents that collide, broadcasting, element types, attributes, what is
/// constant, and numbers of several sizes. Conditions that fuse has are met mostly; predicates of a user's own are met
/// by chance. `wrong` says why there is no graph.
class spelling : public shaped_sample, public group_spelling<spelling>, public layout_spelling<spelling> {
 public:
  using value = graph::value;
  using shape = shaped_sample::shape;

  spelling(rewrite_rule const& rule, dialect const& names, std::uint64_t seed)
      : shaped_sample(names, drawn_version(rule, names, seed)),
        group_spelling(seed, with_neutral_operators(rule.pattern, names, g_.version())),
        rule_(rule) {
    for (std::size_t i = 0; i < rule.transparent_count; ++i) {
      casts_ = casts_ || rule.transparent[i] == std::string_view("cast");
      identities_ = identities_ || rule.transparent[i] == std::string_view("identity");
    }
    integers_ = takes_integers() && choose.one_in("integers", 5);
    using enum element_type;
    constexpr element_type types[] = {float32, float64, float16, bfloat16};
    type_ = integers_ ? (choose.one_in("narrow", 4) ? int32 : int64)
                      : types[choose.number("type", {0, 0, 0, 0, 0, 0, 1, 1, 2, 3})];
    for (std::size_t i = 0; i < rule.condition_count; ++i)
      if (auto const& c = rule.conditions[i]; c.holds == &dsl::condition_detail::type_is)
        type_ = static_cast<element_type>(static_cast<int>(c.number));
    style_ = choose("contents", {"usual", "usual", "usual", "positive", "positive", "large mean", "large mean",
                                 "large mean", "tiny", "tiny", "zeros", "large", "huge", "alike"});
    symbolic_ = choose.one_in("symbolic", 3);
    draw_shape();
    write_graph();
  }

 private:
  friend group_spelling;
  friend layout_spelling;

  // The rule as it is written

  static opcode op_of(term const& t) { return t.kind == term_kind::neutral ? t.op : opcode::opaque; }
  // The operator of a node that may stand for itself alone, too.
  [[nodiscard]] opcode node_of(term const& t) const {
    if (t.kind == term_kind::neutral) return t.op;
    if (t.kind != term_kind::exact) return opcode::opaque;
    auto const* row = names_.row(names_.code(std::string_view(t.name)), g_.version());
    return row == nullptr ? opcode::opaque : row->op;
  }
  [[nodiscard]] bool has_operator(opcode op) const {
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (node_of(pattern_[i]) == op) return true;
    return false;
  }
  [[nodiscard]] bool takes_integers() const {
    for (std::uint16_t i = 0; i < pattern_.size; ++i) {
      auto const& t = pattern_[i];
      if (t.kind == term_kind::number && t.number != std::floor(t.number)) return false;
      if (t.kind != term_kind::neutral && t.kind != term_kind::exact && t.kind != term_kind::wrapped) continue;
      switch (node_of(t)) {
        case opcode::add:
        case opcode::sub:
        case opcode::mul:
        case opcode::neg:
        case opcode::abs:
        case opcode::maximum:
        case opcode::minimum:
        case opcode::sum:
        case opcode::reduce_max:
        case opcode::reduce_min:
        case opcode::where:
        case opcode::less:
        case opcode::greater:
        case opcode::identity:
        case opcode::cast:
        case opcode::reshape:
        case opcode::transpose:
        case opcode::flatten:
        case opcode::concat:
        case opcode::expand: continue;
        case opcode::div: continue;
        default: return false;
      }
    }
    return true;
  }
  [[nodiscard]] condition const* condition_on(std::string_view name,
                                              bool (*holds)(captured const*, condition const&)) const {
    return detail::condition_on(rule_, name, holds);
  }

  // The shape of what the pattern computes

  void draw_shape() {
    auto rank = static_cast<std::size_t>(choose.number("rank", {1, 2, 2, 3, 3, 4}));
    for (std::uint16_t i = 0; i < pattern_.size; ++i) {
      auto const& t = pattern_[i];
      switch (node_of(t)) {
        case opcode::conv:
        case opcode::max_pool:
        case opcode::average_pool:
        case opcode::conv_transpose: rank = static_cast<std::size_t>(choose.number("images", {3, 4})); break;
        case opcode::matmul:
        case opcode::batch_norm:
        case opcode::flatten: rank = std::max<std::size_t>(rank, 2); break;
        case opcode::rotary_embedding:
        case opcode::rotary_embedding_at:
        case opcode::attention: rank = 4; break;
        case opcode::multi_head_attention: rank = 3; break;
        case opcode::instance_norm:
        case opcode::group_norm: rank = static_cast<std::size_t>(choose.number("images", {3, 4})); break;
        default: break;
      }
      if (t.kind == term_kind::list && above_is(i, "perm")) rank = t.children;
    }
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (node_of(pattern_[i]) == opcode::gemm) rank = 2;
    for (std::size_t i = 0; i < rule_.condition_count; ++i)
      if (auto const& c = rule_.conditions[i]; c.holds == &dsl::condition_detail::rank_is)
        rank = rank_beside(c.captures[0], static_cast<std::size_t>(c.number), rank);
      else if (c.holds == &dsl::condition_detail::from_one_on)
        rank = static_cast<std::size_t>(c.number) + static_cast<std::size_t>(choose.number("axes behind", {1, 1, 2}));
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (auto const& t = pattern_[i]; node_of(t) == opcode::gather && rank != 0)  // an element has an axis less
        if (pattern_[t.child[1]].kind == term_kind::scalar) --rank;
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (auto const& t = pattern_[i]; t.kind == term_kind::rearranged && t.index == 0)
        if (rearrangement what{}; notation_reader().read(t.name, what) && what.right.rest == rearrangement::none)
          rank = what.right.rank;
    if (!has_axes() && choose.one_in("no axes", 20)) rank = 0;
    for (std::size_t i = 0; i < rank; ++i) base_.push_back(choose.number("extent", {2, 3, 4, 4, 1, 5}));
    for (std::uint16_t i = 0; i < pattern_.size; ++i)  // of which there are parts is as long as they are together
      if (auto const& t = pattern_[i]; t.kind == term_kind::rearranged && t.index != 0 && !base_.empty())
        if (base_.back() % static_cast<std::int64_t>(t.tolerance) != 0)
          base_.back() *= static_cast<std::int64_t>(t.tolerance);
    if ((has_operator(opcode::rotary_embedding) || has_operator(opcode::rotary_embedding_at)) && !base_.empty())
      base_.back() *= 4;
    bool const attends = has_operator(opcode::attention) || has_operator(opcode::multi_head_attention);
    if (attends && has_operator(opcode::concat) && base_.size() > 1) base_[base_.size() - 2] *= 2;  // a length of parts
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (node_of(pattern_[i]) == opcode::unsqueeze)
        base_.insert(base_.begin() + choose.number("added", {0, 1, 2}) % static_cast<int>(base_.size() + 1), 1);
    whole_ = base_;
  }
  // Whether two values have a rank above that of a matrix, and are multiplied.
  [[nodiscard]] bool multiplies_batches() const {
    int batches = 0;
    for (std::size_t i = 0; i < rule_.condition_count; ++i)
      if (auto const& c = rule_.conditions[i]; c.holds == &dsl::condition_detail::rank_is && c.number > 2) ++batches;
    return batches > 1 && has_operator(opcode::matmul);
  }
  // The rank of the whole where a name has one: that of `x`, and of matrices that are multiplied, and one more than
  // that of rows of tables.
  [[nodiscard]] std::size_t rank_beside(std::string_view name, std::size_t of_name, std::size_t otherwise) const {
    if (name == "x" || multiplies_batches()) return of_name;
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (auto const& t = pattern_[i]; node_of(t) == opcode::gather && pattern_[t.child[1]].name == name)
        return of_name + 1;
    return otherwise;
  }
  [[nodiscard]] bool above_is(std::uint16_t at, std::string_view attribute) const {
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (auto const& t = pattern_[i]; t.kind == term_kind::attribute && t.children == 1 && t.child[0] == at)
        return t.name == attribute;
    return false;
  }
  // Whether shapes matter to it as they are: it has parts of values, or such in another order.
  [[nodiscard]] bool is_rearranged() const {
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (pattern_[i].kind == term_kind::rearranged) return true;
    return false;
  }
  [[nodiscard]] bool has_axes() const {
    if (is_rearranged()) return true;
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (auto const op = node_of(pattern_[i]); op != opcode::opaque)
        if (auto const& known = info(op); known.kind != op_kind::elementwise && known.kind != op_kind::broadcast)
          return true;
    return false;
  }

  void write_graph() {
    auto const& top = pattern_[pattern_.root()];
    bool const several = top.kind == term_kind::roots;
    auto y = write(several ? top.child[0] : pattern_.root());
    for (int i = 1; several && i < top.operands(); ++i) g_.output(write(top.child[i]), "root" + std::to_string(i));
    if (choose.one_in("again", 10) && !several) y = add(opcode::maximum, {y, write(pattern_.root())});
    if (choose.one_in("behind", 6)) y = add(opcode::abs, {y});
    for (auto const v : interior_)
      if (choose.one_in("another output", 16)) g_.output(v, "extra" + std::to_string(v.id));
    g_.output(y, "y");
    for (auto const v : interior_)
      if (choose.one_in("a row of the output", 64) && shape_of(v) == shape_of(y))
        g_.output(v, "late" + std::to_string(v.id));
  }

  // Leaves

  value exponent(int times) { return constant({}, {1.0 * times}); }
  value number(double x) {
    auto const ones = base_.empty() ? 0 : choose.number("shape of a number", {0, 0, 0, 0, 0, 1, 1});
    return constant(shape(static_cast<std::size_t>(ones), 1), {x});
  }
  std::vector<double> contents(std::size_t count) {
    std::vector<double> all;
    if (integers_) {
      for (std::size_t i = 0; i < count; ++i) all.push_back(choose.number("integer", {1, 2, 3, 5, -1, -2, 7, 0}));
      return all;
    }
    all = choose.numbers("number", count, 0.3, 1.7, style_ != "positive" && style_ != "large mean");
    bool const narrow = type_ == element_type::float16 || type_ == element_type::bfloat16;
    for (std::size_t i = 0; i < count; ++i) {
      auto& x = all[i];
      if (style_ == "large mean") x += narrow ? 8 : 1000;
      if (style_ == "large") x *= 4;
      if (style_ == "huge") x *= narrow ? 4 : 150;  // exponentials overflow a float, and no double
      if (style_ == "tiny") x *= type_ == element_type::float16 ? 0.05 : 1e-9;
      if (style_ == "zeros" && i % 3 == 0) x = i % 2 == 0 ? 0.0 : -0.0;
      if (style_ == "alike" && i != 0) x = all[0];
    }
    if (type_ == bytes_)
      for (auto& x : all) x = std::min(std::floor(16 * std::fabs(x)), 100.0);
    return all;
  }

  // What a caller passes instead of those: of another size, or another sign.
  std::vector<double> other_contents(std::vector<double> numbers) {
    if (type_ == bytes_ || choose.one_in("passed", 2)) return contents(numbers.size());
    for (auto& x : numbers) x = -x;
    return numbers;
  }

  value fresh_leaf(shape const& of, bool as_constant) {
    auto const numbers = contents(count_of(of));
    auto const contents_made = make_tensor(type_, of, numbers);
    if (as_constant) {
      auto const v = g_.constant(contents_made);
      know(v, of, type_);
      return v;
    }
    auto const name = "in" + std::to_string(made.feeds.size());
    graph::dims declared;
    for (auto const e : of) {
      auto const how = symbolic_ && e != 1 ? choose.number("dimension", {0, 1, 1, 2}) : 0;
      if (how == 1)
        declared.emplace_back("n" + std::to_string(e));
      else
        declared.emplace_back(how == 2 ? std::int64_t{-1} : e);
    }
    bool const overridable = choose.one_in("may be overridden", 8);
    auto const v = overridable ? g_.input(name, contents_made) : g_.input(name, type_, declared);
    auto passed = contents_made;
    if (overridable) passed = make_tensor(type_, of, other_contents(numbers));
    made.feeds[name] = dense::of(passed);
    know(v, of, type_);
    return v;
  }
  // That of the whole, mostly; else the other leaves make what it is part of larger.
  shape first_shape() {
    auto made_shape = base_;
    if (!exact_shapes_ && !base_.empty() && !is_rearranged() && choose.one_in("enlarged", 8))
      made_shape[static_cast<std::size_t>(choose.number("enlarged axis", {0, 1, 2, 3})) % base_.size()] = 1;
    return made_shape;
  }
  value leaf(std::string const& name) {
    bool const first = captured_.empty();
    bool const as_constant = condition_on(name, &dsl::condition_detail::constant_value) != nullptr
                                 ? !choose.one_in("no constant", 12)
                                 : choose.one_in("a constant", first ? 16 : 3);
    auto const of = first ? first_shape() : leaf_shape(rule_, name, base_, axes_, exact_shapes_, choose);
    if (!leaves_.empty() && choose.one_in("the same leaf", 8))
      for (auto const v : leaves_)
        if (shape_of(v) == of && type_of(v) == type_) return v;
    if (auto const* same = condition_on(name, &dsl::condition_detail::uniform_is);
        same != nullptr && !choose.one_in("another number", 12)) {
      auto const v = g_.constant(make_tensor(type_, of, std::vector<double>(count_of(of), same->number)));
      know(v, of, type_);
      return v;
    }
    auto const* equal = condition_on(name, &dsl::condition_detail::of_equal_parts);
    auto const* parts = equal != nullptr ? equal : condition_on(name, &dsl::condition_detail::of_opposite_parts);
    auto const v = parts != nullptr && !choose.one_in("parts that differ", 10)
                       ? leaf_of_parts(of, as_constant, static_cast<std::int64_t>(parts->number), equal == nullptr)
                       : fresh_leaf(of, as_constant);
    leaves_.push_back(v);
    return v;
  }
  // Below 0, `count` is that of parts whose elements are apart. They are equal, or each is the negative of the one
  // before.
  value leaf_of_parts(shape of, bool as_constant, std::int64_t count, bool opposite) {
    auto const parts = count < 0 ? -count : count;
    if (of.empty() || of.back() % parts != 0) return fresh_leaf(of, as_constant);
    auto each = of;
    each.back() /= parts;
    if (count < 0) each.push_back(1);
    auto const part = fresh_leaf(each, as_constant);
    std::vector<value> one_by_one(static_cast<std::size_t>(parts), part);
    if (opposite)
      for (std::size_t i = 0; i < one_by_one.size(); i += 2) one_by_one[i] = add(opcode::neg, {part});
    auto all = each;
    all.back() *= parts;
    auto const last = static_cast<std::int64_t>(all.size()) - 1;
    auto const joined = joined_along(last, one_by_one, all);
    return count < 0 ? layout_node(opcode::reshape, joined, {{"shape", of, false}}, of) : joined;
  }

  // Terms

  value note(value v) {
    interior_.push_back(v);
    return looked_through(v, casts_, identities_);
  }
  value looked_through(value v, bool casts, bool identities) {
    bool const floats = is_floating(type_of(v));
    if (casts && floats && choose.one_in("a cast", 12)) v = cast(cast(v, element_type::float64), type_);
    if (identities && choose.one_in("an identity", 10)) v = add(opcode::identity, {v});
    return v;
  }

  value write(std::uint8_t at) {
    if (!wrong.empty()) return !leaves_.empty() ? leaves_[0] : number(1);
    auto const& t = pattern_[at];
    std::string const name{t.name};
    switch (t.kind) {
      case term_kind::capture:
      case term_kind::rest:
        if (auto const known = captured_.find(name); known != captured_.end()) return known->second;
        return captured_[name] = leaf(name);
      case term_kind::scalar: return number(number_of(name));
      case term_kind::number: {
        bool const at_its_edge = t.tolerance > 1e-4 && choose.one_in("as far off as it may be", 3);
        return number(at_its_edge ? t.number * (1 + 0.9 * t.tolerance) : t.number);
      }
      case term_kind::alternatives: return write(branch(t));
      case term_kind::users:
      case term_kind::optional: return write(t.child[0]);
      case term_kind::no_operand: return {};
      case term_kind::known_as:
        if (auto const known = captured_.find(name); known != captured_.end() && !choose.one_in("computed anew", 4))
          return known->second;
        return captured_[name] = write(t.child[0]);
      case term_kind::through: return looked_through(write(t.child[0]), t.name == "cast", t.name == "identity");
      case term_kind::wrapped: {
        auto const inside = write(t.child[0]);
        auto const* row = names_.row(names_.code(name), g_.version());
        if (row == nullptr || !choose.one_in("wrapped", 2)) return inside;
        return note(append(name, {inside}, {}, shape_of(inside), type_of(inside)));
      }
      case term_kind::result: {
        auto const of = t.child[0];
        if (results_.count(of) == 0) write_node(of);
        auto const& all = results_[of];
        if (t.index < all.size()) return all[t.index];
        fail("a result that the operator was not written with");
        return all[0];
      }
      case term_kind::rearranged: return write_rearranged(at);
      case term_kind::list: {
        shape of;
        for (int i = 0; i < t.children; ++i) of.push_back(static_cast<std::int64_t>(pattern_[t.child[i]].number));
        return list(of);
      }
      case term_kind::neutral:
      case term_kind::named:
      case term_kind::exact: break;
      default: fail("a term that stands on no left side"); return number(1);
    }
    auto const key = std::pair(at, base_);
    if (auto const before = written_.find(key); before != written_.end() && !choose.one_in("computed again", 4))
      return before->second;
    auto const v = write_operator(at);
    written_[key] = v;
    return v;
  }
  // One of several alternatives; another one where that has no results of the rank that is wanted.
  std::uint8_t branch(term const& t) {
    auto const at = static_cast<std::uint8_t>(choose.number("branch", {0, 1}) % t.children);
    for (std::uint8_t i = 0; i < t.children; ++i)
      if (auto const each = t.child[(at + i) % t.children]; fits(each)) return each;
    return t.child[at];
  }
  [[nodiscard]] bool fits(std::uint8_t at) const {
    auto const& t = pattern_[at];
    if (t.kind != term_kind::alternatives) return makes_rank(op_of(t), base_.size());
    for (std::uint8_t i = 0; i < t.children; ++i)
      if (fits(t.child[i])) return true;
    return false;
  }
  // Whether the number of that name is one of the operands, from `first` on, of an operator.
  [[nodiscard]] bool is_operand_of(opcode op, int first, std::string_view name) const {
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (auto const& t = pattern_[i]; node_of(t) == op)
        for (int k = first; k < t.children; ++k)
          if (auto const& each = pattern_[t.child[k]]; each.kind == term_kind::scalar && each.name == name) return true;
    return false;
  }
  double number_of(std::string const& name) {
    // What a selection puts in the place of what it leaves out, bounds, and exponents.
    if (numbers_.count(name) == 0 && !integers_ && is_operand_of(opcode::where, 1, name) &&
        !choose.one_in("any number", 8))
      numbers_[name] = choose.one_in("a finite one", 2) ? -2e30 : -HUGE_VAL;
    if (numbers_.count(name) == 0 && !integers_ && is_operand_of(opcode::maximum, 0, name) &&
        choose.one_in("a bound that nothing reaches", 2))
      numbers_[name] = -2e30;
    if (numbers_.count(name) == 0 && !integers_ && is_operand_of(opcode::pow, 1, name) &&
        !choose.one_in("any number", 4)) {
      constexpr double exponents[] = {2, 2, 0.5, 0.5, 3, -1, 1.5, 1};
      numbers_[name] = exponents[choose.number("exponent", {0, 1, 2, 3, 4, 5, 6, 7})];
    }
    if (numbers_.count(name) == 0) {
      constexpr double all[] = {1e-5, 1e-5, 0.25, 0.5, 2, 1, 1e-12, 0, 3, -0.75, 1e-3, 0.5, 1.5};
      constexpr double small[] = {1e-12, 1e-9, 1e-10, 1e-5, 0};
      numbers_[name] = integers_          ? choose.number("scalar", {2, 3, -5, 1, 0})
                       : style_ == "tiny" ? small[choose.number("small scalar", {0, 1, 2, 3, 4})]
                                          : all[choose.number("scalar", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})];
    }
    return numbers_[name];
  }
  value write_operator(std::uint8_t at) {
    auto const& t = pattern_[at];
    if (t.kind == term_kind::neutral && t.attributes == 0) {
      auto const group = info(t.op).group;
      if (group == op_group::sum || t.op == opcode::neg) return write_sum(at);
      if (group == op_group::product && !(integers_ && t.op == opcode::div)) return write_product(at);
    }
    return write_node(at);
  }

  // The parameters that the pattern states of an operator.
  std::vector<parameter> stated(term const& t, opcode op) {
    std::vector<parameter> all;
    for (int c = t.operands(); c < t.children; ++c) {
      auto const& a = pattern_[t.child[c]];
      std::string const name{a.name};
      auto const* known = parameter_of(op, name);
      parameter p{name, false, known != nullptr ? known->real : a.index == 0, a.number, {}};
      if (a.children == 1) {
        auto const& held = pattern_[a.child[0]];
        if (held.kind == term_kind::list) {
          p.listed = true;
          for (int i = 0; i < held.children; ++i)
            p.list.push_back(static_cast<std::int64_t>(pattern_[held.child[i]].number));
        } else if (held.kind == term_kind::scalar) {
          p.number = number_of(std::string(held.name));
        } else if (held.kind == term_kind::parameter) {
          if (!draw_parameter(op, std::string(held.name), p)) continue;
        } else {
          p.number = held.number;
        }
      }
      all.push_back(std::move(p));
    }
    return all;
  }
  // A parameter that the pattern captures: what it is of this operator, once for all that have its name. False: absent.
  bool draw_parameter(opcode op, std::string const& name, parameter& p) {
    if (auto const known = parameters_.find(name); known != parameters_.end()) {
      auto const kept = p.name;
      p = known->second;
      p.name = kept;
      return true;
    }
    auto const rank = static_cast<std::int64_t>(base_.size());
    if (p.name == "axes") {
      if (info(op).shape != shape_function::reduce) return false;
      p.listed = true;
      p.list = axes_named(name);
    } else if (p.name == "axis") {
      if (rank == 0) return false;
      p.number = static_cast<double>(choose.number("axis", {-1, -1, -1, -2}));
      p.number = std::max(p.number, -static_cast<double>(rank));
      axes_[name].clear();
      for (auto axis = static_cast<std::int64_t>(p.number); axis < 0; ++axis) axes_[name].push_back(axis);
    } else if (p.name == "epsilon") {
      p.number = number_of("parameter " + name);
      if (p.number < 0) p.number = -p.number;
    } else if (p.real) {
      constexpr double all[] = {1, 1, 0.5, 2, -0.75, 3};
      p.number = all[choose.number("real", {0, 1, 2, 3, 4, 5})];
    } else if (p.name == "transA" || p.name == "transB" || p.name == "keepdims") {
      p.number = choose.number("flag", {0, 1});
    } else {
      return false;  // what is open is drawn with the operator
    }
    parameters_[name] = p;
    return true;
  }
  shape const& axes_named(std::string const& name) {
    auto& axes = axes_[name];
    if (axes.empty() && !base_.empty()) {
      auto const rank = static_cast<std::int64_t>(base_.size());
      bool const trailing =
          condition_on(name, &dsl::condition_detail::trailing) != nullptr && !choose.one_in("any axes", 8);
      if (auto const* from = condition_on(name, &dsl::condition_detail::from_one_on);
          from != nullptr && !choose.one_in("any axes", 8)) {
        for (auto axis = static_cast<std::int64_t>(from->number) - rank; axis < 0; ++axis) axes.push_back(axis);
        if (!axes.empty()) return axes;
      }
      auto const first = trailing ? -1 : choose.number("reduced", {-1, -1, -2, -3, -4});
      axes.push_back(std::max<std::int64_t>(first, -rank));
      if (rank > 1 && axes[0] == -1 && choose.one_in("two axes", 4)) axes.push_back(-2);
    }
    return axes;
  }

  // A node as it stands, with operands of the shapes that make the result what is wanted.
  value write_node(std::uint8_t at) {
    auto const& t = pattern_[at];
    auto const op = node_of(t);
    auto parameters = stated(t, op);
    if (op != opcode::opaque && info(op).shape == shape_function::reduce) return write_reduction(at, op, parameters);
    if (op == opcode::dequantize) return write_dequantized(at);
    if (op == opcode::quantize) return write_quantized(at);
    auto const count = static_cast<std::size_t>(t.operands());
    layer_call call{op, base_, count};
    call.alike = is_rearranged();
    call.batched = multiplies_batches();
    if (auto const& first = pattern_[t.child[0]]; count != 0 && first.kind == term_kind::capture)
      if (auto const known = captured_.find(std::string(first.name)); known != captured_.end())
        call.first = &shape_of(known->second);
    for (auto const& p : parameters) call.stated.push_back({p.name, p.listed, p.number, p.list});
    auto const shaped = shapes_of_operands(call, whole_, choose);
    std::vector<value> operands;
    for (std::size_t i = 0; i < count; ++i) {
      auto const child = t.child[i];
      if (i > 0 && call.drawn_operand(i, source_of(op, i))) {
        auto const* p = call.find(source_of(op, i));
        operands.push_back(listed_operand(child, p->list));
        continue;
      }
      if (i < call.lists.size() && !call.lists[i].empty()) {
        operands.push_back(listed_operand(child, call.lists[i]));
        continue;
      }
      if (i < call.indices.size() && call.indices[i] != 0) {
        operands.push_back(indices(child, call.operands[i], call.indices[i]));
        continue;
      }
      if (pattern_[child].kind == term_kind::optional && choose.one_in("left out", 3) && i + 1 == count) continue;
      if (shaped && i < call.operands.size())
        operands.push_back(write_shaped(child, call.operands[i]));
      else
        operands.push_back(write(child));
    }
    for (int c = t.operands(); c < t.children; ++c) {
      auto const& a = pattern_[t.child[c]];
      if (a.children == 0 || pattern_[a.child[0]].kind != term_kind::parameter) continue;
      std::string const held{pattern_[a.child[0]].name};
      auto const* p = call.find(std::string_view(a.name));
      if (p != nullptr && parameters_.count(held) == 0)
        parameters_[held] = {p->name, p->listed, false, p->number, p->list};
    }
    for (auto const& p : call.drawn)
      if (!call.is_operand(p.name) &&
          std::none_of(parameters.begin(), parameters.end(), [&](auto const& q) { return q.name == p.name; }))
        parameters.push_back({p.name, p.listed, false, p.number, p.list});
    bool const by_name = t.kind != term_kind::neutral;
    auto const* row = by_name ? names_.row(names_.code(std::string_view(t.name)), g_.version()) : row_of(op);
    if (row == nullptr && !by_name) return number(1);
    if (!by_name && operands.size() == 2 && info(op).commutative && choose.one_in("commuted", 2))
      std::swap(operands[0], operands[1]);
    std::vector<named> attributes;
    auto type = operands.empty() ? type_ : type_of(operands[op == opcode::where && operands.size() > 1 ? 1 : 0]);
    if (op != opcode::opaque && info(op).type == type_function::boolean) type = element_type::boolean;
    for (auto const& p : parameters) {
      if (op == opcode::cast && p.name == "to") type = static_cast<element_type>(static_cast<int>(p.number));
      place(row, p, operands, attributes);
    }
    auto made_shape = base_;
    if (!shaped && op != opcode::opaque) {
      made_shape.clear();
      for (std::size_t i = 0; i < count && i < operands.size(); ++i)
        if (operands[i]) made_shape = broadcast(made_shape, shape_of(operands[i]));
    }
    if (op == opcode::where) operands[0] = condition_of(operands[0]);
    if (op == opcode::logical_not || op == opcode::logical_and || op == opcode::logical_or || op == opcode::logical_xor)
      for (auto& v : operands) v = condition_of(v);
    std::uint32_t results = 1;
    for (std::uint16_t i = 0; i < pattern_.size; ++i)
      if (pattern_[i].kind == term_kind::result && pattern_[i].child[0] == at)
        results = std::max<std::uint32_t>(results, pattern_[i].index + 1u);
    if (call.parts > 1) results = static_cast<std::uint32_t>(call.parts);
    auto all =
        append(by_name ? std::string_view(t.name) : row->name, operands, attributes, {made_shape}, type, results);
    if (op == opcode::split)
      for (auto const v : all) shapes_[v.id] = made_shape;
    results_[at] = all;
    return note(all[0]);
  }
  // The parameter that the dialect keeps in an operand; none where there is no such.
  [[nodiscard]] std::string_view source_of(opcode op, std::size_t operand) const {
    if (op == opcode::opaque) return {};
    auto const* row = names_.emitted(op, g_.version(), target::standard);
    if (row != nullptr)
      for (auto const& s : row->parameters)
        if (s.where == parameter_source::kind::operand && s.operand == static_cast<int>(operand)) return s.parameter;
    return {};
  }
  value listed_operand(std::uint8_t at, shape const& of) {
    auto const v = list(of);
    auto const& t = pattern_[at];
    if (t.kind == term_kind::capture) captured_[std::string(t.name)] = v;
    return v;
  }
  // Places in an axis of so many, some of them counted from its end, unless the rule wants none of these; or all of
  // them in order.
  value indices(std::uint8_t at, shape const& of, std::int64_t count) {
    auto const& t = pattern_[at];
    std::string const captured = t.kind == term_kind::capture ? std::string(t.name) : std::string();
    if (auto const there = captured_.find(captured); !captured.empty() && there != captured_.end())
      if (shape_of(there->second) == of) return there->second;
    bool const in_order = condition_on(captured, &dsl::condition_detail::counts_as_far) != nullptr &&
                          !choose.one_in("in another order", 10);
    bool const from_end = condition_on(captured, &dsl::condition_detail::from_the_front) == nullptr;
    std::vector<double> places;
    for (std::size_t i = 0; i < count_of(of); ++i) {
      auto place = choose.number("index", {0, 1, 2, 3, 4}) % static_cast<int>(count);
      if (in_order) place = static_cast<int>(i % static_cast<std::size_t>(of.back()));
      places.push_back(from_end && !in_order && choose.one_in("from the end", 6) ? place - static_cast<int>(count)
                                                                                 : place);
    }
    auto const contents_made = make_tensor(element_type::int64, of, places);
    value v;
    if (in_order || t.kind == term_kind::scalar) {
      v = g_.constant(contents_made);
    } else {
      auto const name = "in" + std::to_string(made.feeds.size());
      v = g_.input(name, element_type::int64, graph::dims(of.begin(), of.end()));
      made.feeds[name] = dense::of(contents_made);
    }
    know(v, of, element_type::int64);
    if (!captured.empty()) captured_[captured] = v;
    return v;
  }
  // What chooses is a boolean.
  value condition_of(value v) {
    if (!v || type_of(v) == element_type::boolean) return v;
    return append("Greater", {v, constant({}, {1})}, {}, shape_of(v), element_type::boolean);
  }
  value write_shaped(std::uint8_t at, shape wanted) {
    auto const before = std::exchange(base_, std::move(wanted));
    bool const exact = std::exchange(exact_shapes_, true);
    auto v = write(at);
    base_ = before;
    exact_shapes_ = exact;
    return v;
  }

  value write_rearranged(std::uint8_t at) {
    auto const& t = pattern_[at];
    rearrangement what;
    shape below;
    if (!shape_below(t, base_, what, below)) {
      fail("a shape that is not rearranged");
      return number(1);
    }
    auto const inside = write_shaped(t.child[0], below);
    if (!wrong.empty() || shape_of(inside) != below) {
      fail("a value of another shape than is rearranged");
      return inside;
    }
    return note(rearranged(what, inside, base_));
  }
  value layout_node(opcode op, value of, std::vector<listed> const& parameters, shape made_shape) {
    auto const* row = row_of(op);
    if (row == nullptr) return of;
    std::vector<value> operands{of};
    std::vector<named> attributes;
    for (auto const& p : parameters)
      if (p.name.empty())
        operands.push_back(list(p.list));
      else
        place(row, {p.name, !p.one, false, p.one ? static_cast<double>(p.list[0]) : 0, p.list}, operands, attributes);
    return append(row->name, operands, attributes, std::move(made_shape), type_of(of));
  }
  // A Gather of constant indices.
  value indexed(value of, std::int64_t axis, shape const& indices, shape const& of_indices, shape made_shape) {
    auto const* row = row_of(opcode::gather);
    if (row == nullptr) return of;
    auto const places = g_.constant(make_tensor(of_indices, span<std::int64_t const>(indices)));
    know(places, of_indices, element_type::int64);
    std::vector<value> operands{of, places};
    std::vector<named> attributes;
    place(row, {"axis", false, false, static_cast<double>(axis), {}}, operands, attributes);
    return append(row->name, operands, attributes, std::move(made_shape), type_of(of));
  }
  value joined_along(std::int64_t axis, std::vector<value> operands, shape made_shape) {
    auto const* row = row_of(opcode::concat);
    if (row == nullptr) return operands[0];
    std::vector<named> attributes;
    place(row, {"axis", false, false, static_cast<double>(axis), {}}, operands, attributes);
    return append(row->name, operands, attributes, std::move(made_shape), type_of(operands[0]));
  }

  // Of elements of 8 bits, all of one type: something that is quantised, or a leaf.
  value write_dequantized(std::uint8_t at) {
    auto const child = pattern_[at].child[0];
    if (bytes_ == element_type::unknown) bytes_ = choose.one_in("signed", 2) ? element_type::int8 : element_type::uint8;
    if (node_of(pattern_[child]) == opcode::quantize) return write_steps(at, opcode::dequantize, write(child), type_);
    auto const floats = std::exchange(type_, bytes_);
    auto const of = write(child);
    type_ = floats;
    return write_steps(at, opcode::dequantize, of, floats);
  }
  value write_quantized(std::uint8_t at) {
    // Without a zero point they have no sign.
    bool const signless = pattern_[at].operands() < 3;
    if (bytes_ == element_type::unknown)
      bytes_ = !signless && choose.one_in("signed", 2) ? element_type::int8 : element_type::uint8;
    return write_steps(at, opcode::quantize, write(pattern_[at].child[0]), bytes_);
  }
  // With a scale and perhaps a zero point that are numbers.
  value write_steps(std::uint8_t at, opcode op, value of, element_type result_type) {
    auto const& t = pattern_[at];
    std::vector<value> operands{of};
    auto const number = [&](std::uint8_t child, element_type type, double is) {
      auto const& inside =
          pattern_[child].kind == term_kind::optional ? pattern_[pattern_[child].child[0]] : pattern_[child];
      auto& v = captured_[std::string(inside.name)];
      if (!v) {
        v = g_.constant(make_tensor(type, shape{}, std::vector<double>{is}));
        know(v, {}, type);
      }
      return v;
    };
    operands.push_back(number(t.child[1], type_, choose.one_in("a coarse scale", 2) ? 0.25 : 0.0625));
    bool const optional = t.operands() > 2 && pattern_[t.child[2]].kind == term_kind::optional;
    if (t.operands() > 2 && !(optional && choose.one_in("no zero point", 3)))
      operands.push_back(number(t.child[2], bytes_, choose.number("zero point", {0, 3, 7})));
    auto const made_shape = shape_of(of);
    auto const* row = row_of(op);
    return row == nullptr ? of : note(append(row->name, operands, {}, made_shape, result_type));
  }

  // The node keeps its axes, or they are put back.
  value write_reduction(std::uint8_t at, opcode op, std::vector<parameter> const& parameters) {
    auto const& t = pattern_[at];
    std::string name = "axes";
    shape axes;
    double keeps = 1;
    for (auto const& p : parameters) {
      if (p.name == "axes") axes = p.listed ? p.list : shape{static_cast<std::int64_t>(p.number)};
      if (p.name == "keepdims") keeps = p.number;
    }
    for (int c = t.operands(); c < t.children; ++c)
      if (auto const& a = pattern_[t.child[c]]; a.children == 1 && a.name == "axes")
        name = std::string(pattern_[a.child[0]].name);
    if (axes.empty()) axes = axes_named(name);
    auto const of = write(t.child[0]);
    auto const rank = static_cast<std::int64_t>(shape_of(of).size());
    auto kept = shape_of(of);
    for (auto& axis : axes) {
      if (axis < -rank || axis >= rank) {
        fail("an axis that the operand lacks");
        return of;
      }
      kept[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = 1;
      if (axis < 0 && choose.one_in("from the first", 4)) axis += rank;
    }
    auto const* row = row_of(op);
    if (row == nullptr) return of;
    bool const dropped = keeps != 0 && choose.one_in("axes put back", 6);
    std::vector<value> operands{of};
    std::vector<named> attributes;
    place(row, {"axes", true, false, 0, axes}, operands, attributes);
    if (keeps == 0 || dropped || choose.one_in("keepdims written", 2))
      place(row, {"keepdims", false, false, keeps == 0 || dropped ? 0.0 : 1.0, {}}, operands, attributes);
    shape gone;
    std::vector<bool> reduced(kept.size(), false);
    for (auto const axis : axes) reduced[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (!reduced[i]) gone.push_back(kept[i]);
    auto v = append(row->name, operands, attributes, keeps == 0 || dropped ? gone : kept, type_of(of));
    if (dropped) {
      auto const* put = row_of(opcode::unsqueeze);
      if (put == nullptr) return v;
      std::vector<value> back{v};
      std::vector<named> of_back;
      place(put, {"axes", true, false, 0, axes}, back, of_back);
      v = append(put->name, back, of_back, kept, type_of(of));
    }
    results_[at] = {v};
    return note(v);
  }

  rewrite_rule const& rule_;
  std::string_view style_{};
  element_type bytes_ = element_type::unknown;  // of what is quantised
  bool casts_ = false, identities_ = false, symbolic_ = false, exact_shapes_ = false;
  shape base_{}, whole_{};
  std::vector<value> leaves_{}, interior_{};
  std::map<std::string, double> numbers_{};
  std::map<std::string, shape> axes_{};
  std::map<std::string, parameter> parameters_{};
  std::map<std::pair<std::uint8_t, shape>, value> written_{};
  std::map<std::uint8_t, std::vector<value>> results_{};
};

}  // namespace fuse::inline v0::detail
