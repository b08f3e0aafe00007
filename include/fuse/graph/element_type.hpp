// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fuse::inline v0 {

/// Element types of tensors. The numbers are those of ONNX's `TensorProto.DataType`, so that this adapter casts and
/// others map.
enum class element_type : std::uint8_t {
  unknown = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  other =
      17,  ///< known to the graph, not to fuse (8-bit floats, 4-bit integers, sequences): equal to nothing but itself
};

/// Bytes of one element; 0 where elements have no fixed size (string, unknown, other).
[[nodiscard]] constexpr std::size_t size_of(element_type type) {
  switch (type) {
    case element_type::uint8:
    case element_type::int8:
    case element_type::boolean: return 1;
    case element_type::uint16:
    case element_type::int16:
    case element_type::float16:
    case element_type::bfloat16: return 2;
    case element_type::float32:
    case element_type::int32:
    case element_type::uint32: return 4;
    case element_type::float64:
    case element_type::int64:
    case element_type::uint64:
    case element_type::complex64: return 8;
    case element_type::complex128: return 16;
    default: return 0;
  }
}

[[nodiscard]] constexpr std::string_view name_of(element_type type) {
  constexpr std::string_view names[] = {"unknown", "float32", "uint8",     "int8",       "uint16",   "int16",
                                        "int32",   "int64",   "string",    "boolean",    "float16",  "float64",
                                        "uint32",  "uint64",  "complex64", "complex128", "bfloat16", "other"};
  return names[static_cast<std::size_t>(type)];
}

[[nodiscard]] constexpr bool is_floating(element_type type) {
  return type == element_type::float32 || type == element_type::float16 || type == element_type::float64 ||
         type == element_type::bfloat16;
}

[[nodiscard]] constexpr bool is_integer(element_type type) {
  return type == element_type::uint8 || type == element_type::int8 || type == element_type::uint16 ||
         type == element_type::int16 || type == element_type::int32 || type == element_type::int64 ||
         type == element_type::uint32 || type == element_type::uint64;
}

[[nodiscard]] constexpr bool is_unsigned(element_type type) {
  return type == element_type::uint8 || type == element_type::uint16 || type == element_type::uint32 ||
         type == element_type::uint64;
}

/// Whether every value of floating type `from` is a value of floating type `to`: half and bfloat16 widen to float,
/// float to double.
[[nodiscard]] constexpr bool widens(element_type from, element_type to) {
  if (from == to) return is_floating(from);
  if (!is_floating(from) || !is_floating(to)) return false;
  return size_of(from) < size_of(to);
}

}  // namespace fuse::inline v0
