// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/adapters/onnx/wire_fields.hpp>

namespace fuse::inline v0::adapters::detail {

/// Why protobuf could not decode a model: it says no more than that it could not. Walks the encoding as deep as graphs
/// go, with a stack of its own. Returns one sentence without a subject.
[[nodiscard]] inline std::string explain_undecodable(std::string_view bytes) {
  enum class message { model, graph, node, attribute, function, training, leaf };
  struct frame {
    std::size_t end;
    message kind;
  };
  auto const inner = [](message kind, std::uint64_t field) {
    switch (kind) {
      case message::model:
        return field == 7    ? message::graph
               : field == 20 ? message::training
               : field == 25 ? message::function
                             : message::leaf;
      case message::training: return field == 1 || field == 2 ? message::graph : message::leaf;
      case message::graph: return field == 1 ? message::node : message::leaf;
      case message::function: return field == 7 ? message::node : message::leaf;
      case message::node: return field == 5 ? message::attribute : message::leaf;
      case message::attribute: return field == 6 || field == 11 ? message::graph : message::leaf;
      default: return message::leaf;
    }
  };
  std::vector<frame> stack{{bytes.size(), message::model}};
  wire_cursor cursor(bytes);
  std::size_t deepest = 0;
  while (!stack.empty()) {
    auto const top = stack.back();
    auto const begin = cursor.at();
    if (begin >= top.end) {
      stack.pop_back();
      continue;
    }
    auto const where = [&] { return " at byte " + std::to_string(begin); };
    std::uint64_t tag = 0, length = 0;
    if (!cursor.number(tag)) return "is cut off" + where();
    bool whole = true;
    switch (tag & 7u) {
      case 0: whole = cursor.number(length); break;
      case 1: whole = cursor.skip(8); break;
      case 5: whole = cursor.skip(4); break;
      case 2: {
        whole = cursor.number(length);
        if (!whole) break;
        auto const left = cursor.left(), at = cursor.at();
        if (length > left)
          return stack.size() == 1 && begin == 0
                     ? "is no ONNX model, or is cut off after " + std::to_string(bytes.size()) + " bytes"
                     : "is cut off:" + where() + " it announces " + std::to_string(length) + " bytes, and has " +
                           std::to_string(left);
        if (length > top.end - at) return "is no ONNX model: a part" + where() + " is longer than the whole around it";
        if (auto const kind = inner(top.kind, tag >> 3); kind != message::leaf)
          stack.push_back({at + static_cast<std::size_t>(length), kind});
        else
          whole = cursor.skip(length);
        break;
      }
      default: return "is no ONNX model: what stands" + where() + " is no protobuf field";
    }
    if (!whole) return "is cut off" + where();
    if ((tag >> 3) == 0) return "is no ONNX model: what stands" + where() + " is no protobuf field";
    if (stack.size() > deepest) deepest = stack.size();
  }
  if (deepest > 90) return "has bodies that nest deeper than protobuf reads (100 messages within each other)";
  return "is no ONNX model: protobuf cannot decode it";
}

}  // namespace fuse::inline v0::adapters::detail
