// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/graph/binding.hpp>
#include <fuse/match/explain.hpp>
#include <fuse/match/machine.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/program/rule_set.hpp>

namespace fuse::inline v0 {

namespace detail {

/// The tables of a rule or rule set: made when they are first asked for, once.
template <auto const& Set, auto const& Dialect>
[[nodiscard]] filter_tables const& filter_tables_of() {
  static filter_tables const made(program_of<Set, Dialect>, Dialect);
  return made;
}

/// A match of any rules: what `match_of` holds.
template <class Graph>
struct any_match {
  struct bound_name {
    std::string_view name;
    std::vector<value_of<Graph>> values;
    double number;
    std::vector<std::int64_t> integers;
  };

  [[nodiscard]] bound_name const* find(std::string_view name) const {
    for (auto const& b : bound)
      if (b.name == name) return &b;
    return nullptr;
  }

  std::string_view rule;
  node_of<Graph> root{};
  std::vector<bound_name> bound;
};

// What was found is shared, so that a type of range, which each rule has for itself, takes little to compile.
template <class Graph>
using any_matches = std::shared_ptr<std::vector<any_match<Graph>> const>;
template <class Graph>
using shared_match = std::shared_ptr<any_match<Graph> const>;

/// What `matcher` does, with any rules: compiled once for a type of graph.
template <class Graph>
class graph_matcher {
 public:
  graph_matcher(filter_tables const& rules, Graph const& graph)
      : bound_(graph, names_in(names), names.newest),
        facts_(bound_.image, names),
        machine_(rules, bound_.image, propagated(), names) {}
  graph_matcher(graph_matcher const&) = delete;
  graph_matcher& operator=(graph_matcher const&) = delete;

  /// Whether what cannot match is told apart before it is looked for: at first, it is. Without that the same is found,
  /// in a longer time.
  void filter(bool on) { machine_.look_for(on ? search_for::matches : search_for::failures); }

  /// All matches of all rules, users before producers; at one node the first match of each rule.
  [[nodiscard]] any_matches<Graph> all() {
    std::vector<any_match<Graph>> found;
    collector seen(*this, found);
    if (!bound_.cyclic()) machine_.run(seen);
    return shared(std::move(found));
  }
  /// The matches at one node.
  [[nodiscard]] any_matches<Graph> at(node_of<Graph> const& node) {
    std::vector<any_match<Graph>> found;
    auto const n = number(node);
    collector seen(*this, found);
    if (n != absent) machine_.run(n, seen);
    return shared(std::move(found));
  }
  /// Why nothing matches at one node, or that something does.
  [[nodiscard]] explanation why(node_of<Graph> const& node) { return why_of(node, nullptr); }
  /// The same of one rule. A rule of another name matches nowhere.
  [[nodiscard]] explanation why(node_of<Graph> const& node, std::string_view rule) {
    auto const& all = machine_.rules();
    chosen_rules const only(all, [&](std::size_t each) { return all.rules[each].name == rule; });
    return why_of(node, &only);
  }
  /// The nearest misses, at most `limit`, the nearest first.
  [[nodiscard]] std::vector<explanation> near_misses(std::size_t limit = 10) {
    std::vector<explanation> found;
    looking_for const near(machine_, search_for::near_misses);
    for (node_id n = bound_.image.node_count(); n-- > 0 && !bound_.cyclic();) {
      if (!is_near(n)) continue;
      auto why_not = explain(machine_, bound_.image, facts_, names, n);
      if (why_not.matched || why_not.score < instruction::near_miss) continue;
      std::size_t at = found.size();
      while (at > 0 && found[at - 1].score < why_not.score) --at;
      if (at < limit) found.insert(found.begin() + static_cast<std::ptrdiff_t>(at), std::move(why_not));
      if (found.size() > limit) found.pop_back();
    }
    return found;
  }

  [[nodiscard]] node_of<Graph> const& handle(node_id n) const { return bound_.node(n); }
  [[nodiscard]] facts const& known() const { return facts_; }
  [[nodiscard]] graph_image const& image() const { return bound_.image; }

 private:
  static constexpr auto const& names = dialect_of<Graph>;

  static any_matches<Graph> shared(std::vector<any_match<Graph>>&& found) {
    return std::make_shared<std::vector<any_match<Graph>> const>(std::move(found));
  }

