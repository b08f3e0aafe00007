// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>

#include <fuse/ops/element_types.hpp>
#include <fuse/ops/onnx.hpp>

namespace ops_element_types {

namespace {

using fuse::element_type;

constexpr std::uint32_t set(element_type a, element_type b) {
  return std::uint32_t{1} << static_cast<int>(a) | std::uint32_t{1} << static_cast<int>(b);
}
constexpr auto floats = set(element_type::float32, element_type::float16);
constexpr auto integers = set(element_type::int32, element_type::int64);

fuse::operator_row const& row(std::string_view name, int version) {
  static constexpr auto names = fuse::onnx.names();
  return *names.row(names.code(name), version);
}
fuse::element_types const* types(std::string_view name, int version) {
  fuse::element_types const* found = nullptr;
  for (auto const& each : row(name, version).types)
    if (each.since <= version) found = &each;
  return found;
}

}  // namespace

TEST_CASE("an operand is of one of its types, or of one that is not known") {
  constexpr fuse::element_types two{1, {floats, integers}, floats};
  STATIC_REQUIRE(two.takes(0, element_type::float16));
  STATIC_REQUIRE_FALSE(two.takes(0, element_type::int32));
  STATIC_REQUIRE(two.takes(1, element_type::int64));
  STATIC_REQUIRE(two.takes(0, element_type::unknown));
  STATIC_REQUIRE(two.takes(2, element_type::boolean));
  STATIC_REQUIRE(two.gives(element_type::float32));
  STATIC_REQUIRE_FALSE(two.gives(element_type::int32));
  STATIC_REQUIRE(fuse::element_types{}.takes(0, element_type::string));
}

TEST_CASE("of any number of operands, all are of the last one's types") {
  constexpr fuse::element_types many{1, {floats}, floats, true};
  STATIC_REQUIRE(many.takes(7, element_type::float32));
  STATIC_REQUIRE_FALSE(many.takes(1, element_type::int32));
  STATIC_REQUIRE_FALSE(many.takes(7, element_type::int32));
}

TEST_CASE("what ONNX's operators take depends on the operator set") {
  CHECK_FALSE(types("Relu", 13)->takes(0, element_type::int32));
  CHECK(types("Relu", 14)->takes(0, element_type::int32));
  CHECK_FALSE(types("Add", 12)->takes(1, element_type::bfloat16));
  CHECK(types("Add", 13)->takes(1, element_type::bfloat16));
  CHECK_FALSE(types("Max", 11)->takes(3, element_type::int64));
  CHECK(types("Max", 12)->takes(3, element_type::int64));
  CHECK_FALSE(types("Cast", 9)->gives(element_type::bfloat16));
  CHECK_FALSE(types("Where", 16)->takes(0, element_type::float32));
  CHECK(row("SimplifiedLayerNormalization", 17).types.size() == 0);
}

TEST_CASE("ONNX's operators are written from the operator set on that has them") {
  CHECK(row("Swish", 13).emit_since == 24);
  CHECK(row("Gelu", 24).emit_since == 20);
  CHECK(row("LayerNormalization", 11).emit_since == 0);  // onnxruntime's
  CHECK(row("LayerNormalization", 17).emit_since == 17);
  auto const& attributes = *row("ArgMax", 11).attributes;
  CHECK_FALSE(attributes.all[attributes.find("select_last_index")].is_of(11));
  CHECK(attributes.all[attributes.find("select_last_index")].is_of(12));
  CHECK(attributes.all[attributes.find("axis")].is_of(1));
}

}  // namespace ops_element_types
