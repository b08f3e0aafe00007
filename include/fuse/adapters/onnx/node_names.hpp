// SPDX-License-Identifier: BSL-1.0
#pragma once

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
  explicit onnx_node_names(onnx_tables& tables) : t_(tables), names_(tables.texts) {}

  /// A name for a new node, which stays where it is: `wanted`, with a number behind it where another one has that name.
  std::string_view name(std::string_view wanted) {
    auto const made = t_.texts.keep(wanted.empty() ? "value" : wanted);
    if (!listed_ && t_.node_names.may_have(made)) list();
    return names_.add(made) ? made : names_.fresh(made);
  }

 private:
  void list() {
    listed_ = true;
    names_.reserve(t_.nodes.size() + t_.nodes.size() / 4);
    for (auto const& n : t_.nodes)
      if (n.proto != nullptr && !n.made) names_.add(n.name);
  }

  onnx_tables& t_;
  scoped_names names_;
  bool listed_ = false;
};

}  // namespace fuse::inline v0::adapters::detail
