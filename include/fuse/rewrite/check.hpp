// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/eval/node_call.hpp>
#include <fuse/eval/nudging.hpp>
#include <fuse/eval/reference.hpp>
#include <fuse/infer/congruence.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/rewrite/options.hpp>
#include <fuse/rewrite/replacement.hpp>

namespace fuse::inline v0 {

namespace detail {

/// Values of a part of a graph, computed from random ones: extents that are not known are small numbers, values that
/// nothing computes, or nothing that is known here, are random, and equal where they are one computation. What a
/// replacement matched or made is computed; of what is before it, as much as is needed to tell equal values to be so,
/// in practice.
template <class Image>
class basic_random_values {
 public:
  static constexpr std::size_t most_elements = std::size_t{1} << 18, most_before = 96;

  /// How extents that are not known are chosen: each in its own way, some 1, all alike.
  enum class extents : std::uint8_t { different, some_one, alike };

  basic_random_values(basic_replacement<Image> const& of, extents how, bool positive, nudging nudged = {})
      : of_(of),
        image_(of.image),
        facts_(of.known),
        congruent_(of.image, of.known, of.names),
        how_(how),
        positive_(positive),
        nudged_(nudged.moved),
        nudges_(nudged.way),
        inside_(of.matched.begin(), of.matched.end()) {
    inside_.insert(of.shared.begin(), of.shared.end());
  }

  /// The value, or null: `reason` says why it is not known.
  [[nodiscard]] dense const* value(value_id v) {
    if (auto const found = values_.find(v); found != values_.end()) return found->second.get();
    if (!compute(v)) values_[v] = nullptr;
    return values_[v].get();
  }
  std::string reason{};
  /// Whether something was taken for random that is computed from what others are, too.
  [[nodiscard]] bool is_cut() const { return cut_; }

 private:
  bool fail(std::string why) {
    if (reason.empty()) reason = std::move(why);
    return false;
  }
  bool keep(value_id v, dense made) {
    values_.try_emplace(v, std::make_unique<dense const>(std::move(made)));  // what is known stays where it is
    return true;
  }

  // Names and dimensions that nobody knows.
  [[nodiscard]] std::int64_t chosen(extent e) const {
    std::int64_t made = 3;
    if (how_ != extents::alike) made = 2 + static_cast<std::int64_t>((e.symbol() * 2654435761u >> 16) % 4);
    if (how_ == extents::some_one && (e.symbol() * 2246822519u >> 13) % 3 == 0) made = 1;
    return made < facts_.symbols().least(e) ? facts_.symbols().least(e) : made;
  }
  bool number(extent e, std::int64_t& into) const {
    return facts_.symbols().value(
        e, [&](extent of) { return chosen(of); }, into);
  }
  bool shape_of(value_id v, std::vector<std::int64_t>& into) {
    into.clear();
    if (!facts_.has_rank(v)) return fail("the rank of '" + image_.source->value_name(v) + "' is not known");
    double count = 1;
    for (auto e : facts_.shape(v)) {
      std::int64_t length = 0;
      if (!number(e, length) || length < 0) return fail("its extents could not be chosen");
      into.push_back(length);
      count *= static_cast<double>(length);
    }
    return count <= static_cast<double>(most_elements) || fail("'" + image_.source->value_name(v) + "' is too large");
  }

  bool compute(value_id v) {
    dense made;
    if (!shape_of(v, made.shape)) return false;
    made.type = facts_.type(v);
    if (auto const held = image_.value(v).constant ? image_.source->constant(v) : tensor_view{}; held) {
      if (held.size() != count_of(made.shape)) return fail("a constant holds no numbers");
      made = dense::of(held);
      if (nudged_ == nudging::what::constants) nudge_by_type(made, nudges_);
      return keep(v, std::move(made));
    }
    if (known_contents(v, made)) return keep(v, std::move(made));
    auto const n = image_.producer(v);
    bool const wanted = n != absent && (n >= of_.first_new || inside_.contains(n));
    if (wanted) return compute_node(n, true);
    if (n != absent && may_look_below(n) && compute_node(n, false)) return true;
    return draw(v, std::move(made));
  }

