// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/fuse.hpp>

#include "example.hpp"

namespace soundness {

/// Where a rule matches: its name and the node at its root.
struct place {
  std::string rule;
  std::uint32_t node = 0;
  friend auto operator<=>(place const&, place const&) = default;
};

/// What fuse knows of a value: extents by number or by symbol.
struct inferred {
  fuse::element_type type = fuse::element_type::unknown;
  std::optional<std::vector<fuse::extent>> shape{};
};

/// What is tested, of one rule set in one dialect: functions of a graph of no particular type.
struct engine {
  [[nodiscard]] fuse::rewrite_report rewrite(fuse::graph& g, fuse::rewrite_options const& options) const {
    return rewrite_by(rules(), g, options);
  }
  /// In order, without repetitions.
  [[nodiscard]] std::vector<place> matches(fuse::graph const& g, bool filter) const {
    return matches_of(rules(), g, filter);
  }
  /// Where `why` says of a node and a rule something else than `at`, or nothing that one can read; else empty.
  [[nodiscard]] std::string why(fuse::graph const& g, fuse::span<member const> of) const {
    return why_of(rules(), g, of);
  }

  fuse::detail::compiled_rules const& (*rules)();
  fuse::rewrite_report (*rewrite_by)(fuse::detail::compiled_rules const&, fuse::graph&, fuse::rewrite_options const&);
  std::vector<place> (*matches_of)(fuse::detail::compiled_rules const&, fuse::graph const&, bool filter);
  std::string (*why_of)(fuse::detail::compiled_rules const&, fuse::graph const&, fuse::span<member const>);
  std::vector<inferred> (*infer)(fuse::graph const&);  ///< of a value, by its number
};

namespace detail {

// As fuse::rewrite and fuse::matcher do it, which are compiled for each set of rules, too.
template <class Graph>
fuse::rewrite_report rewrite(fuse::detail::compiled_rules const& rules, fuse::graph& g,
                             fuse::rewrite_options const& options) {
  Graph typed(std::move(g));
  fuse::rewrite_report report;
  fuse::detail::rewrite(rules, typed, options, report);
  g = std::move(typed);
  return report;
}

template <class Graph>
std::vector<place> matches(fuse::detail::compiled_rules const& rules, fuse::graph const& g, bool filter) {
  Graph const typed(g);
  std::vector<place> all;
  fuse::detail::graph_matcher<Graph> search(rules.tables, typed);
  search.filter(filter);
  auto const found = search.all();
  for (auto const& m : *found) all.push_back({std::string(m.rule), m.root.id});
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

template <class Graph>
std::vector<inferred> infer(fuse::graph const& g) {
  Graph const typed(g);
  constexpr auto const& names = fuse::dialect_of<Graph>;
  fuse::graph_binding<Graph const> const bound(typed, fuse::names_in(names), names.newest);
  fuse::detail::facts known(bound.image, names);
  known.run();
  std::vector<inferred> all;
  for (fuse::value_id v = 0; v < bound.image.value_count(); ++v) {
    auto const id = bound.value(v).id;
    if (all.size() <= id) all.resize(id + std::size_t{1});
    all[id].type = known.type(v);
    auto const shape = known.shape(v);
    if (known.has_rank(v)) all[id].shape.emplace(shape.begin(), shape.end());
  }
  return all;
}

template <class Graph>
std::string why(fuse::detail::compiled_rules const& rules, fuse::graph const& g, fuse::span<member const> members) {
  Graph const typed(g);
  fuse::detail::graph_matcher<Graph> matches(rules.tables, typed);
  for (auto const n : typed.nodes()) {
    auto const found = matches.at(n);
    for (auto const& one : members) {
      bool const there =
          std::any_of(found->begin(), found->end(), [&](auto const& m) { return m.rule == one.rule->name; });
      auto const why = matches.why(n, one.rule->name);
      auto const text = to_text(why);
      if (why.matched != there || text.empty() || text.find("expected ,") != std::string::npos)
        return std::string(one.rule->name) + (there ? " matches: " : " does not match: ") + text;
    }
  }
  return {};
}

// Compiled once, in trials/engine.cpp.
#define FUSE_SOUNDNESS_ENGINE(declared, typed)                                                               \
  declared fuse::rewrite_report rewrite<typed>(fuse::detail::compiled_rules const&, fuse::graph&,            \
                                               fuse::rewrite_options const&);                                \
  declared std::vector<place> matches<typed>(fuse::detail::compiled_rules const&, fuse::graph const&, bool); \
  declared std::vector<inferred> infer<typed>(fuse::graph const&);                                           \
  declared std::string why<typed>(fuse::detail::compiled_rules const&, fuse::graph const&, fuse::span<member const>);
FUSE_SOUNDNESS_ENGINE(extern template, graph)
FUSE_SOUNDNESS_ENGINE(extern template, second_graph)

// The rules, which are as they must be for everybody else.
template <class Graph, auto const& Rules>
fuse::detail::compiled_rules const& rules_of() {
  static constexpr auto const& table = fuse::detail::dialect_table_of<Graph>();
  static_assert(fuse::detail::require_rules<Rules, table>::met &&
                !fuse::detail::program_table_of<Rules, table>.overflow);
  return fuse::detail::compiled_rules_of<Rules, table>();
}

}  // namespace detail

template <class Graph, auto const& Rules>
inline constexpr engine engine_of{&detail::rules_of<Graph, Rules>, &detail::rewrite<Graph>, &detail::matches<Graph>,
                                  &detail::why<Graph>, &detail::infer<Graph>};

namespace detail {

template <class Graph, auto const& Members, std::size_t... I>
std::vector<engine> each_alone(std::index_sequence<I...>) {
  return {engine_of<Graph, *Members[I].rule>...};
}

}  // namespace detail

/// Programs of one rule each.
template <class Graph, auto const& Members>
[[nodiscard]] std::vector<engine> each_alone() {
  return detail::each_alone<Graph, Members>(std::make_index_sequence<std::size(Members)>{});
}

}  // namespace soundness
