// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/eval/conversion.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/eval/graph.hpp>
#include <fuse/eval/nudging.hpp>
#include <fuse/eval/rounding.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/rewrite/check.hpp>
#include <fuse/verify/sample.hpp>

namespace fuse::inline v0::detail {

/// A graph as it is evaluated. What it is made of must outlive it.
struct evaluable {
  graph_image const& image;
  facts const& known;
  dialect const& names;
  span<value_id const> outputs;

  [[nodiscard]] bool is_input(value_id v) const {
    return image.value(v).region == 0 && image.producer(v) == absent && !image.value(v).constant;
  }
  [[nodiscard]] std::string name(value_id v) const { return image.source->value_name(v); }
};

/// A graph of any type with what is known of it.
template <class Graph>
class readable {
 public:
  explicit readable(Graph const& g) : bound_(g, names_in(names), names.newest), known_(bound_.image, names) {
    if (!bound_.cyclic()) known_.run();
    for (auto const& v : graph_traits<Graph>::outputs(g)) outputs_.push_back(bound_.number(v));
  }
  [[nodiscard]] bool cyclic() const { return bound_.cyclic(); }
  [[nodiscard]] graph_binding<Graph const> const& bound() const { return bound_; }
  [[nodiscard]] evaluable view() const { return {bound_.image, known_, names, outputs_}; }

 private:
  static constexpr auto const& names = dialect_of<Graph>;
  graph_binding<Graph const> bound_;
  facts known_;
  std::vector<value_id> outputs_;
};

/// All values of a graph, node by node.
class evaluated_values {
 public:
  enum class rounding : std::uint8_t {
    none,   ///< in double precision, but for Casts to types narrower than all results: what these lose is lost for good
    types,  ///< each result is rounded to its type
  };

  evaluated_values(evaluable const& of, graph_feeds const& given, rounding how, nudging nudged = {})
      : run_(of.image, of.known, of.names, how == rounding::types) {
    if (how == rounding::none) run_.round_casts_below(narrowest_output(of));
    if (nudged.moved == nudging::what::results) run_.nudge_results(nudged.way);
    random_bits by(nudged.way);
    for (value_id v = 0; v < of.image.value_count(); ++v) {
      if (of.is_input(v))
        if (auto const at = given.find(of.name(v)); at != given.end()) run_.give(v, at->second);
      if (nudged.moved != nudging::what::constants || !of.image.value(v).constant || !is_floating(of.known.type(v)))
        continue;
      auto const held = of.image.source->constant(v);
      if (!held || held.size() != count_of(held.shape)) continue;
      auto contents = dense::of(held);
      nudge_by_type(contents, by);
      run_.give(v, std::move(contents));
    }
    run_.run();
  }
  [[nodiscard]] dense const* value(value_id v) { return run_.value(v); }
  [[nodiscard]] std::string const& reason() const { return run_.reason; }

 private:
  static double narrowest_output(evaluable const& of) {
    double most = 0;
    for (auto const v : of.outputs) most = std::fmax(most, v == absent ? 0 : rounding_of(of.known.type(v)));
    return most;
  }
  graph_evaluation<graph_image, facts> run_;
};

/// What a comparison of two graphs came to.
struct judgement {
  std::string wrong{};       ///< where they differ: one sentence
  std::string unknown{};     ///< why they could not be compared
  std::size_t compared = 0;  ///< elements that are numbers before, and were compared
};

/// How two graphs are compared.
struct strictness {
  bool signed_zeros = false;  ///< 0 and -0 are two results
  bool in_type = true;        ///< also with each result rounded to its element type
};

/// Compares what two graphs make of the same inputs, in double precision and in their element types.
///
/// In double precision they are equal but for what rounding of constants moves. In their types each may be off by the
/// rounding of its results; the second one by not much more than the first.
class graph_comparison {
 public:
  graph_comparison(evaluable const& before, evaluable const& after, graph_feeds const& given, strictness how)
      : before_(before), after_(after), given_(given), how_(how) {}

