// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/match/filter/filter.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/program/program.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rewrite/counted_users.hpp>
#include <fuse/rewrite/reach.hpp>
#include <fuse/rewrite/rule_order.hpp>

namespace fuse::inline v0::detail {

/// Rules, with what is known of them without a graph. One serves all graphs of a dialect, at the same time.
template <class Program>
struct basic_compiled_rules {
  basic_filter_tables<Program> const tables;
  pattern_reach const reach;
  counted_users const counts;
  rule_order const order;

  basic_compiled_rules(Program const& of, dialect const& names);
};
using compiled_rules = basic_compiled_rules<program>;

template <class Program>
basic_compiled_rules<Program>::basic_compiled_rules(Program const& of, dialect const& names)
    : tables(of, names), reach(tables.rules), counts(tables.rules), order(tables) {}

#ifdef FUSE_REWRITE_SEPARATE
extern template struct basic_compiled_rules<program>;
#endif

/// A rule or rule set, compiled when it is first asked for, once.
template <auto const& Rules, auto const& Table>
[[nodiscard]] compiled_rules const& compiled_rules_of() {
  static compiled_rules const made(program_of<Rules, Table>, Table);
  return made;
}

}  // namespace fuse::inline v0::detail
