// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "graph.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace mini {

/// Chooses each node's function. Returns which operator this runtime does not have, in one sentence, or nothing.
[[nodiscard]] std::string prepare(graph& g);

/// The outputs for the inputs by name. Adds the time that each node takes to it. Throws std::runtime_error where
/// operands do not fit their operator.
std::vector<tensor> run(graph& g, std::unordered_map<std::string, tensor> const& inputs);

}  // namespace mini