  class collector final : public machine::acceptor {
   public:
    collector(graph_matcher& owner, std::vector<any_match<Graph>>& into) : owner_(owner), into_(into) {}
    bool accept(std::uint16_t rule) override {
      auto const& known = owner_.machine_.rules().rules[rule];
      if (std::exchange(node_, owner_.machine_.root()) != owner_.machine_.root()) first_ = into_.size();
      for (std::size_t i = first_; i < into_.size(); ++i)
        if (into_[i].rule == known.name) return false;
      any_match<Graph> made{known.name, owner_.bound_.node(node_), {}};
      for (std::uint8_t s = 0; s < known.slot_count; ++s) {
        auto const& b = owner_.machine_.found().slot(s);
        if (!b.bound) continue;
        made.bound.push_back({known.slot_names[s], {}, b.number, {}});
        auto& values = made.bound.back().values;
        auto const list = owner_.machine_.found().integers(s);
        auto& integers = made.bound.back().integers;
        integers.assign(list.begin(), list.end());
        for (int bit = 63; bit >= 0 && known.slot_kinds[s] == slot_kind::parameter; --bit)
          if ((b.axes >> bit & 1u) != 0) integers.push_back(-1 - bit);
        if (known.slot_kinds[s] == slot_kind::rest)
          for (auto const& m : owner_.machine_.found().members(s)) values.push_back(owner_.bound_.value(m.value));
        else if (b.value != absent && known.slot_kinds[s] != slot_kind::dimension)
          values.push_back(owner_.bound_.value(b.value));
      }
      into_.push_back(std::move(made));
      return false;
    }

   private:
    graph_matcher& owner_;
    std::vector<any_match<Graph>>& into_;
    node_id node_ = absent;
    std::size_t first_ = 0;  // of this node
  };

  [[nodiscard]] explanation why_of(node_of<Graph> const& node, chosen_rules const* only) {
    auto const n = number(node);
    return n == absent ? explanation{} : explain(machine_, bound_.image, facts_, names, n, only);
  }
  [[nodiscard]] bool is_near(node_id n) {
    for (int stage = 0; stage < machine_.rules().stages; ++stage)
      if (failure_at(machine_, n, stage, nullptr).score >= instruction::near_miss) return true;
    return false;
  }
  // The machine wants to know all when it is made.
  facts const& propagated() {
    if (!bound_.cyclic()) facts_.run();
    return facts_;
  }
  [[nodiscard]] node_id number(node_of<Graph> const& node) const {
    for (node_id n = 0; n < bound_.image.node_count(); ++n)
      if (bound_.node(n) == node) return n;
    return absent;
  }

  graph_binding<Graph const> bound_;
  facts facts_;
  detail::machine machine_;
};

}  // namespace detail

/// One match: the rule, the node at its root, and what its names captured, as handles of the graph. A copy of the
/// bindings: valid as long as the handles are.
template <auto const& Rules, class Graph>
class match_of {
 public:
  using value = value_of<Graph>;
  using node = node_of<Graph>;

  [[nodiscard]] std::string_view rule() const { return found_->rule; }
  [[nodiscard]] node const& root() const { return found_->root; }

  /// The value that `var<Name>` captured; value{} where it stands in an alternative that did not match.
  template <fixed_string Name>
  [[nodiscard]] value get() const {
    auto const* const b = find<Name>();
    return b != nullptr && !b->values.empty() ? b->values[0] : value{};
  }
  /// The number that `scalar<Name>` or `param<Name>` captured.
  template <fixed_string Name>
  [[nodiscard]] double number() const {
    auto const* const b = find<Name>();
    return b != nullptr ? b->number : 0;
  }
  /// The list that `param<Name>` captured; captured axes count from the last one, rising. A number is no list.
  template <fixed_string Name>
  [[nodiscard]] std::vector<std::int64_t> integers() const {
    auto const* const b = find<Name>();
    return b != nullptr ? b->integers : std::vector<std::int64_t>{};
  }
  /// The members of `rest<Name>`.
  template <fixed_string Name>
  [[nodiscard]] std::vector<value> all() const {
    auto const* const b = find<Name>();
    return b != nullptr ? b->values : std::vector<value>{};
  }

