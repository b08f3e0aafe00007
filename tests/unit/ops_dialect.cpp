// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <set>
#include <string>

#include <fuse/ops/dialect.hpp>
#include <fuse/ops/onnx.hpp>
#include <second_dialect.hpp>

namespace ops_dialect {

using fuse::opcode;
using fuse::target;

namespace {
constexpr fuse::dialect onnx = fuse::onnx;
constexpr fuse::dialect other = second::dialect;

constexpr opcode meaning(fuse::dialect const& d, std::string_view name, int version) {
  auto const* row = d.row(d.code(name), version);
  return row == nullptr ? opcode::opaque : row->op;
}
}  // namespace

TEST_CASE("a name is found by its code, an unknown one has none") {
  STATIC_REQUIRE(onnx.code("Add") != 0);
  STATIC_REQUIRE(onnx.code("Added") == 0);
  STATIC_REQUIRE(onnx.code("") == 0);
  STATIC_REQUIRE(onnx.row(0, 17) == nullptr);
  std::set<std::uint16_t> codes;
  std::set<std::string> names;
  for (auto const& row : onnx.rows) {
    names.emplace(row.name);
    codes.insert(onnx.code(row.name));
    CHECK(onnx.rows[onnx.code(row.name) - 1u].name == row.name);
  }
  CHECK(codes.size() == names.size());
}

TEST_CASE("the row that holds is the newest one of the version") {
  auto const axes = [](int version) { return onnx.row(onnx.code("ReduceMean"), version)->parameters.size(); };
  CHECK(axes(13) == 0);  // an attribute of the same name
  CHECK(axes(17) == 0);
  CHECK(axes(18) == 1);  // an operand
  CHECK(axes(24) == 1);
  CHECK(onnx.row(onnx.code("RMSNormalization"), 22) == nullptr);
  CHECK(meaning(onnx, "RMSNormalization", 23) == opcode::rms_norm);
}

TEST_CASE("rows of one name follow each other by rising version") {
  for (auto const& d : {onnx, other})
    for (std::size_t i = 1; i < d.rows.size(); ++i)
      if (d.rows[i].name == d.rows[i - 1].name) CHECK(d.rows[i].since > d.rows[i - 1].since);
  std::set<std::string> ended;
  for (std::size_t i = 1; i < onnx.rows.size(); ++i)
    if (onnx.rows[i].name != onnx.rows[i - 1].name) CHECK(ended.emplace(onnx.rows[i - 1].name).second);
}

TEST_CASE("what a rewrite creates depends on target and version") {
  auto const name = [](opcode op, int version, target to) {
    auto const* row = onnx.emitted(op, version, to);
    return row == nullptr ? std::string_view() : row->name;
  };
  CHECK(name(opcode::layer_norm, 17, target::standard) == "LayerNormalization");
  CHECK(name(opcode::layer_norm, 16, target::standard).empty());
  CHECK(name(opcode::layer_norm, 16, target::onnxruntime) == "LayerNormalization");
  CHECK(name(opcode::rms_norm, 23, target::standard) == "RMSNormalization");
  CHECK(name(opcode::rms_norm, 17, target::standard).empty());
  CHECK(name(opcode::rms_norm, 17, target::onnxruntime) == "SimplifiedLayerNormalization");
  CHECK(name(opcode::mean, 17, target::standard) == "ReduceMean");
}

TEST_CASE("a dialect is extended, and a row of a known name replaces it") {
  static constexpr fuse::operator_row more[] = {{"acme::Gelu", opcode::gelu}, {"Relu", opcode::opaque}};
  static constexpr auto table = fuse::onnx.with(more);
  constexpr fuse::dialect extended = table;
  CHECK(meaning(extended, "acme::Gelu", 17) == opcode::gelu);
  CHECK(meaning(extended, "Relu", 17) == opcode::opaque);
  CHECK(meaning(extended, "Add", 17) == opcode::add);
  CHECK(meaning(extended, "ReduceMean", 18) == opcode::mean);
  CHECK(extended.row(extended.code("ReduceMean"), 18)->parameters.size() == 1);
  CHECK(extended.code("") == 0);
  CHECK(meaning(onnx, "acme::Gelu", 17) == opcode::opaque);
  CHECK(extended.newest == onnx.newest);
}

TEST_CASE("names of one dialect mean nothing in another") {
  CHECK(meaning(other, "avg", 1) == opcode::mean);
  CHECK(other.code("ReduceMean") == 0);
  CHECK(onnx.code("avg") == 0);
}

}  // namespace ops_dialect
