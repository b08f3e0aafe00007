// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

  /// Names a node that is to stay where it is: `wanted`, with a number behind it where another one has that name.
  void name(::onnx::NodeProto& node, std::string& wanted) {
    if (wanted.empty()) wanted = "value";
    if (!looked_) look();
    if (!listed_ && (is_digit(wanted.back()) || endings_[hash(ending(wanted))])) list();
    node.set_name(wanted);
    if (names_.add(node.name())) return;
    names_.make_fresh(wanted);
    node.set_name(wanted);
    names_.add(node.name());
  }

 private:
  static constexpr std::size_t bits = 1 << 13;

  [[nodiscard]] static std::string_view ending(std::string_view name) {
    return name.size() > 8 ? name.substr(name.size() - 8) : name;
  }
  [[nodiscard]] static std::size_t hash(std::string_view ending) {
    std::uint64_t word = 0;
    std::memcpy(&word, ending.data(), ending.size());
    return static_cast<std::size_t>((word * 0x9e3779b97f4a7c15u) >> 51);
  }
  [[nodiscard]] static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  // Marks how names end that do not end in a digit, and what stands before the number of those that do.
  void look() {
    looked_ = true;
    for (auto const& n : t_.nodes) {
      if (n.proto == nullptr || n.made) continue;
      std::string_view const name = n.proto->name();
      auto stem = name.size();
      while (stem != 0 && is_digit(name[stem - 1])) --stem;
      if (stem == name.size())
        endings_.set(hash(ending(name)));
      else if (stem != 0 && name[stem - 1] == '_')
        endings_.set(hash(ending(name.substr(0, stem - 1))));
    }
  }
  void list() {
    listed_ = true;
    names_.reserve(t_.nodes.size() + t_.nodes.size() / 4);
    for (auto const& n : t_.nodes)
      if (n.proto != nullptr && !n.made) names_.add(n.proto->name());
  }

  onnx_tables const& t_;
  scoped_names names_;
  std::bitset<bits> endings_;
  bool looked_ = false, listed_ = false;
};

}  // namespace fuse::inline v0::adapters::detail