  [[nodiscard]] judgement judge() {
    evaluated_values before(before_, given_, rounding::none);
    return judge(before);
  }
  /// The same where the values of the first graph are known: in double precision.
  [[nodiscard]] judgement judge(evaluated_values& before) {
    judgement found;
    auto const was = before_.outputs, is = after_.outputs;
    if (was.size() != is.size()) return {"it has another number of outputs", {}, 0};
    evaluated_values after(after_, given_, rounding::none);
    look_at_types(before_);
    look_at_types(after_);
    for (std::size_t i = 0; i < was.size(); ++i) {
      auto const* const a = before.value(was[i]);
      if (a == nullptr) return {{}, before.reason(), 0};
      auto const* const b = after.value(is[i]);
      if (b == nullptr && after.reason().find("no evaluation") != std::string::npos) return {{}, after.reason(), 0};
      if (b == nullptr) return {"'" + before_.name(was[i]) + "' cannot be computed: " + after.reason(), {}, 0};
      found.wrong = exact_difference(before, *a, *b, i, found.compared);
      if (found.wrong.empty()) found.wrong = number_from_none(before, *a, *b, i);
      if (!found.wrong.empty()) return found;
    }
    if (how_.in_type && narrowest_ != element_type::float64) found.wrong = rounded_difference(before, after);
    return found;
  }

 private:
  using rounding = evaluated_values::rounding;

  // The narrowest type.
  void look_at_types(evaluable const& of) {
    for (value_id v = 0; v < of.image.value_count(); ++v)
      if (auto const type = of.known.type(v); is_floating(type) && rounding_of(type) > rounding_of(narrowest_))
        narrowest_ = type;
  }

  // What is no difference whatever the range is: what constants of a type lose that are nearly 0 in it.
  [[nodiscard]] double smallest() const { return narrowest_ == element_type::float16 ? 0x1p-22 : 0x1p-145; }
  static double range_of(dense const& x) {
    double range = 0;
    for (auto const e : x.elements)
      if (std::isfinite(e)) range = std::fmax(range, std::fabs(e));
    return range;
  }
  [[nodiscard]] std::string told(std::size_t output, std::size_t element, double is, double was,
                                 char const* how) const {
    return "element " + std::to_string(element) + " of '" + before_.name(before_.outputs[output]) + "' is " +
           detail::told(is) + " and was " + detail::told(was) + how;
  }
  [[nodiscard]] std::string exact_difference(evaluated_values& before, dense const& was, dense const& is,
                                             std::size_t output, std::size_t& compared) {
    auto const name = "'" + before_.name(before_.outputs[output]) + "'";
    if (was.shape != is.shape) return name + " has another shape";
    if (was.type != is.type && was.type != element_type::unknown) return name + " has another element type";
    auto const a = in_doubles(was), b = in_doubles(is);
    bool const exact = !is_floating(was.type);
    double const range = range_of(a);
    double allowed = exact ? 0 : tolerance(was.type) * range + smallest();
    std::optional<displacement> own;
    for (std::size_t i = 0; i < a.elements.size(); ++i) {
      auto const x = a.elements[i], y = b.elements[i];
      if (!std::isfinite(x)) continue;
      ++compared;
      if (how_.signed_zeros && x == 0 && y == 0 && std::signbit(x) != std::signbit(y))
        return told(output, i, y, x, ", another zero");
      if (std::fabs(x - y) <= allowed) continue;
      if (exact) return told(output, i, y, x, "");
      if (!own) {
        own.emplace(moved(before_, output, a, nudging::what::results));
        allowed += 4 * moved_by_rounding(output, b);
      }
      if (std::isfinite(y) ? own->explains(i, y, allowed) : own->explains_none(i)) continue;
      return leaves_range(before) ? std::string() : told(output, i, y, x, "");
    }
    return {};
  }
  // Whether anything in the first graph is beyond the range of its element type: it computes something else then than
  // what is compared here.
  [[nodiscard]] bool leaves_range(evaluated_values& exact) const {
    evaluated_values in_types(before_, given_, rounding::types);
    for (value_id v = 0; v < before_.image.value_count(); ++v)
      if (content_of(in_types, v) == content::infinite && content_of(exact, v) != content::infinite) return true;
    return false;
  }