  // What parameters that are operands are read from: an extent that is not known is a number here.
  struct computed_values {
    static constexpr std::size_t most_contents = facts::most_contents;
    basic_random_values const& all;

    bool integers(value_id v, std::vector<std::int64_t>& into) const {
      auto const* held = all.found(v);
      if (held == nullptr || !held->whole()) return all.facts_.integers(v, into);
      into = held->integers;
      return true;
    }
    bool number(value_id v, double& into) const {
      auto const* held = all.found(v);
      if (held == nullptr || held->size() != 1) return all.facts_.number(v, into);
      into = in_doubles(*held).elements[0];
      return true;
    }
    [[nodiscard]] int rank(value_id v) const { return all.facts_.rank(v); }
  };
  [[nodiscard]] dense const* found(value_id v) const {
    auto const at = values_.find(v);
    return at == values_.end() ? nullptr : at->second.get();
  }

  // Numbers for its elements, in its type.
  static void fill(dense& made, std::vector<double> numbers) {
    made = converted({std::move(made.shape), std::move(numbers), element_type::float64, {}}, made.type);
  }

  bool known_contents(value_id v, dense& made) const {
    auto const count = count_of(made.shape);
    double all = 0;
    if (facts_.uniform(v, all)) return fill(made, std::vector<double>(count, all)), true;
    if (auto const numbers = facts_.numbers(v); facts_.has_numbers(v) && numbers.size() == count)
      return fill(made, {numbers.begin(), numbers.end()}), true;
    auto const integers = facts_.symbolic_integers(v);
    if (!facts_.has_integers(v) || integers.size() != count) return false;
    auto exact = integers_in(made.shape, {});
    for (auto e : integers)
      if (!number(e, exact.integers.emplace_back())) return false;
    return made = converted(std::move(exact), made.type), true;
  }

  // What is cheap to compute is looked below, as far as there is room.
  [[nodiscard]] bool may_look_below(node_id n) {
    auto const op = op_of(image_, n);
    if (op == opcode::opaque || info(op).kind == op_kind::anchor || image_.node(n).has_bodies) return false;
    if (before_ == most_before) return cut_ = true, false;
    ++before_;
    return true;
  }

  bool compute_node(node_id n, bool wanted) {
    auto const op = op_of(image_, n);
    auto const refuse = [&](std::string why) {
      cut_ = cut_ || !wanted;  // a random value takes its place, which the facts may contradict
      return wanted ? fail(std::move(why)) : false;
    };
    std::vector<dense const*> operands(image_.operand_count(n), nullptr);
    for (std::uint32_t i = 0; i < operands.size(); ++i)
      if (image_.operand(n, i) != absent && (operands[i] = value(image_.operand(n, i))) == nullptr) return refuse({});
    std::vector<dense> results(image_.node(n).result_count);
    for (std::uint32_t i = 0; i < results.size(); ++i) results[i].type = facts_.type(image_.result(n, i));
    computed_values const computed{*this};
    node_parameters<Image, computed_values> const parameters(image_, computed, of_.names, n);
    auto const name = [&] { return std::string(image_.source->op_name(n)); };
    switch (evaluate(op, operands, parameters, results)) {
      case evaluation::done: break;
      case evaluation::unknown: return wanted ? fail("there is no evaluation of " + name()) : false;
      case evaluation::misfit: return refuse("the operands of " + name() + " do not fit where extents are chosen");
    }
    std::vector<std::int64_t> shape;
    for (std::uint32_t i = 0; i < results.size(); ++i) {
      auto const v = image_.result(n, i);
      if (results[i].size() == 0 && results[i].shape.empty()) continue;  // a result that is not computed
      if (!shape_of(v, shape)) return false;
      if (results[i].shape != shape) return refuse("extents that were chosen contradict " + name());
      if (nudged_ == nudging::what::results) nudge(results[i], op, nudges_);
      keep(v, std::move(results[i]));
    }
    return true;
  }

