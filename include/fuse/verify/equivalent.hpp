// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/eval/dense.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/verify/choices.hpp>
#include <fuse/verify/judgement.hpp>
#include <fuse/verify/sample.hpp>

namespace fuse::inline v0 {

/// How two graphs are compared.
struct equivalent_options {
  std::size_t rounds = 3;     ///< of inputs, each with other extents where these are open
  std::uint64_t seed = 1;     ///< of the first round
  bool signed_zeros = false;  ///< a 0 and a -0 are two results
  bool in_type = true;        ///< also with each result rounded to its element type
  /// Graphs whose values have more elements, as far as these are known, are not computed.
  std::size_t most_elements = std::size_t{1} << 24;
};

/// What a comparison of two graphs came to. True where all that was compared is equal, and something was.
struct equivalence {
  std::string wrong{};       ///< where they differ: one sentence, or empty
  std::string unknown{};     ///< why they could not be compared, e.g. the operator that cannot be evaluated
  std::size_t compared = 0;  ///< numbers that were equal

  [[nodiscard]] explicit operator bool() const { return wrong.empty() && unknown.empty() && compared != 0; }
};

/// The same in a sentence.
[[nodiscard]] inline std::string to_text(equivalence const& e) {
  if (!e.wrong.empty()) return e.wrong;
  if (!e.unknown.empty()) return "it could not be compared: " + e.unknown;
  if (e.compared == 0) return "no numbers come out of it";
  return std::to_string(e.compared) + " numbers are equal";
}
/// For test frameworks, which print what they are shown.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& into, equivalence const& e) {
  return into << to_text(e);
}

namespace detail {

/// Random inputs of a graph, as it declares them: extents that have one name are one number, integers are 0 or 1 (they
/// may be indices), and what an input holds by default stays, but for floating numbers. False where a rank is not
/// known; `why` says of which input.
[[nodiscard]] inline bool draw_inputs(evaluable const& of, std::uint64_t seed, graph_feeds& into, std::string& why) {
  random_choices choose(seed);
  std::vector<dimension> declared;
  for (value_id v = 0; v < of.image.value_count(); ++v) {
    if (!of.is_input(v)) continue;
    auto const name = of.name(v);
    auto const type = of.known.type(v);
    if (auto const held = of.image.source->constant(v)) {
      auto contents = dense::of(held);
      if (is_floating(type))
        for (auto& x : contents.elements) x *= choose.numbers(name, 1, 0.8, 1.2, false)[0];
      into[name] = std::move(contents);
      continue;
    }
    declared.clear();
    if (!of.image.source->shape(v, declared)) {
      if (of.image.unused(v)) continue;
      return why = "the rank of the input '" + name + "' is not known", false;
    }
    if (!computed_in(type)) return why = "the input '" + name + "' has elements that are no numbers here", false;
    std::vector<std::int64_t> shape;
    for (auto const& d : declared) {
      auto const symbol = d.symbol.empty() ? "extent of " + name : "extent " + std::string(d.symbol);
      // The first draw of a name's own choices: the same wherever the name stands.
      shape.push_back(d.extent >= 0 ? d.extent : random_choices(seed).number(symbol, {2, 3, 4, 1}));
    }
    auto const count = count_of(shape);
    std::vector<double> numbers;
    if (is_floating(type))
      numbers = choose.numbers(name, count, 0.3, 1.7, true);
    else
      for (std::size_t i = 0; i < count; ++i) numbers.push_back(choose.number(name, {0, 1}));
    into[name] = dense::of(make_tensor(type, shape, numbers));
  }
  return true;
}

/// How many elements the values of a graph have together; extents that are not known count as 4.
[[nodiscard]] inline double elements_of(evaluable const& of) {
  double all = 0;
  for (value_id v = 0; v < of.image.value_count(); ++v) {
    if (!of.known.has_rank(v)) continue;
    double count = 1;
    for (auto const e : of.known.shape(v)) count *= e.known() ? static_cast<double>(e.value()) : 4;
    all += count;
  }
  return all;
}

[[nodiscard]] inline equivalence equivalent(evaluable const& before, evaluable const& after,
                                            equivalent_options const& options) {
  equivalence made;
  for (auto const* each : {&before, &after})
    if (elements_of(*each) > static_cast<double>(options.most_elements))
      return made.unknown = "its values have too many elements", made;
  for (std::uint64_t round = 0; round < options.rounds; ++round) {
    graph_feeds given;
    if (!draw_inputs(before, options.seed + round, given, made.unknown)) return made;
    for (value_id v = 0; v < after.image.value_count(); ++v)
      if (after.is_input(v) && given.count(after.name(v)) == 0 && !after.image.unused(v))
        return made.wrong = "there was no input '" + after.name(v) + "'", made;
    auto found = graph_comparison(before, after, given, {options.signed_zeros, options.in_type}).judge();
    made.wrong = std::move(found.wrong);
    made.unknown = std::move(found.unknown);
    made.compared += found.compared;
    if (!made.wrong.empty() || !made.unknown.empty()) break;
  }
  return made;
}

}  // namespace detail

/// Whether two graphs compute the same, as far as random inputs tell: `REQUIRE(fuse::equivalent(before, after));`. The
/// graphs may be of two types; inputs are those of one name, outputs those of one place. Every node of both is
/// evaluated, in double precision and in its element type; where an operator has no evaluation (eval/reference.hpp),
/// the result says which one. Complexity: `rounds` times four evaluations of each graph.
template <class Before, class After>
[[nodiscard]] equivalence equivalent(Before const& before, After const& after, equivalent_options const& options = {}) {
  detail::readable<Before> const was(before);
  detail::readable<After> const is(after);
  if (was.cyclic() || is.cyclic()) return {{}, "a graph has a cycle", 0};
  return detail::equivalent(was.view(), is.view(), options);
}

}  // namespace fuse::inline v0
