// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "../corpus/draw.hpp"
#include "validity.hpp"

namespace soundness {

/// What changes of an example have in common: its nodes, what they compute, and new ones behind them.
class graph_change {
 public:
  using value = fuse::graph::value;
  using node = fuse::graph::node;

  graph_change(example& e, corpus::draw& choices) : e_(e), g_(e.graph), choose(choices) {}

 protected:
  // Whether rounding may make another integer of an element.
  [[nodiscard]] static bool near_whole(array const& a) {
    return std::any_of(a.data.begin(), a.data.end(),
                       [](double x) { return std::fabs(x) > 0.5 && std::fabs(x - std::round(x)) < 1e-3; });
  }
  bool look() {
    try {
      checked_.emplace(e_);
      if (!checked_->wrong().empty()) return false;
      values_.emplace(e_.graph, e_.feeds, &own_operator);
    } catch (std::exception const&) {
      return false;
    }
    nodes_.clear();
    next_.clear();
    collect(fuse::graph::main_body);
    return true;
  }
  void collect(fuse::graph::body b) {
    node last;
    for (auto const n : g_.nodes(b)) {
      if (last) next_[last.id] = {n, true};
      last = n;
      next_[n.id] = {{}, b == fuse::graph::main_body};
      auto const bodies = g_.bodies(n);
      if (!bodies.empty()) {
        collect(bodies[0]);
        continue;
      }
      if (values_->has(g_.result(n))) nodes_.push_back(n);
    }
  }
  node any_node() { return one_of(nodes_); }
  node one_of(std::vector<node> const& all) {
    if (all.empty()) return {};
    return all[static_cast<std::size_t>(choose.number("node", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})) %
               all.size()];
  }

  // Nodes. What is inserted stands where `place` says: before that node, or at the end.

  value append(std::string_view op, std::vector<value> const& operands,
               std::vector<fuse::graph::named> const& attributes = {}) {
    auto const made = place_ ? g_.insert_before(place_, op, operands, attributes) : g_.append(op, operands, attributes);
    if (!first_) first_ = made;
    return g_.result(made);
  }
  value list(std::vector<std::int64_t> const& of) {
    return g_.constant(fuse::make_tensor({static_cast<std::int64_t>(of.size())}, fuse::span<std::int64_t const>(of)));
  }
  value cast(value v, int to) {
    return append(corpus::name_of(opcode::cast, e_.second), {v}, {{e_.second ? "dtype" : "to", to}});
  }
  value reshape(value v, std::vector<std::int64_t> const& to) {
    if (e_.second) return append("with_extents", {v}, {{"extents", to}});
    return append("Reshape", {v, list(to)});
  }
  value transpose(value v, std::vector<std::int64_t> const& order) {
    return append(corpus::name_of(opcode::transpose, e_.second), {v}, {{e_.second ? "order" : "perm", order}});
  }
  // Whoever reads `v` reads what `make` makes of it instead. False where there is no room: behind the last node of a
  // body.
  template <class Make>
  bool insert_behind(node at, value v, Make make) {
    auto const next = next_.at(at.id);
    if (!next.there) return false;
    place_ = next.behind;
    first_ = {};
    auto const changed = make(v);
    g_.replace_uses(v, changed);
    for (std::size_t i = 0; i < g_.operands(first_).size(); ++i)
      if (g_.operands(first_)[i] == changed) g_.set_operand(first_, i, v);
    place_ = {};
    return true;
  }

  example& e_;
  fuse::graph& g_;
  corpus::draw& choose;
  std::optional<validity> checked_;
  std::optional<corpus::evaluator> values_;
  std::vector<node> nodes_;
  struct room {
    node behind;
    bool there;
  };
  std::map<std::uint32_t, room> next_;
  node place_{}, first_{};
};

}  // namespace soundness
