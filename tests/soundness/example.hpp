// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../corpus/evaluate.hpp"
#include "pool.hpp"

namespace soundness {

/// A graph, what is passed to it, and the dialect that it is in.
struct example {
  fuse::graph graph;
  std::map<std::string, array> feeds{};
  bool second = false;
};

/// The rule whose formula has a number.
[[nodiscard]] member const& member_numbered(std::size_t number);

/// What the test's own operators compute.
[[nodiscard]] std::optional<array> own_operator(std::string_view name, std::vector<array const*> const& in,
                                                corpus::parameters const& attributes);

/// Computes all values of an example; fails where operands do not fit. `rounds`: what follows from constants is
/// rounded. `moved_by`: how far they are off.
[[nodiscard]] inline corpus::evaluator computed(example const& e, bool rounds = false, double moved_by = 0) {
  return {e.graph, e.feeds, &own_operator, rounds, moved_by};
}

}  // namespace soundness
