// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// One way to do the work of a comparison. `run` owns what it needs.
struct candidate {
  std::string name;
  std::string version;
  std::function<void()> run;
  /// The largest absolute error of the result against arithmetic in double; without it, none is reported.
  std::function<double()> error = {};
};

/// Candidates that do the same work on the same memory; the first one is ours.
struct comparison {
  std::string kernel;   ///< "layer_norm"
  std::string type;     ///< of the elements: "float"
  std::string variant;  ///< what else is special, "ping-pong"; or nothing
  std::size_t rows;     ///< or tokens
  std::size_t columns;
  /// Makes the tensors and everything that uses them; they live as long as the candidates.
  std::function<std::vector<candidate>()> candidates;
};

/// "layer_norm/float/128x768", with the variant as a fourth part.
std::string name_of(comparison const& what);

void add_embeddings(std::vector<comparison>& all);
void add_expressions(std::vector<comparison>& all);
void add_norms(std::vector<comparison>& all);
void add_skip_norms(std::vector<comparison>& all);

}  // namespace bench
