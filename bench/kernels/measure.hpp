// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "comparison.hpp"

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <vector>

namespace bench {

struct effort {
  int repetitions = 30;
  double seconds = 0.005;
};

/// {"context": machine, compiler, flags, target, ..., "rows": []}
nlohmann::ordered_json describe_run(effort const& how);

/// Runs the candidates in shuffled turns, prints them, and returns a row for each one that is not ours: its median time
/// divided by ours, and the distance between the quartiles of that ratio over its median.
std::vector<nlohmann::ordered_json> measure(comparison const& what, effort const& how, std::ostream& table);

}  // namespace bench
