// SPDX-License-Identifier: BSL-1.0
#pragma once

// The runtime's own graph. It knows nothing of fuse, and of ONNX only the operators' names.

#include "tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mini {

using attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, tensor>;

struct node;

/// What a node is computed with: its results from its operands, of which absent ones are empty tensors.
using function = tensors (*)(node const&, tensors const& operands);

struct value {
  std::string name{};
  node* producer = nullptr;
  tensor constant{};
  tensor computed{};  // by the last run, or given to it
  // As the model declares it; a dimension is a number, or a name that stands for one.
  std::vector<std::variant<std::int64_t, std::string>> dims{};
  char type = '?';  // 'f'loat, 'i'nteger of 64 bits, 'b'oolean, 'u'nsigned or 's'igned of 8 bits
  bool has_dims = false;
};

struct node {
  std::string op{};
  std::vector<value*> operands{};  // null where an optional one is absent
  std::vector<value*> results{};
  std::map<std::string, attribute, std::less<>> attributes{};
  std::list<node>::iterator place{};

  template <class T>
  [[nodiscard]] T get(std::string const& name, T otherwise) const {
    auto const found = attributes.find(name);
    return found == attributes.end() ? std::move(otherwise) : std::get<T>(found->second);
  }
};

struct graph {
  std::list<node> nodes{};  // in an order in which they can be computed
  std::list<value> values{};
  std::vector<value*> inputs{}, outputs{};
  int version = 0;          // of the operator set
  double tolerance = 1e-5;  // of outputs, more where the model is of halves, which others round on the way

  value* make_value(std::string name = {}) { return &values.emplace_back(value{std::move(name)}); }

  node* insert(std::list<node>::iterator before, std::string op, std::vector<value*> operands,
               std::vector<value*> results) {
    auto const at = nodes.insert(before, node{std::move(op), std::move(operands), std::move(results)});
    at->place = at;
    for (auto* const result : at->results) result->producer = &*at;
    return &*at;
  }
};

}  // namespace mini
