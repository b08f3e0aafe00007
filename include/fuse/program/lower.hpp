// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/program/lower_replacement.hpp>
#include <fuse/program/lower_roots.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // g++ 12 means designated ones, too

namespace fuse::inline v0::detail {

constexpr lowering::lowering(lowered_rule& into, rewrite_rule const& rule, dialect const& names)
    : out(into), rule_(rule), names_(names) {
  out.name = rule.name;
  out.summary = rule.summary_text;
  out.stage = rule.stage_number;
  out.benefit = rule.benefit_value;
  out.equal_cost = rule.equal_cost;
  out.silent = rule.silent;
  if (rule.pattern.too_large || rule.replacement.too_large || rule.too_many)
    fail(rule_error::too_large, rule.name);
  else if (rule.replacement.size == 0)
    fail(rule_error::no_replacement, rule.name);
  for (std::size_t i = 0; i < rule.transparent_count; ++i) add_transparent(everywhere_, rule.transparent[i]);
  resolve();
  if (failed_) return;
  if (everywhere_.count != 0) everywhere_id_ = set_id(everywhere_);
  lower_roots(pattern_.root());
  out.size = size_;
  if (!failed_) lower_replacement();
}

/// The lowered form of a rule in a dialect.
[[nodiscard]] constexpr lowered_rule lower(rewrite_rule const& rule, dialect const& names) {
  lowered_rule made{};
  lowering(made, rule, names);
  return made;
}

}  // namespace fuse::inline v0::detail

#pragma GCC diagnostic pop
