// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/graph/graph_text.hpp>
#include <second_dialect.hpp>

#include "../../examples/your_graph/adapt.hpp"
#include "all.hpp"
#include "summary.hpp"

namespace your_graph {

namespace {

// What the second dialect calls the operators of the example's compiler, and their parameters.
constexpr std::pair<std::string_view, ir::opcode> operators[] = {
    {"plus", ir::opcode::add},           {"minus", ir::opcode::subtract},
    {"times", ir::opcode::multiply},     {"over", ir::opcode::divide},
    {"negate", ir::opcode::negate},      {"inverse", ir::opcode::reciprocal},
    {"squared", ir::opcode::square},     {"root", ir::opcode::sqrt},
    {"inverse_root", ir::opcode::rsqrt}, {"power", ir::opcode::power},
    {"magnitude", ir::opcode::absolute}, {"avg", ir::opcode::average},
    {"total", ir::opcode::sum},          {"insert_dims", ir::opcode::insert_axes},
    {"as_type", ir::opcode::convert},    {"matrix_product", ir::opcode::matrix_product},
    {"ramp", ir::opcode::relu}};
constexpr std::pair<std::string_view, std::string_view> parameters[] = {{"dim", "over"}, {"squeeze", "drop"}};

template <std::size_t Count, class T>
T named(std::pair<std::string_view, T> const (&table)[Count], std::string_view name) {
  auto const* const found = std::find_if(table, table + Count, [&](auto const& row) { return row.first == name; });
  CAPTURE(name);
  REQUIRE(found != table + Count);
  return found->second;
}

// An owned graph as a function. Identities are left out; an extent that is a symbol is one that only a run tells.
class copy {
 public:
  explicit copy(fuse::graph const& from) : from_(from) {
    for (auto const v : from.inputs()) values_[v.id] = parameter(v);
    for (auto const n : from.nodes()) values_[from.result(n).id] = instruction(n);
    for (std::size_t i = 0; i < from.outputs().size(); ++i)
      function.results.emplace_back(from.output_name(i), value(from.outputs()[i]));
  }

  ir::function function{};

 private:
  static std::vector<std::byte> bytes_of(fuse::tensor_view contents) {
    return {contents.bytes.begin(), contents.bytes.end()};
  }
  ir::ref parameter(fuse::graph::value v) {
    std::vector<fuse::dimension> shape;
    bool const known = from_.shape(v, shape);
    std::vector<std::int64_t> dims;
    for (auto const& d : shape) dims.push_back(d.extent);
    auto made = function.parameter(std::string(from_.name(v)), dims, ir::element_of(from_.type(v)).value(),
                                   bytes_of(from_.constant(v)));
    made->has_dims = known;
    return made;
  }
  ir::ref instruction(fuse::graph::node n) {
    std::vector<ir::ref> operands;
    for (auto const v : from_.operands(n)) operands.push_back(value(v));
    if (from_.op(n) == "same") return operands[0];
    auto type = operands[0]->type;
    ir::attribute_map attributes;
    for (auto const& a : from_.attributes(n))
      if (a.name == "dtype")
        type = ir::element_of(static_cast<fuse::element_type>(std::get<std::int64_t>(a.content))).value();
      else
        std::visit(
            [&](auto const& content) {
              if constexpr (std::is_constructible_v<ir::attribute, decltype(content)>)
                attributes.emplace(named(parameters, a.name), content);
            },
            a.content);
    return function.insert(function.body.end(), named(operators, from_.op(n)), type, std::move(operands),
                           std::move(attributes));
  }
  ir::ref value(fuse::graph::value v) {
    auto& made = values_[v.id];
    if (made) return made;
    auto const contents = from_.constant(v);
    REQUIRE(contents);
    return made = function.literal(ir::element_of(contents.type).value(),
                                   {contents.shape.begin(), contents.shape.end()}, bytes_of(contents));
  }

  fuse::graph const& from_;
  std::map<std::uint32_t, ir::ref> values_{};
};

bool has_branches(fuse::graph const& g) {
  for (auto const n : g.nodes())
    if (g.bodies(n).size() != 0) return true;
  return false;
}

// False for what a function cannot say: its instructions stand in one sequence.
bool compare(second::graph const& from) {
  if (has_branches(from)) return false;
  fuse::rewrite_options options;
  options.except = {"layer-norm-mean", "layer-norm-inverse-deviation"};  // an instruction has one result
  auto owned = from;
  auto const expected = fuse::rewrite<fuse::rules::norms>(owned, options);
  copy made(from);
  auto const report = fuse::rewrite<fuse::rules::norms>(made.function, options);
  CAPTURE(to_text(from), to_text(owned));
  REQUIRE(corpus::summary_of(report) == corpus::summary_of(expected));
  return true;
}

}  // namespace

TEST_CASE("every spelling has the same verdict in the example's graph as in the owned graph") {
  CHECK(corpus::all_spellings<second::graph>([](auto& g, auto const& spelled, std::uint64_t) {
          auto const feeds = spelled.feeds();
          for (auto const v : g.inputs()) {
            auto const& shape = feeds.at(std::string(g.name(v))).shape;
            g.annotate(v, g.type(v), {shape.begin(), shape.end()});
          }
          return compare(g);
        }) == corpus::spellings);
}

TEST_CASE("a norm whose mean others read is refused its other results") {
  ir::function f;
  auto const x = f.parameter("x", {4, 8});
  auto const mean = f.append(ir::opcode::average, {x}, {{"over", std::vector<std::int64_t>{1}}});
  auto const d = f.append(ir::opcode::subtract, {x, mean});
  auto const variance =
      f.append(ir::opcode::average, {f.append(ir::opcode::square, {d})}, {{"over", std::vector<std::int64_t>{1}}});
  auto const shifted = f.append(ir::opcode::add, {variance, f.literal({}, {1e-5f})});
  f.results = {{"y", f.append(ir::opcode::divide, {d, f.append(ir::opcode::sqrt, {shifted})})}, {"mean", mean}};
  auto const report = fuse::rewrite<fuse::rules::norms>(f);
  CHECK(corpus::summary_of(report).find("layer-norm-mean: matched 1, applied 0\n") != std::string::npos);
  CHECK(f.results[0].second->op == ir::opcode::layer_norm);
  CHECK(f.results[1].second->op == ir::opcode::average);
  CHECK(f.body.size() == 2);
}

TEST_CASE("every look-alike has the same verdict in the example's graph as in the owned graph") {
  int const with_branches = 10;  // five interior values of either norm, read in an If
  CHECK(corpus::all_lookalikes<second::graph>(compare) == corpus::lookalikes_in_second - with_branches);
}

}  // namespace your_graph
