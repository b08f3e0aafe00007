// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include <fuse/adapters/onnx/scoped_names.hpp>
#include <fuse/adapters/onnx/tables.hpp>

namespace fuse::inline v0::adapters::detail {

/// Gives new nodes names that no other node has. Only a name that ends like the wanted one, but for a number, stands in
/// its way: as long as the model has none, its names are not taken in, which took longer than all else in making a
/// node.
class onnx_node_names {
 public:
  explicit onnx_node_names(onnx_tables const& tables) : t_(tables) {}

  /// Names a node that is to stay where it is: `wanted`, with a number behind it where another one has that name.
  void name(::onnx::NodeProto& node, std::string& wanted) {
    if (wanted.empty()) wanted = "value";
    if (!listed_ && t_.node_names.may_have(wanted)) list();
    node.set_name(wanted);
    if (names_.add(node.name())) return;
    names_.make_fresh(wanted);
    node.set_name(wanted);
    names_.add(node.name());
  }

 private:
  void list() {
    listed_ = true;
    names_.reserve(t_.nodes.size() + t_.nodes.size() / 4);
    for (auto const& n : t_.nodes)
      if (n.proto != nullptr && !n.made) names_.add(n.proto->name());
  }

  onnx_tables const& t_;
  scoped_names names_;
  bool listed_ = false;
};

}  // namespace fuse::inline v0::adapters::detail
