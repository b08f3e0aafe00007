// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuse/dsl/condition.hpp>
#include <fuse/dsl/expression.hpp>
#include <fuse/dsl/roots.hpp>

namespace fuse::inline v0 {

/// A rule: a pattern, named conditions, and what replaces the pattern's roots. One type for all rules, a constant at
/// namespace scope (or `static constexpr`).
struct rewrite_rule {
  static constexpr std::size_t condition_capacity = 16, name_capacity = 8;

  static_text name{};
  static_text summary_text{};
  expression pattern{};
  expression replacement{};  ///< its root is a `roots` term where the pattern has several
  condition conditions[condition_capacity]{};
  std::size_t condition_count = 0;
  static_text transparent[name_capacity]{};  ///< operators looked through at every edge
  std::size_t transparent_count = 0;
  int stage_number = 0;
  double benefit_value = 0;
  bool equal_cost = false, silent = false;
  bool too_many = false;

  /// Adds conditions. All of them hold wherever the rule is applied; one that fails is named in the report.
  template <class... Conditions>
  [[nodiscard]] constexpr rewrite_rule where(Conditions const&... added) const {
    rewrite_rule changed = *this;
    (changed.add(added), ...);
    return changed;
  }
  /// The same, with a name for a condition that has none: `.where<"even head">(pred<...>(...))`.
  template <fixed_string Name>
  [[nodiscard]] constexpr rewrite_rule where(condition added) const {
    return where_named({Name.text, sizeof(Name.text) - 1}, added);
  }

  /// What takes the place of the pattern's root; one expression per root.
  template <class... Expressions>
  [[nodiscard]] constexpr rewrite_rule replace(Expressions const&... made) const {
    rewrite_rule changed = *this;
    if constexpr (sizeof...(Expressions) == 1)
      changed.replacement = (expression(made), ...);
    else
      changed.replacement = dsl::roots(made...);
    return changed;
  }

  /// Looks through these operators at every edge of the pattern and above its root (chains of at most 8), guarded by
  /// element type: nothing crossed may be narrower than the result.
  template <fixed_string... Names>
  [[nodiscard]] constexpr rewrite_rule through() const {
    static_assert(sizeof...(Names) <= name_capacity, "fuse: a rule looks through at most 8 operators");
    rewrite_rule changed = *this;
    ((changed.transparent[changed.transparent_count++] = detail::name_text<Names>), ...);
    return changed;
  }

  /// What the rule does, in one line, for whoever lists rules.
  [[nodiscard]] constexpr rewrite_rule summary(std::string_view text) const {
    rewrite_rule changed = *this;
    changed.summary_text = static_text::of(text);
    return changed;
  }

  /// Rules of a lower stage are done before one of a higher stage begins.
  [[nodiscard]] constexpr rewrite_rule stage(int number) const {
    rewrite_rule changed = *this;
    changed.stage_number = number;
    return changed;
  }

  /// Applies the rule also where it saves nothing: for rules that only change how a thing is written.
  [[nodiscard]] constexpr rewrite_rule at_equal_cost() const {
    rewrite_rule changed = *this;
    changed.equal_cost = true;
    return changed;
  }

  /// For rules that tidy up after others: near misses are no news, nor is a refusal where another rule has rewritten
  /// since or has said the same. Where its whole pattern is left, the report says why it was refused, as of every rule.
  [[nodiscard]] constexpr rewrite_rule quiet() const {
    rewrite_rule changed = *this;
    changed.silent = true;
    return changed;
  }

  /// Of rules that match at one node, the one with the highest benefit is tried first; then the order of the set
  /// decides.
  [[nodiscard]] constexpr rewrite_rule benefit(double value) const {
    rewrite_rule changed = *this;
    changed.benefit_value = value;
    return changed;
  }

 private:
  [[nodiscard]] constexpr rewrite_rule where_named(static_text name_of_it, condition const& added) const {
    rewrite_rule changed = *this;
    changed.add(added);
    if (!changed.too_many) changed.conditions[changed.condition_count - 1].name = name_of_it;
    return changed;
  }
  constexpr void add(condition const& added) {
    if (condition_count == condition_capacity)
      too_many = true;
    else
      conditions[condition_count++] = added;
  }
};

/// A rule that has nothing but its name; calling it with a pattern makes the rule. Not a template: hundreds of rules
/// share it.
struct rule_name {
  static_text name;

  [[nodiscard]] constexpr rewrite_rule operator()(expression const& pattern) const {
    rewrite_rule made{};
    made.name = name;
    made.pattern = pattern;
    return made;
  }
};

/// Begins a rule: `fuse::rule<"layer-norm">(pattern).where(...).replace(...)`.
template <fixed_string Name>
inline constexpr rule_name rule{{Name.text, sizeof(Name.text) - 1}};

}  // namespace fuse::inline v0
