// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include <fuse/graph/binding.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>

/// A graph with what is known of its values.
struct inferred {
  explicit inferred(fuse::graph& g, fuse::dialect const& names = fuse::dialect_of<fuse::graph>)
      : bound(g, fuse::names_in(fuse::dialect_of<fuse::graph>), 24), known(bound.image, names) {
    known.run();
  }

  [[nodiscard]] fuse::value_id id(fuse::graph::value v) const { return bound.number(v); }
  [[nodiscard]] fuse::element_type type(fuse::graph::value v) const { return known.type(id(v)); }
  [[nodiscard]] bool same_shape(fuse::graph::value a, fuse::graph::value b) const {
    return known.same_shape(id(a), id(b));
  }

  /// "[2,batch,?]", or "unknown".
  [[nodiscard]] std::string shape(fuse::graph::value v) const {
    return known.has_rank(id(v)) ? list(known.shape(id(v))) : "unknown";
  }
  /// "[2,batch]", "[0.5]", or "unknown".
  [[nodiscard]] std::string contents(fuse::graph::value v) const {
    if (known.has_integers(id(v))) return list(known.symbolic_integers(id(v)));
    if (!known.has_numbers(id(v))) return "unknown";
    std::string out = "[";
    for (auto x : known.numbers(id(v))) out += (out.size() > 1 ? "," : "") + std::to_string(x);
    return out + "]";
  }
  [[nodiscard]] std::string list(fuse::span<fuse::extent const> extents) const {
    std::string out = "[";
    for (auto e : extents) {
      if (out.size() > 1) out += ",";
      out += known.symbols().is_fresh(e) ? "?" : known.symbols().text(e);
    }
    return out + "]";
  }

  fuse::graph_binding<fuse::graph> bound;
  fuse::detail::facts known;
};
