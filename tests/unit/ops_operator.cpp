// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <set>
#include <string>

#include <fuse/ops/operator.hpp>

namespace ops_operator {

using fuse::info;
using fuse::op_group;
using fuse::op_kind;
using fuse::opcode;

TEST_CASE("every neutral operator stands in the table once, under a name of its own") {
  std::set<opcode> codes;
  std::set<std::string> names;
  for (auto const& row : fuse::operator_table) {
    CAPTURE(row.name);
    CHECK(codes.insert(row.op).second);
    CHECK(names.emplace(row.name).second);
    CHECK(&info(row.op) == &row);
    CHECK((row.most == -1 || row.least <= row.most));
  }
  CHECK(codes.size() == static_cast<std::size_t>(opcode::count_) - 1);  // all but `opaque`
}

TEST_CASE("what nobody described is opaque") {
  STATIC_REQUIRE(info(opcode::opaque).kind == op_kind::opaque);
  STATIC_REQUIRE(fuse::name_of(opcode::opaque) == "opaque");
}

TEST_CASE("sums and products are groups, commutative where they are") {
  for (auto op : {opcode::add, opcode::mul}) CHECK(info(op).commutative);
  for (auto op : {opcode::sub, opcode::div, opcode::pow}) CHECK_FALSE(info(op).commutative);
  for (auto op : {opcode::add, opcode::sub, opcode::neg}) CHECK(info(op).group == op_group::sum);
  for (auto op :
       {opcode::mul, opcode::div, opcode::reciprocal, opcode::sqrt, opcode::rsqrt, opcode::pow, opcode::square})
    CHECK(info(op).group == op_group::product);
  CHECK(info(opcode::exp).group == op_group::none);
}

TEST_CASE("defaults of parameters are those of the standard") {
  auto fallback = [](opcode op, std::string_view name) {
    auto const* p = fuse::parameter_of(op, name);
    return p == nullptr ? -100.0 : p->fallback;
  };
  CHECK(fallback(opcode::mean, "keepdims") == 1);
  CHECK(fallback(opcode::mean, "noop_with_empty_axes") == 0);
  CHECK(fallback(opcode::layer_norm, "epsilon") == 1e-5);
  CHECK(fallback(opcode::layer_norm, "axis") == -1);
  CHECK(fallback(opcode::gemm, "beta") == 1);
  CHECK(fallback(opcode::gemm, "axis") == -100);
}

TEST_CASE("parameters of one name are of one kind") {
  for (auto const& row : fuse::operator_table)
    for (auto const& p : row.parameters) {
      CAPTURE(row.name, p.name);
      auto const* any = fuse::parameter_named(p.name);
      REQUIRE(any != nullptr);
      CHECK(any->real == p.real);
      CHECK((any->axis == fuse::axis_use::none) == (p.axis == fuse::axis_use::none));
    }
  CHECK(fuse::parameter_named("epsilon")->real);
  CHECK(fuse::parameter_named("no such parameter") == nullptr);
}

}  // namespace ops_operator
