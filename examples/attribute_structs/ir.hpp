// SPDX-License-Identifier: BSL-1.0
#pragma once

// A framework's graph, which knows nothing of fuse. The attributes of an operator are a struct of its own.

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace framework {

struct reduce {
  std::vector<int> over{-1};
  bool keep = true;
};
struct norm {
  int from = -1;
  float eps = 1e-6f;
};
struct elu {
  double alpha = 1;
};

using attributes = std::variant<std::monostate, reduce, norm, elu>;

// Of an operator with one result; inputs and constants have no operator.
struct node {
  std::string op{}, name{};
  std::vector<node*> operands{};
  framework::attributes attributes{};
  std::vector<std::int64_t> dims{};
  std::vector<float> contents{};  // of a constant
};

struct graph {
  std::list<std::unique_ptr<node>> order{}, leaves{};
  std::vector<node*> results{};

  node* input(std::string name, std::vector<std::int64_t> dims) {
    return add_leaf({{}, std::move(name), {}, {}, std::move(dims), {}});
  }
  node* constant(std::vector<std::int64_t> dims, std::vector<float> contents) {
    return add_leaf({{}, "constant", {}, {}, std::move(dims), std::move(contents)});
  }
  node* add(std::string op, std::vector<node*> operands, framework::attributes given = {}) {
    return insert(nullptr, std::move(op), std::move(operands), std::move(given));
  }
  node* insert(node* before, std::string op, std::vector<node*> operands, framework::attributes given) {
    auto const place = std::find_if(order.begin(), order.end(), [&](auto const& n) { return n.get() == before; });
    auto name = op + std::to_string(++made_);
    return order
        .insert(place, std::make_unique<node>(
                           node{std::move(op), std::move(name), std::move(operands), std::move(given), {}, {}}))
        ->get();
  }

 private:
  node* add_leaf(node made) { return leaves.emplace_back(std::make_unique<node>(std::move(made))).get(); }
  int made_ = 0;
};

}  // namespace framework