 private:
  template <auto const& R, class G>
  friend class matches_of;

  explicit match_of(detail::shared_match<Graph> found) : found_(std::move(found)) {}

  template <fixed_string Name>
  [[nodiscard]] auto const* find() const {
    constexpr bool bound = program_of<Rules, detail::dialect_table_of<Graph>()>.binds(Name.view());
    using name = decltype(detail::quoted_name<Name>(std::make_index_sequence<sizeof(Name.text) - 1>{}));
    (void)sizeof(detail::match_has_no_capture_of_that_name<name, bound>);
    return found_->find(Name.view());
  }

  detail::shared_match<Graph> found_;
};

/// Matches in the order in which they were found: a range of `match_of`, each made when it is asked for. Copies, and
/// what was taken out, share what was found.
template <auto const& Rules, class Graph>
class matches_of {
 public:
  using value_type = match_of<Rules, Graph>;

  /// What it stands at is made when it is asked for.
  class iterator {
   public:
    using value_type = match_of<Rules, Graph>;
    using difference_type = std::ptrdiff_t;
    using reference = value_type;

    iterator() = default;
    iterator(matches_of const& of, std::size_t at) : of_(&of), at_(at) {}
    [[nodiscard]] value_type operator*() const { return (*of_)[at_]; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) {
      auto const before = *this;
      ++at_;
      return before;
    }
    [[nodiscard]] friend bool operator==(iterator const& a, iterator const& b) { return a.at_ == b.at_; }

   private:
    matches_of const* of_ = nullptr;
    std::size_t at_ = 0;
  };

  explicit matches_of(detail::any_matches<Graph> found) : found_(std::move(found)) {}

  [[nodiscard]] std::size_t size() const { return found_->size(); }
  [[nodiscard]] bool empty() const { return found_->empty(); }
  [[nodiscard]] value_type operator[](std::size_t i) const {
    return value_type(detail::shared_match<Graph>(found_, &(*found_)[i]));
  }
  [[nodiscard]] value_type front() const { return (*this)[0]; }
  [[nodiscard]] value_type back() const { return (*this)[size() - 1]; }
  [[nodiscard]] iterator begin() const { return {*this, 0}; }
  [[nodiscard]] iterator end() const { return {*this, size()}; }

  /// The same in a container of one's own.
  [[nodiscard]] operator std::vector<value_type>() const {
    std::vector<value_type> all;
    for (auto const& each : *this) all.push_back(each);
    return all;
  }

 private:
  detail::any_matches<Graph> found_;
};

/// Finds matches in a graph that nobody changes meanwhile. Building one reads the graph and propagates shapes: linear.
template <auto const& Rules, class Graph>
class matcher : public detail::graph_matcher<Graph> {
  using any_rules = detail::graph_matcher<Graph>;

 public:
  explicit matcher(Graph const& graph)
      : any_rules(detail::filter_tables_of<Rules, detail::dialect_table_of<Graph>()>(), graph) {}

  /// All matches of all rules, users before producers; at one node the first match of each rule.
  [[nodiscard]] matches_of<Rules, Graph> all() { return matches_of<Rules, Graph>(any_rules::all()); }
  /// The matches at one node.
  [[nodiscard]] matches_of<Rules, Graph> at(node_of<Graph> const& node) {
    return matches_of<Rules, Graph>(any_rules::at(node));
  }
};

/// The first match of `Rules` with its root at `node`, or none (nothing in the range): `auto m =
/// fuse::match<rule>(g, n);`.
template <auto const& Rules, class Graph>
[[nodiscard]] matches_of<Rules, Graph> match(Graph const& graph, node_of<Graph> const& node) {
  (void)sizeof(detail::require_readable<Graph>);
  (void)sizeof(detail::require_rules<Rules, detail::dialect_table_of<Graph>()>);
  return matcher<Rules, Graph>(graph).at(node);
}

/// All matches of `Rules` in a graph.
template <auto const& Rules, class Graph>
[[nodiscard]] matches_of<Rules, Graph> match_all(Graph const& graph) {
  (void)sizeof(detail::require_readable<Graph>);
  (void)sizeof(detail::require_rules<Rules, detail::dialect_table_of<Graph>()>);
  return matcher<Rules, Graph>(graph).all();
}

}  // namespace fuse::inline v0
