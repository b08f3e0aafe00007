// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fuse/adapters/onnx/external_data.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/tensor_view.hpp>

namespace fuse::inline v0::adapters::detail {

static_assert(std::endian::native == std::endian::little,
              "fuse: the ONNX adapter reads tensors in place, which are little-endian");

/// ONNX numbers element types as fuse does; those that fuse does not compute with are `other`.
[[nodiscard]] inline element_type element_type_of_onnx(int data_type) {
  if (data_type == 0) return element_type::unknown;
  return data_type >= 1 && data_type <= 16 ? static_cast<element_type>(data_type) : element_type::other;
}

/// Bits of one element; 0 where elements have no fixed size (strings, types newer than this table).
[[nodiscard]] inline unsigned bits_of_onnx(int data_type) {
  if (data_type >= 17 && data_type <= 20) return 8;  // 8-bit floats
  if (data_type >= 21 && data_type <= 23) return 4;  // 4-bit integers and floats
  if (data_type == 24) return 8;                     // an exponent
  if (data_type == 25 || data_type == 26) return 2;  // 2-bit integers
  if (data_type == 27 || data_type == 28) return 6;  // 6-bit floats
  return static_cast<unsigned>(size_of(element_type_of_onnx(data_type)) * 8);
}

/// The number of elements that `dims` says, or why it says none.
[[nodiscard]] inline std::string count_elements(::onnx::TensorProto const& t, std::uint64_t& count) {
  count = 1;
  bool empty = false;
  for (auto const extent : t.dims()) {
    if (extent < 0) return "has the negative dimension " + std::to_string(extent);
    if (extent == 0) {
      empty = true;
    } else if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 128 /
                           static_cast<std::uint64_t>(extent)) {
      return "has dimensions whose product overflows";
    } else {
      count *= static_cast<std::uint64_t>(extent);
    }
  }
  if (empty) count = 0;
  return {};
}

/// The tensors of a model: checked once, then read in place. Contents that ONNX spreads over wider fields, or keeps in
/// other files, get bytes of their own here.
class tensor_store {
 public:
  explicit tensor_store(std::filesystem::path folder = {}) : external_(std::move(folder)) {}

  [[nodiscard]] external_data const& external() const { return external_; }

  /// Checks a tensor and makes it readable. Returns what is wrong with it: "has ...", "keeps ...", or nothing.
  std::string admit(::onnx::TensorProto const& t) {
    std::uint64_t count = 0;
    if (auto wrong = count_elements(t, count); !wrong.empty()) return wrong;
    if (t.data_type() == 0) return "has no element type";
    if (t.data_location() == ::onnx::TensorProto::EXTERNAL) return admit_external(t, count);
    auto const bits = bits_of_onnx(t.data_type());
    auto const packed = (count * bits + 7) / 8;
    std::uint64_t const fields[] = {
        static_cast<std::uint64_t>(t.float_data_size()),  static_cast<std::uint64_t>(t.int32_data_size()),
        static_cast<std::uint64_t>(t.int64_data_size()),  static_cast<std::uint64_t>(t.double_data_size()),
        static_cast<std::uint64_t>(t.uint64_data_size()), static_cast<std::uint64_t>(t.string_data_size())};
    auto const own = field_of(t.data_type());
    for (int i = 0; i < 6; ++i)
      if (fields[i] != 0 && (i != own || !t.raw_data().empty()))
        return "keeps its contents in more than one field, or in the wrong one";
    auto const disagree = [&](std::uint64_t found, std::uint64_t wanted, char const* unit) {
      return "holds " + std::to_string(found) + unit + " where its shape wants " + std::to_string(wanted);
    };
    if (!t.raw_data().empty()) {
      if (own == 5) return "keeps text in raw_data";
      if (bits != 0 && t.raw_data().size() != packed) return disagree(t.raw_data().size(), packed, " bytes");
      return {};
    }
    if (bits == 0 && own != 5) return {};  // a type from the future
    auto const found = fields[own];
    auto const wanted = t.data_type() == 14 || t.data_type() == 15 ? count * 2 : bits < 8 && bits != 0 ? packed : count;
    if (found != wanted && !(bits < 8 && bits != 0 && found == count)) return disagree(found, wanted, " elements");
    if (own == 1 || t.data_type() == 12) narrow(t);
    return {};
  }

