// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include <chrono>
#include <stdexcept>

namespace mini {

std::size_t program::number(value const* v) {
  if (v == nullptr) return 0;
  auto const [at, is_new] = numbers_.emplace(v, values_.size());
  if (is_new) values_.push_back(v->constant);
  return at->second;
}

program::program(graph& g, std::string& error) : graph_(&g), values_(1) {
  for (auto& n : g.nodes) {
    step made{&n, function_of(n), {}, {}};
    if (made.run == nullptr) {
      error = "operator '" + n.op + "' is not among those of this runtime";
      return;
    }
    for (auto const* v : n.operands) made.operands.push_back(number(v));
    for (auto const* v : n.results) made.results.push_back(number(v));
    steps_.push_back(std::move(made));
  }
  for (auto const* v : g.inputs) number(v);
  for (auto const* v : g.outputs) number(v);
}

std::vector<tensor> program::run(std::unordered_map<std::string, tensor> const& inputs) {
  for (auto const* input : graph_->inputs) {
    auto const given = inputs.find(input->name);
    if (given == inputs.end()) throw std::runtime_error("input '" + input->name + "' is missing");
    values_[number(input)] = given->second;
  }
  std::vector<tensor> operands;
  for (auto const& now : steps_) {
    auto const started = std::chrono::steady_clock::now();
    operands.clear();
    for (auto const at : now.operands) operands.push_back(values_[at]);
    try {
      auto results = now.run(*now.what, operands);
      for (std::size_t i = 0; i < results.size() && i < now.results.size(); ++i)
        values_[now.results[i]] = std::move(results[i]);
    } catch (std::exception const& error) {
      throw std::runtime_error(now.what->op + ": " + error.what());
    }
    now.what->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  }
  std::vector<tensor> outputs;
  for (auto const* v : graph_->outputs) outputs.push_back(values_[number(v)]);
  return outputs;
}

}  // namespace mini
