// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/draw/draw.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/match/machine.hpp>
#include <fuse/match/match.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rewrite/rewrite.hpp>

namespace fuse::inline v0 {

/// The matches of `Rules` as groups for a drawing, users before producers, but for those inside of another:
/// `fuse::draw(g, {.groups = fuse::matched<rules>(g)})`. What is matched is not yet what is rewritten: see `replaced`.
template <auto const& Rules, class G>
[[nodiscard]] std::vector<drawn_group<G>> matched(G const& graph) {
  class collector final : public detail::machine::acceptor {
   public:
    collector(detail::machine const& of, graph_binding<G const> const& bound, std::vector<drawn_group<G>>& into)
        : machine_(of), bound_(bound), into_(into), taken_(bound.image.node_count(), false) {}
    bool accept(std::uint16_t rule) override {
      bool inside = true;
      for (auto const n : machine_.found().matched()) {
        inside = inside && taken_[n];
        taken_[n] = true;
      }
      if (inside) return true;
      auto& made = into_.emplace_back();
      made.label = machine_.rules().rules[rule].name;
      for (auto const n : machine_.found().matched()) made.nodes.push_back(bound_.node(n));
      return true;
    }

   private:
    detail::machine const& machine_;
    graph_binding<G const> const& bound_;
    std::vector<drawn_group<G>>& into_;
    std::vector<bool> taken_;
  };

  std::vector<drawn_group<G>> found;
  static constexpr auto const& names = dialect_of<G>;
  graph_binding<G const> const bound(graph, names_in(names), names.newest);
  if (bound.cyclic()) return found;
  detail::facts known(bound.image, names);
  known.run();
  detail::machine run(detail::filter_tables_of<Rules, detail::dialect_table_of<G>()>(), bound.image, known, names);
  collector seen(run, bound, found);
  for (node_id n = bound.image.node_count(); n-- > 0;)
    for (int stage = 0; stage < run.rules().stages; ++stage)
      if (run.has_entry(n, stage) && run.run(n, stage, seen)) break;
  return found;
}

namespace detail {

/// A graph whose erased nodes are noted.
template <class G>
struct recorded {
  G* graph;
  std::vector<node_of<G>> erased{};

  operator G&() { return *graph; }              // NOLINT: the graph's own traits take it for the graph
  operator G const&() const { return *graph; }  // NOLINT
};

}  // namespace detail

template <class G>
struct graph_traits<detail::recorded<G>> : graph_traits<G> {
  static void erase(detail::recorded<G>& g, node_of<G> const& n) {
    g.erased.push_back(n);
    graph_traits<G>::erase(*g.graph, n);
  }
};

/// Rewrites `graph` and returns, for each rewrite in turn, the nodes that went: groups for a drawing of the graph as it
/// was, whose nodes must have the same handles (a copy's, where copying keeps them). `graph` itself is what is left. A
/// node that one rewrite made and another one erased is no node of that drawing, and is not drawn.
template <auto const& Rules, class G>
[[nodiscard]] std::vector<drawn_group<G>> replaced(G& graph, rewrite_options options = {}) {
  struct watcher {
    detail::recorded<G> seen;
    std::vector<drawn_group<G>> found{};
  } watch{{&graph}};
  options.near_misses = false;
  options.observer = {};
  options.observer.context = &watch;
  options.observer.applied = [](void* self, std::string_view rule, std::string_view) {
    auto& w = *static_cast<watcher*>(self);
    w.found.push_back({std::string(rule), std::exchange(w.seen.erased, {})});
  };
  rewrite<Rules>(watch.seen, options);
  return std::move(watch.found);
}

}  // namespace fuse::inline v0
