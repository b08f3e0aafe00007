// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/graph/tensor_view.hpp>

namespace fuse::inline v0 {

/// What a graph answers for an attribute of a node: a view into the graph, or nothing (monostate) where the node has no
/// such attribute. `opaque_attribute` is one that fuse cannot read (a subgraph, a type): it exists and equals nothing.
struct opaque_attribute {};
using attribute_view = std::variant<std::monostate, std::int64_t, double, std::string_view, span<std::int64_t const>,
                                    span<float const>, tensor_view, opaque_attribute>;

/// An attribute that a rewrite gives to a new node.
struct attribute {
  std::string name;
  std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, tensor, std::vector<float>> content;

  friend bool operator==(attribute const&, attribute const&) = default;
};

/// What a graph answers that keeps the attributes of new nodes as they are. Valid as long as `a` is.
[[nodiscard]] inline attribute_view view_of(attribute const& a) {
  struct reader {
    attribute_view operator()(std::int64_t x) const { return x; }
    attribute_view operator()(double x) const { return x; }
    attribute_view operator()(std::string const& x) const { return std::string_view(x); }
    attribute_view operator()(std::vector<std::int64_t> const& x) const { return span<std::int64_t const>(x); }
    attribute_view operator()(tensor const& x) const { return tensor_view(x); }
    attribute_view operator()(std::vector<float> const& x) const { return span<float const>(x); }
  };
  return std::visit(reader{}, a.content);
}

}  // namespace fuse::inline v0