  /// The contents of an admitted tensor in place; null for strings, and for types or files that fuse cannot read.
  [[nodiscard]] tensor_view view(::onnx::TensorProto const& t) const {
    auto const type = element_type_of_onnx(t.data_type());
    if (size_of(type) == 0) return {};
    span<std::int64_t const> const shape(t.dims().data(), static_cast<std::size_t>(t.dims_size()));
    if (t.data_location() == ::onnx::TensorProto::EXTERNAL || narrowed(t)) {
      auto const at = bytes_.find(&t);
      return at == bytes_.end() ? tensor_view{} : tensor_view{type, shape, at->second};
    }
    if (!t.raw_data().empty()) return {type, shape, as_bytes(span(t.raw_data()))};
    switch (field_of(t.data_type())) {
      case 0: return {type, shape, bytes_in(t.float_data())};
      case 1: return {type, shape, bytes_in(t.int32_data())};
      case 2: return {type, shape, bytes_in(t.int64_data())};
      case 3: return {type, shape, bytes_in(t.double_data())};
      default: return {type, shape, bytes_in(t.uint64_data())};
    }
  }

  /// A tensor of rank 0, or of rank 1 where `extent` is given, that stands in attributes other than a TensorProto.
  tensor_view keep(element_type type, span<std::byte const> bytes, std::int64_t const* extent) {
    auto& copy = owned_.emplace_back(bytes.begin(), bytes.end());
    if (extent == nullptr) return {type, {}, copy};
    return {type, {&extents_.emplace_back(*extent), 1}, copy};
  }

 private:
  // Which field holds elements of a type where raw_data does not: float, int32, int64, double, uint64, string.
  static int field_of(int data_type) {
    switch (data_type) {
      case 1:
      case 14: return 0;
      case 7: return 2;
      case 8: return 5;
      case 11:
      case 15: return 3;
      case 12:
      case 13: return 4;
      default: return 1;
    }
  }

  // Whether elements stand in a field of a wider type.
  static bool narrowed(::onnx::TensorProto const& t) {
    return (t.int32_data_size() != 0 && t.data_type() != 6) || (t.uint64_data_size() != 0 && t.data_type() == 12);
  }

  template <class Field>
  static span<std::byte const> bytes_in(Field const& field) {
    return as_bytes(span(field.data(), static_cast<std::size_t>(field.size())));
  }

  void narrow(::onnx::TensorProto const& t) {
    auto const width = size_of(element_type_of_onnx(t.data_type()));
    if (!narrowed(t) || width == 0) return;
    auto const count = static_cast<std::size_t>(t.data_type() == 12 ? t.uint64_data_size() : t.int32_data_size());
    auto& bytes = owned_.emplace_back(count * width);
    for (std::size_t i = 0; i < count; ++i) {  // little-endian: the low bytes come first
      if (t.data_type() == 12) {
        auto const wide = t.uint64_data(static_cast<int>(i));
        std::memcpy(bytes.data() + i * width, &wide, width);
      } else {
        auto const wide = t.int32_data(static_cast<int>(i));
        std::memcpy(bytes.data() + i * width, &wide, width);
      }
    }
    bytes_[&t] = bytes;
  }

  static bool number_in(std::string const& text, std::uint64_t& number) {
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
  }

  std::string admit_external(::onnx::TensorProto const& t, std::uint64_t count) {
    std::string location;
    std::uint64_t offset = 0, length = 0;
    bool has_length = false;
    for (auto const& entry : t.external_data()) {
      if (entry.key() == "location") location = entry.value();
      if (entry.key() == "offset" && !number_in(entry.value(), offset))
        return "keeps external data at an offset that is no number";
      if (entry.key() == "length") {
        has_length = true;
        if (!number_in(entry.value(), length)) return "keeps external data of a length that is no number";
      }
    }
    if (t.data_type() == 8) return "keeps text in external data";
    if (!external_.has_folder()) return {};
    span<std::byte const> file;
    std::string error;
    if (!external_.find(location, file, error)) return "refers to files that do not help: " + error;
    auto const bits = bits_of_onnx(t.data_type());
    auto const packed = bits == 0 ? (has_length ? length : 0) : (count * bits + 7) / 8;
    if (has_length && length != packed)
      return "holds " + std::to_string(length) + " bytes of external data where its shape wants " +
             std::to_string(packed);
    if (offset > file.size() || file.size() - offset < packed)
      return "wants " + std::to_string(packed) + " bytes at offset " + std::to_string(offset) + " of external data '" +
             location + "', which has " + std::to_string(file.size());
    if (packed != 0 || count == 0)
      bytes_[&t] = file.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(packed));
    return {};
  }

  external_data external_;
  std::deque<std::vector<std::byte>> owned_;
  std::deque<std::int64_t> extents_;
  std::unordered_map<::onnx::TensorProto const*, span<std::byte const>> bytes_;
};

}  // namespace fuse::inline v0::adapters::detail