  // A random value; one that is the same computation as another equals it.
  bool draw(value_id v, dense made) {
    for (auto other : drawn_)
      if (facts_.type(other) == made.type && congruent_.same(v, other)) {
        auto same = *values_[other];
        return same.shape == made.shape ? keep(v, std::move(same)) : fail("its extents could not be chosen");
      }
    auto const count = count_of(made.shape);
    std::vector<double> numbers;
    auto const rows = is_integer(made.type) ? indexed(v) : indices{};
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(rows.any ? random(rows) : random(made.type));
    fill(made, std::move(numbers));
    drawn_.push_back(v);
    return keep(v, std::move(made));
  }

  // What a value may hold that names rows of tables: of each, whether from the end, too.
  struct indices {
    bool any = false, from_end = true;
    std::int64_t count = 0;

    void name(std::int64_t rows, bool from_the_end) {
      count = any && count < rows ? count : rows;
      from_end = from_end && from_the_end;
      any = true;
    }
  };
  [[nodiscard]] indices indexed(value_id v) const {
    indices named;
    name_rows(v, named, 8);
    return named;
  }
  void name_rows(value_id v, indices& named, int most) const {
    image_.for_each_user(v, [&](node_id user) {
      auto const op = op_of(image_, user);
      for (std::uint32_t i = 0; i < image_.operand_count(user); ++i)
        if (auto const by = rows_named_by(op, i); by.table >= 0 && image_.operand(user, i) == v)
          if (std::int64_t rows = 0; rows_of(user, static_cast<std::uint32_t>(by.table), rows))
            named.name(rows, by.from_end);
      bool const passed_on =
          image_.operand(user, 0) == v && op != opcode::gather && (op == opcode::cast || may_move_elements(op));
      if (passed_on && most > 0 && image_.node(user).result_count != 0) name_rows(image_.result(user), named, most - 1);
    });
  }
  // How many rows an operand has, along the axis of the operator, or else the first.
  [[nodiscard]] bool rows_of(node_id n, std::uint32_t table, std::int64_t& into) const {
    auto const v = table < image_.operand_count(n) ? image_.operand(n, table) : absent;
    if (v == absent || !facts_.has_rank(v)) return false;
    auto const shape = facts_.shape(v);
    double axis = 0;
    if (!read_number(image_, facts_, of_.names, n, "axis", axis)) axis = 0;
    if (axis < 0) axis += static_cast<double>(shape.size());
    return axis >= 0 && axis < static_cast<double>(shape.size()) && number(shape[static_cast<std::size_t>(axis)], into);
  }
  [[nodiscard]] double random(indices const& of) {
    auto const first = of.from_end && !positive_ ? -of.count : 0;
    return std::floor(static_cast<double>(of.count - first) * drawing_.from_0_to_1()) + static_cast<double>(first);
  }
  [[nodiscard]] double random(element_type type) {
    auto const from_0_to_1 = drawing_.from_0_to_1();
    if (type == element_type::boolean) return from_0_to_1 < 0.5 ? 0 : 1;
    if (!is_integer(type)) return positive_ ? 0.25 + 2 * from_0_to_1 : 3 * from_0_to_1 - 1.5;
    auto const whole = std::floor(9 * from_0_to_1);
    return positive_ || is_unsigned(type) ? 1 + whole : whole < 5 ? whole - 5 : whole - 4;
  }

