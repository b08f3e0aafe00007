// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "graph.hpp"
#include "operators.hpp"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mini {

/// A graph made ready to be run: its nodes in order, each with its function and the numbers of its values.
class program {
 public:
  /// Refers to the graph, whose structure does not change as long as this lives. `error` says what cannot be run.
  program(graph& g, std::string& error);

  /// The outputs for the inputs by name. Adds the time that each node takes to it. Throws std::runtime_error where
  /// operands do not fit their operator.
  std::vector<tensor> run(std::unordered_map<std::string, tensor> const& inputs);

 private:
  struct step {
    node* what;
    function run;
    std::vector<std::size_t> operands, results;
  };
  std::size_t number(value const* v);

  graph* graph_;
  std::vector<step> steps_{};
  std::vector<tensor> values_{};  // constants, and what the last run made; number 0 is what is absent
  std::unordered_map<value const*, std::size_t> numbers_{};
};

}  // namespace mini
