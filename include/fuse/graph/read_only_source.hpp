// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string_view>

#include <fuse/core/span.hpp>
#include <fuse/graph/image.hpp>

namespace fuse::inline v0::detail {

/// A source that takes no edits.
class read_only_source : public graph_source {
 public:
  bool insert(node_id, std::string_view, span<value_id const>, span<attribute const>, span<element_type const>,
              std::string_view) override {
    return false;
  }
  bool add_constant(std::uint32_t, tensor_view, std::string_view) override { return false; }
  void replace_uses(value_id, value_id) override {}
  void erase(node_id) override {}
  void forget(node_id, value_id) override {}
  bool declare(function_body const&) override { return false; }
};

}  // namespace fuse::inline v0::detail