  basic_replacement<Image> const& of_;
  Image const& image_;
  facts const& facts_;
  basic_congruence<Image> congruent_;
  extents how_;
  bool positive_, cut_ = false;
  std::size_t before_ = 0;
  random_bits drawing_{1};
  nudging::what nudged_;
  random_bits nudges_;
  std::unordered_set<node_id> inside_;
  std::unordered_map<value_id, std::unique_ptr<dense const>> values_;  // null: it cannot be computed
  std::vector<value_id> drawn_;                                        // values that are random
};

/// What new constants of an element type may be off by, relative to the largest result: they are rounded to it.
[[nodiscard]] constexpr double tolerance(element_type type) {
  switch (type) {
    case element_type::float16: return 2e-3;
    case element_type::bfloat16: return 2e-2;
    default: return 1e-5;
  }
}

/// How far a result, of what is replaced or of what replaces it, moves where numbers are nudged.
template <class Values, class Image, class How>
[[nodiscard]] displacement moved(basic_replacement<Image> const& made, How const& round, std::size_t root, bool after,
                                 dense const& still, nudging::what what) {
  displacement found(still);
  for (std::uint64_t way = 1; way <= nudging::ways; ++way) {
    Values all(made, round.how, round.positive, {what, way});
    dense const* there = nullptr;
    for (std::size_t i = 0; i <= root; ++i) {  // in this order, so that what is drawn is the same
      auto const* const before = all.value(made.roots[i]);
      there = before != nullptr && (after || i < root) ? all.value(made.results[i]) : before;
    }
    if (there != nullptr) found.add(*there);
  }
  return found;
}

/// A number as a sentence tells it.
[[nodiscard]] inline std::string told(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

/// Where `made` differs from `was`, by more than rounding, among the elements that are numbers before; an empty
/// text where it does not. Where they do not agree without, it is asked how far rounding moves them: `of_constants`
/// what is made of new ones, each of which loses a little, `of_results` what there was.
template <class Constants, class Results>
[[nodiscard]] std::string difference(dense const& was, dense const& made, std::string const& name,
                                     std::size_t& compared, Constants const& of_constants, Results const& of_results) {
  auto const before = in_doubles(was), after = in_doubles(made);
  if (before.shape != after.shape) return "'" + name + "' would have another shape";
  double range = 0;
  for (auto x : before.elements)
    if (std::isfinite(x) && std::fabs(x) > range) range = std::fabs(x);
  double allowed = tolerance(was.type) * range;
  std::optional<displacement> own;
  for (std::size_t i = 0; i < before.elements.size(); ++i) {
    auto const a = before.elements[i], b = after.elements[i];
    if (!std::isfinite(a)) continue;
    ++compared;
    if (std::fabs(a - b) <= allowed) continue;
    if (!own) {
      own.emplace(of_results());
      allowed += 4 * of_constants().of_all();
    }
    if (!own->explains(i, b, allowed))
      return "element " + std::to_string(i) + " of '" + name + "' would be " + told(b) + " and is " + told(a) +
             ", for random inputs";
  }
  return {};
}

}  // namespace detail

/// Computes what is replaced and what replaces it, in double precision and on random inputs, several times, and
/// compares them: the check of `rewrite_options`. Extents that are not known are small numbers, at one time some of
/// them 1. It is unknown where an operator has no evaluation (eval/reference.hpp), where a tensor is large, or where no
/// numbers come out. Complexity: a few evaluations of what was matched; where random values must be compared, linear in
/// the graph.
template <class Image = graph_image>
[[nodiscard]] check_result check_by_evaluation(basic_replacement<Image> const& made) {
  using values = detail::basic_random_values<Image>;
  using extents = typename values::extents;
  struct {
    extents how;
    bool positive;
  } constexpr rounds[] = {
      {extents::different, false}, {extents::some_one, true}, {extents::alike, false}, {extents::alike, true}};
  std::string reason;
  std::size_t compared = 0;
  for (auto const& round : rounds) {
    if (round.how == extents::alike && compared != 0) break;
    values all(made, round.how, round.positive);
    for (std::size_t i = 0; i < made.roots.size(); ++i) {
      auto const *before = all.value(made.roots[i]), *after = all.value(made.results[i]);
      if (before == nullptr || after == nullptr) break;
      auto wrong = detail::difference(
          *before, *after, made.image.source->value_name(made.roots[i]), compared,
          [&] { return detail::moved<values>(made, round, i, true, *after, detail::nudging::what::constants); },
          [&] { return detail::moved<values>(made, round, i, false, *before, detail::nudging::what::results); });
      if (wrong.empty()) continue;
      if (all.is_cut()) return {check_result::verdict::unknown, "too much stands before it"};
      return {check_result::verdict::wrong, std::move(wrong)};
    }
    if (reason.empty()) reason = all.reason;
  }
  if (compared != 0) return {};
  return {check_result::verdict::unknown, reason.empty() ? "no number comes out of it" : std::move(reason)};
}

}  // namespace fuse::inline v0