  // A number where there was none: what a function is not defined for became something. (Where numbers are too large
  // or too small for their type, to compute them otherwise is no mistake.)
  [[nodiscard]] std::string number_from_none(evaluated_values& before, dense const& was, dense const& is,
                                             std::size_t output) const {
    if (!is_floating(was.type)) return {};
    auto const a = in_doubles(was), b = in_doubles(is);
    for (std::size_t i = 0; i < a.elements.size(); ++i)
      if (std::isnan(a.elements[i]) && !std::isnan(b.elements[i]))
        return leaves_domain(before) ? told(output, i, b.elements[i], a.elements[i], "") : std::string();
    return {};
  }
  // Whether all that is no number in the first graph is so since a root, a logarithm or a power is not defined there.
  [[nodiscard]] bool leaves_domain(evaluated_values& values) const {
    bool leaves = false;
    for (node_id n = before_.image.first_node(); n != absent; n = before_.image.node(n).next) {
      if (before_.image.node(n).result_count == 0) continue;
      auto const made = content_of(values, before_.image.result(n));
      if (made == content::numbers) continue;
      if (made == content::infinite) return false;
      bool from_numbers = true;
      for (std::uint32_t i = 0; i < before_.image.operand_count(n); ++i)
        from_numbers = from_numbers && content_of(values, before_.image.operand(n, i)) == content::numbers;
      if (!from_numbers) continue;
      auto const op = op_of(before_.image, n);
      leaves = op == opcode::sqrt || op == opcode::rsqrt || op == opcode::log || op == opcode::pow;
      if (!leaves) return false;
    }
    return leaves;
  }
  enum class content : std::uint8_t { numbers, none, infinite };  // none: some are none
  [[nodiscard]] static content content_of(evaluated_values& values, value_id v) {
    auto const* const all = v == absent ? nullptr : values.value(v);
    if (all == nullptr || !is_floating(all->type)) return content::numbers;
    auto found = content::numbers;
    for (auto const e : in_doubles(*all).elements) {
      if (std::isinf(e)) return content::infinite;
      if (std::isnan(e)) found = content::none;
    }
    return found;
  }

  // How far a result of a graph moves where its numbers are nudged.
  [[nodiscard]] displacement moved(evaluable const& of, std::size_t output, dense const& still,
                                   nudging::what what) const {
    displacement found(still);
    for (std::uint64_t way = 1; way <= nudging::ways; ++way) {
      evaluated_values all(of, given_, rounding::none, {what, way});
      if (auto const* const there = all.value(of.outputs[output]); there != nullptr) found.add(*there);
    }
    return found;
  }
  [[nodiscard]] double moved_by_rounding(std::size_t output, dense const& still) const {
    return moved(after_, output, still, nudging::what::constants).of_all();
  }

  [[nodiscard]] std::string rounded_difference(evaluated_values& exact, evaluated_values& exact_after) {
    evaluated_values before(before_, given_, rounding::types), after(after_, given_, rounding::types);
    for (std::size_t i = 0; i < before_.outputs.size(); ++i) {
      auto const *const was = before.value(before_.outputs[i]), *const is = after.value(after_.outputs[i]);
      auto const* const right = exact.value(before_.outputs[i]);
      if (was == nullptr || is == nullptr || was->shape != is->shape || !is_floating(was->type)) continue;
      double off = 0;
      for (std::size_t k = 0; k < was->size(); ++k)
        if (auto const d = std::fabs(was->elements[k] - right->elements[k]); std::isfinite(d)) off = std::fmax(off, d);
      double const range = range_of(*right);
      if (off > 0.01 * range) continue;  // its type has not the places that the graph needs
      double allowed = 16 * off + 64 * rounding_of(narrowest_) * range + smallest();
      bool asked = false;
      for (std::size_t k = 0; k < was->size(); ++k) {
        auto const x = was->elements[k], y = is->elements[k], r = right->elements[k];
        if (!std::isfinite(x) || !std::isfinite(r) || std::fabs(y - r) <= allowed) continue;
        if (!std::exchange(asked, true)) {
          auto const own = moved(before_, i, *right, nudging::what::results).of_all();
          allowed += 4 * moved_by_rounding(i, *exact_after.value(after_.outputs[i])) +
                     4 * own * rounding_of(narrowest_) / nudge_of_results;
        }
        if (!(std::fabs(y - r) <= allowed)) return told(i, k, y, x, ", in its element type");
      }
    }
    return {};
  }

  evaluable before_, after_;
  graph_feeds const& given_;
  strictness how_;
  element_type narrowest_ = element_type::float64;
};

}  // namespace fuse::inline v0::detail
