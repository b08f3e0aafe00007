// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  std::size_t at = 0, deepest = 0;
  auto const number = [&](std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
      auto const byte = static_cast<unsigned char>(bytes[at++]);
      value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  while (!stack.empty()) {
    auto const top = stack.back();
    if (at >= top.end) {
      stack.pop_back();
      continue;
    }
    auto const begin = at;
    auto const where = [&] { return " at byte " + std::to_string(begin); };
    std::uint64_t tag = 0, length = 0;
    if (!number(tag)) return "is cut off" + where();
    bool whole = true;
    switch (tag & 7u) {
      case 0: whole = number(length); break;
      case 1: at += 8; break;
      case 5: at += 4; break;
      case 2: {
        whole = number(length);
        if (!whole) break;
        auto const left = bytes.size() - at;
        if (length > left)
          return stack.size() == 1 && begin == 0
                     ? "is no ONNX model, or is cut off after " + std::to_string(bytes.size()) + " bytes"
                     : "is cut off:" + where() + " it announces " + std::to_string(length) + " bytes, and has " +
                           std::to_string(left);
        if (length > top.end - at) return "is no ONNX model: a part" + where() + " is longer than the whole around it";
        if (auto const kind = inner(top.kind, tag >> 3); kind != message::leaf)
          stack.push_back({at + static_cast<std::size_t>(length), kind});
        else
          at += static_cast<std::size_t>(length);
        break;
      }
      default: return "is no ONNX model: what stands" + where() + " is no protobuf field";
    }
    if (!whole || at > bytes.size()) return "is cut off" + where();
    if ((tag >> 3) == 0) return "is no ONNX model: what stands" + where() + " is no protobuf field";
    if (stack.size() > deepest) deepest = stack.size();
  }
  if (deepest > 90) return "has bodies that nest deeper than protobuf reads (100 messages within each other)";
  return "is no ONNX model: protobuf cannot decode it";
}

}  // namespace fuse::inline v0::adapters::detail
