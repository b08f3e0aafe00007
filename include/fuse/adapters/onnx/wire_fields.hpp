// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace fuse::inline v0::adapters::detail {

/// Reads protobuf's wire format. Numbers are as long as the parsers of the newest ONNX take them.
class wire_cursor {
 public:
  explicit wire_cursor(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

  [[nodiscard]] bool number(std::uint64_t& value, unsigned longest = 10) {
    value = 0;
    for (unsigned i = 0; i < longest && at_ < bytes_.size(); ++i) {
      auto const byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7fu) << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }
  /// Of a field.
  [[nodiscard]] bool tag(std::uint32_t& field, unsigned& type) {
    std::uint64_t value = 0;
    if (!number(value, 5) || value > std::numeric_limits<std::uint32_t>::max()) return false;
    field = static_cast<std::uint32_t>(value >> 3);
    type = static_cast<unsigned>(value & 7u);
    return field != 0;
  }
  [[nodiscard]] bool skip(std::uint64_t count) {
    if (count > left()) return false;
    at_ += static_cast<std::size_t>(count);
    return true;
  }
  /// The last `count` bytes that were passed.
  [[nodiscard]] std::string_view passed(std::uint64_t count) const {
    return bytes_.substr(at_ - static_cast<std::size_t>(count), static_cast<std::size_t>(count));
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// Where a message is cut off, and where it holds no field, in words.
[[nodiscard]] inline std::string cut_off_at(std::size_t at) {
  return "it is cut off at its byte " + std::to_string(at);
}
[[nodiscard]] inline std::string no_field_at(std::size_t at) {
  return "what stands at its byte " + std::to_string(at) + " is no field";
}

/// Calls `visit(number, content)` for each field of a message that came with a length, until one returns false; those
/// within groups, of which at most `deepest` nest, are passed over. Returns what is wrong with the message before that:
/// "it ...", or nothing.
template <class Visit>
[[nodiscard]] std::string read_fields(std::string_view bytes, int deepest, Visit&& visit) {
  wire_cursor cursor(bytes);
  std::vector<std::uint32_t> groups;
  while (!cursor.done()) {
    auto const begin = cursor.at();
    std::uint32_t field = 0;
    unsigned type = 0;
    if (!cursor.tag(field, type)) return no_field_at(begin);
    std::uint64_t value = 0;
    bool there = true;
    switch (type) {
      case 0: there = cursor.number(value); break;
      case 1: there = cursor.skip(8); break;
      case 5: there = cursor.skip(4); break;
      case 2:
        if (!cursor.number(value, 5)) return cut_off_at(begin);
        if (auto const left = cursor.left(); !cursor.skip(value))
          return "a part at its byte " + std::to_string(begin) + " announces " + std::to_string(value) +
                 " bytes, and has " + std::to_string(left);
        if (groups.empty() && !visit(field, cursor.passed(value))) return {};
        break;
      case 3:
        groups.push_back(field);
        if (static_cast<int>(groups.size()) > deepest) return "it has groups deeper than protobuf reads";
        break;
      case 4:
        if (groups.empty() || groups.back() != field) return no_field_at(begin);
        groups.pop_back();
        break;
      default: return no_field_at(begin);
    }
    if (!there) return cut_off_at(begin);
  }
  return groups.empty() ? std::string() : "a group in it does not end";
}

}  // namespace fuse::inline v0::adapters::detail
