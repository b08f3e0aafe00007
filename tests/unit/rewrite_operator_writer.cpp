// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <fuse/rewrite/operator_writer.hpp>

namespace rewrite_operator_writer {

using namespace rewriting;

namespace {

using fuse::opcode;
using fuse::detail::written_parameter;

// What the hook of a dialect is told, as a text; it refuses everything.
std::string told;
std::string_view tell(fuse::emission const& made) {
  told = std::string(fuse::name_of(made.op));
  for (std::size_t i = 0; i < made.operands.size(); ++i) {
    auto const& operand = made.operands[i];
    told += made.has(i) ? " " + std::string(fuse::name_of(operand.type)) : " none";
    if (!operand.has_rank) continue;
    told += '[';
    for (auto e : operand.shape)
      told += (told.back() == '[' ? "" : ",") + (e.known() ? std::to_string(e.value()) : "n");
    told += ']';
    if (operand.is_number()) told += " = " + std::to_string(operand.number);
  }
  for (auto const* name : {"axis", "epsilon", "axes"}) told += " " + std::to_string(made.number(name)).substr(0, 5);
  CHECK_FALSE(made.has(made.operands.size()));
  return "no";
}

// Writes `op` in ONNX with that hook; returns why it was refused, and the element type in which it may be right.
std::pair<std::string, element_type> write(sketch& g, opcode op, std::vector<graph::value> const& operands,
                                           std::vector<written_parameter> parameters) {
  auto names = fuse::dialect(fuse::onnx);
  names.refuse = &tell;
  fuse::graph_binding<graph> bound(g, fuse::names_in(names), names.newest);
  bound.image.version = g.version();
  fuse::detail::facts known(bound.image, names);
  known.run();
  fuse::detail::transaction changes(bound.image, known);
  fuse::detail::basic_operator_writer<fuse::graph_image> writer(bound.image, known, names, fuse::target::standard,
                                                                changes);
  writer.begin(bound.image.producer(bound.number(g.result(last(g)))));
  std::vector<fuse::value_id> numbers;
  for (auto v : operands) numbers.push_back(v == graph::value{} ? fuse::absent : bound.number(v));
  auto made = writer.neutral(op, numbers, parameters, 1);
  REQUIRE_FALSE(made);
  auto const why = made.why();
  return {why.reason, why.wider};
}

}  // namespace

TEST_CASE("a dialect is told of each operand what is known, and of each parameter what is given or its default") {
  sketch g;
  auto const a = g.in("a", {"n", 8}), s = g.scalar(2.0f), unknown = g.input("b", element_type::float32);
  g.end(g.add("Relu", {g.add("Sum", {a, s, unknown})}));
  auto const [reason, wider] = write(g, opcode::layer_norm, {a, s, {}, unknown}, {{"axis", -2}});
  CHECK(reason == "no");
  CHECK(wider == element_type::unknown);
  CHECK(told == "layer_norm float32[n,8] float32[] = 2.000000 none float32 -2.00 0.000 nan");
}

TEST_CASE("axes are a number to a parameter that counts an axis, and else a list, which is no number") {
  sketch g;
  auto const a = g.in("a", {4, 8});
  g.end(g.add("Relu", {a}));
  written_parameter axis{"axis"}, axes{"axes"};
  axis.axes = axes.axes = 3;
  write(g, opcode::layer_norm, {a}, {axis});
  CHECK(told.find(" -2.00 ") != std::string::npos);
  write(g, opcode::mean, {a}, {axes});
  CHECK(told.substr(told.size() - 3) == "nan");
}

TEST_CASE("what is refused of halves may be right in float") {
  for (auto const type : {element_type::float16, element_type::float32, element_type::int16}) {
    sketch g;
    auto const a = g.in("a", {4, 8}, type);
    g.end(g.add("Relu", {a}));
    CHECK(write(g, opcode::abs, {a}, {}).second ==
          (type == element_type::float16 ? element_type::float32 : element_type::unknown));
  }
}

}  // namespace rewrite_operator_writer
