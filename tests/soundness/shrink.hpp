// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include <fuse/verify/shrink.hpp>

#include "validity.hpp"

namespace soundness {

/// The values of an example, for whoever makes it smaller.
class known_values {
 public:
  explicit known_values(example const& e) : graph_(e.graph), checked_(e), values_(computed(e)) {}

  [[nodiscard]] bool has(fuse::graph::value v) const { return values_.has(v) || graph_.constant(v); }
  [[nodiscard]] array const& contents(fuse::graph::value v) { return values_.value(v); }
  [[nodiscard]] fuse::element_type type(fuse::graph::value v) const {
    auto const at = checked_.types().find(v.id);
    return at != checked_.types().end() ? at->second : graph_.type(v);
  }

 private:
  fuse::graph const& graph_;
  validity checked_;
  corpus::evaluator values_;
};

/// The smallest example for which `fails` still holds. It holds of `e`; what cannot be computed does not fail.
[[nodiscard]] inline example shrunk(example e, std::function<bool(example const&)> const& fails) {
  auto const fails_here = [&](example const& of) {
    try {
      return fails(of);
    } catch (std::exception const&) {
      return false;
    }
  };
  return fuse::detail::shrunk<known_values>(std::move(e), fails_here);
}

}  // namespace soundness
