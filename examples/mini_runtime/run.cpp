// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include "operators.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

namespace mini {
namespace {

tensor contents(value const* v) { return v == nullptr ? tensor() : v->constant ? v->constant : v->computed; }

}  // namespace

std::string prepare(graph& g) {
  for (auto& n : g.nodes)
    if ((n.run = function_of(n.op)) == nullptr) return "operator '" + n.op + "' is not among those of this runtime";
  return {};
}

std::vector<tensor> run(graph& g, std::unordered_map<std::string, tensor> const& inputs) {
  for (auto* input : g.inputs) {
    auto const given = inputs.find(input->name);
    if (given == inputs.end()) throw std::runtime_error("input '" + input->name + "' is missing");
    input->computed = given->second;
  }
  std::vector<tensor> operands, outputs;
  for (auto& n : g.nodes) {
    auto const started = std::chrono::steady_clock::now();
    operands.clear();
    for (auto const* v : n.operands) operands.push_back(contents(v));
    try {
      auto results = n.run(n, operands);
      for (std::size_t i = 0; i < results.size() && i < n.results.size(); ++i)
        n.results[i]->computed = std::move(results[i]);
    } catch (std::exception const& error) {
      throw std::runtime_error(n.op + ": " + error.what());
    }
    n.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  }
  for (auto const* v : g.outputs) outputs.push_back(contents(v));
  return outputs;
}

}  // namespace mini
