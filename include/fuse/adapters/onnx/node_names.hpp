// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include <fuse/adapters/onnx/scoped_names.hpp>
#include <fuse/adapters/onnx/tables.hpp>

namespace fuse::inline v0::adapters::detail {

/// Gives new nodes names that no other node has. Only a name that ends like the wanted one, but for a number, stands in
/// its way: as long as the model has none, its names are not taken in, which took longer than all else in making a
/// node.
class onnx_node_names {
 public:
  explicit onnx_node_names(onnx_tables const& tables) : t_(tables) {}

  /// A name for a new node, which stays where it is: `wanted`, with a number behind it where another one has that name.
  std::string const& name(std::string_view wanted) {
    auto& made = made_.emplace_back(wanted.empty() ? "value" : wanted);
    if (!listed_ && t_.node_names.may_have(made)) list();
    if (names_.add(made)) return made;
    names_.make_fresh(made);
    names_.add(made);
    return made;
  }

 private:
  void list() {
    listed_ = true;
    names_.reserve(t_.nodes.size() + t_.nodes.size() / 4);
    for (auto const& n : t_.nodes)
      if (n.proto != nullptr && !n.made) names_.add(n.proto->name());
  }

  onnx_tables const& t_;
  std::deque<std::string> made_;
  scoped_names names_;
  bool listed_ = false;
};

}  // namespace fuse::inline v0::adapters::detail
