// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include "operators.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace mini {
namespace {

struct known_operator {
  function run = nullptr;
  bool is_product = false;
  int says_shape_from = -1;
};

known_operator known(std::string_view op) {
  static auto const all = [] {
    std::map<std::string_view, known_operator> made;
    for (auto const& some : {elementwise_operators(), shape_operators(), row_operators(), quantised_operators()})
      for (auto const& each : some) made[each.op] = {each.run, false, each.says_shape_from};
    for (auto const& each : products()) made[each.op] = {each.run, true, each.says_shape_from};
    return made;
  }();
  auto const found = all.find(op);
  return found == all.end() ? known_operator{} : found->second;
}

// What is given on as it is, in whatever shape, moves nothing.
double moved(tensors const& operands, tensors const& results) {
  double bytes = 0;
  std::vector<bool> is_given_on(operands.size(), false);
  for (auto const& result : results) {
    bool found = false;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i] && operands[i].shares(result)) found = is_given_on[i] = true;
    if (!found) bytes += static_cast<double>(result.bytes());
  }
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!is_given_on[i]) bytes += static_cast<double>(operands[i].bytes());
  return bytes;
}

// The values whose contents, and those whose shape, depend on nothing but the shapes of the inputs.
struct known_values {
  std::set<value const*> contents, shape;

  explicit known_values(graph const& g) : shape(g.inputs.begin(), g.inputs.end()) {
    for (auto const& n : g.nodes) {
      auto const says = known(n.op).says_shape_from;
      bool all_contents = true, all_shapes = true;
      for (std::size_t i = 0; i < n.operands.size(); ++i) {
        auto const* const v = n.operands[i];
        bool const is_constant = v == nullptr || v->constant;
        bool const is_known = is_constant || contents.contains(v);
        all_contents = all_contents && is_known;
        bool const says_shape = says >= 0 && i >= static_cast<std::size_t>(says);
        all_shapes = all_shapes && (is_known || (shape.contains(v) && !says_shape));
      }
      if (all_shapes) shape.insert(n.results.begin(), n.results.end());
      if (all_contents || (n.op == "Shape" && all_shapes)) contents.insert(n.results.begin(), n.results.end());
    }
  }
};

}  // namespace

tensor contents(value const* v) { return v == nullptr ? tensor() : v->constant ? v->constant : v->computed; }

step step_of(node const& n) {
  auto const as = known(n.op);
  if (as.run == nullptr) throw std::runtime_error("operator '" + n.op + "' is not among those of this runtime");
  return {.operands = n.operands,
          .results = n.results,
          .run = [&n, as](tensors const& operands) { return as.run(n, operands); },
          .op = n.op,
          .is_product = as.is_product};
}

program program_of(graph const& g) {
  std::vector<step> all;
  for (auto const& n : g.nodes) all.push_back(step_of(n));
  return {g, std::move(all)};
}

program::program(graph const& g, std::vector<step> all) : steps(std::move(all)) {
  auto kept = known_values(g).contents;
  for (auto& s : steps)
    s.is_of_shapes = std::all_of(s.results.begin(), s.results.end(), [&](auto const* v) { return kept.contains(v); });
  kept.insert(g.outputs.begin(), g.outputs.end());
  for (auto s = steps.rbegin(); s != steps.rend(); ++s)
    for (auto const* all_of : {&s->operands, &s->results})
      for (auto* const v : *all_of)
        if (v != nullptr && !v->constant && kept.insert(v).second) s->read_last.push_back(v);
}

void run(step& one) {
  auto const started = std::chrono::steady_clock::now();
  tensors operands;
  for (auto const* v : one.operands) operands.push_back(contents(v));
  try {
    auto results = one.run(operands);
    one.bytes = moved(operands, results);
    for (std::size_t i = 0; i < results.size() && i < one.results.size(); ++i)
      if (one.results[i] != nullptr) one.results[i]->computed = std::move(results[i]);
  } catch (std::exception const& error) {
    throw std::runtime_error(one.op + ": " + error.what());
  }
  for (auto* const v : one.read_last) v->computed = {};
  one.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

tensors run(graph& g, program& of, std::unordered_map<std::string, tensor> const& inputs) {
  std::vector<shape> shapes;
  for (auto* input : g.inputs) {
    auto const given = inputs.find(input->name);
    if (given == inputs.end()) throw std::runtime_error("input '" + input->name + "' is missing");
    input->computed = given->second;
    shapes.push_back(given->second.dims);
  }
  bool const known_shapes = !shapes.empty() && shapes == std::exchange(of.shapes, {});
  for (auto& s : of.steps)
    if (!known_shapes || !s.is_of_shapes) run(s);
  of.shapes = std::move(shapes);
  tensors outputs;
  for (auto const* v : g.outputs) outputs.push_back(contents(v));
  return outputs;
}

}  // namespace mini
