// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/graph/graph.hpp>

#include "evaluate.hpp"
#include "names.hpp"

namespace corpus {

/// Operators of a graph and of its bodies, by meaning.
[[nodiscard]] inline std::map<opcode, int> operators_of(fuse::graph const& g) {
  std::map<opcode, int> found;
  std::vector<fuse::graph::body> bodies{fuse::graph::main_body};
  while (!bodies.empty()) {
    auto const b = bodies.back();
    bodies.pop_back();
    for (auto const n : g.nodes(b)) {
      ++found[op_named(g.op(n))];
      for (auto const inner : g.bodies(n)) bodies.push_back(inner);
    }
  }
  return found;
}

[[nodiscard]] inline std::string text_of(std::map<opcode, int> const& counts) {
  std::string text;
  for (auto const& [op, count] : counts)
    text += (text.empty() ? "" : ", ") + std::string(fuse::name_of(op)) + ' ' + std::to_string(count);
  return text.empty() ? "nothing" : text;
}

/// What differs between two graphs that should compute the same, or an empty text.
[[nodiscard]] inline std::string difference(fuse::graph const& before, fuse::graph const& after,
                                            std::map<std::string, array> const& feeds, double tolerance) {
  auto const wanted = evaluator(before, feeds).outputs();
  std::map<std::string, array> found;
#ifdef __cpp_exceptions
  try {
    found = evaluator(after, feeds).outputs();
  } catch (std::exception const& error) {
    return error.what();
  }
#else
  found = evaluator(after, feeds).outputs();
#endif
  if (wanted.size() != found.size()) return "the outputs are others";
  for (auto const& [name, y] : wanted) {
    auto const at = found.find(name);
    if (at == found.end()) return "the output " + name + " is lost";
    auto const off = distance(y, at->second);
    if (!(off <= tolerance)) {
      std::ostringstream text;
      text << "the output " << name << " is off by " << off;
      return text.str();
    }
  }
  return {};
}

/// Failures of many random graphs: how often each choice of each dimension failed, the worst first.
class tally {
 public:
  void add(std::vector<std::pair<std::string, std::string>> const& choices, bool passed) {
    ++total_;
    passed_ += passed ? 1 : 0;
    for (auto const& choice : choices) {
      auto& [good, all] = by_choice_[choice];
      good += passed ? 1 : 0;
      ++all;
    }
  }
  [[nodiscard]] std::string summary(std::size_t lines = 25) const {
    std::vector<std::pair<double, std::string>> rates;
    for (auto const& [choice, counts] : by_choice_)
      if (counts.first < counts.second)
        rates.emplace_back(static_cast<double>(counts.first) / counts.second,
                           choice.first + " = " + choice.second + ": " + std::to_string(counts.first) + " of " +
                               std::to_string(counts.second));
    std::sort(rates.begin(), rates.end());
    std::string text = std::to_string(passed_) + " of " + std::to_string(total_) + " pass\n";
    for (std::size_t i = 0; i < rates.size() && i < lines; ++i) text += "  " + rates[i].second + '\n';
    return text;
  }

 private:
  int total_ = 0, passed_ = 0;
  std::map<std::pair<std::string, std::string>, std::pair<int, int>> by_choice_;
};

[[nodiscard]] inline std::uint64_t setting(char const* name, std::uint64_t fallback) {
  char const* const text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace corpus
