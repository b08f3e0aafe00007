// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/fuse.hpp>
#include <fuse/graph/graph_text.hpp>
#include <second_dialect.hpp>

#include "../../examples/your_graph/adapt.hpp"
#include "lookalike_list.hpp"
#include "spelling.hpp"
#include "summary.hpp"

namespace your_graph {

namespace {

// The operators of the second dialect that the example's compiler has, too, and their parameters.
constexpr std::pair<std::string_view, ir::opcode> operators[] = {{"plus", ir::opcode::add},
                                                                 {"minus", ir::opcode::subtract},
                                                                 {"times", ir::opcode::multiply},
                                                                 {"over", ir::opcode::divide},
                                                                 {"negate", ir::opcode::negate},
                                                                 {"inverse", ir::opcode::reciprocal},
                                                                 {"squared", ir::opcode::square},
                                                                 {"root", ir::opcode::sqrt},
                                                                 {"inverse_root", ir::opcode::rsqrt},
                                                                 {"power", ir::opcode::power},
                                                                 {"magnitude", ir::opcode::absolute},
                                                                 {"avg", ir::opcode::average},
                                                                 {"total", ir::opcode::sum},
                                                                 {"insert_dims", ir::opcode::insert_axes},
                                                                 {"matrix_product", ir::opcode::matrix_product},
                                                                 {"ramp", ir::opcode::relu},
                                                                 {"norm", ir::opcode::layer_norm},
                                                                 {"root_mean_norm", ir::opcode::rms_norm}};
constexpr std::pair<std::string_view, std::string_view> parameters[] = {
    {"dim", "over"}, {"squeeze", "drop"}, {"from", "from"}, {"eps", "eps"}};

// An owned graph as a function, where that has all it takes: the operators (identities are left out; there are no Casts
// and no branches), floats, extents that are known.
class copy {
 public:
  explicit copy(fuse::graph const& from) : from_(from) {
    for (auto const v : from.inputs()) {
      if (!fits(v) || from.constant(v)) return;
      values_[v.id] = function.parameter(std::string(from.name(v)), dims(v));
    }
    for (auto const n : from.nodes())
      if (!write(n)) return;
    for (std::size_t i = 0; i < from.outputs().size(); ++i)
      function.results.emplace_back(from.output_name(i), value(from.outputs()[i]));
    whole = true;
  }

  ir::function function{};
  bool whole = false;  ///< all of it could be written

 private:
  std::vector<std::int64_t> dims(fuse::graph::value v) const {
    std::vector<fuse::dimension> shape;
    std::vector<std::int64_t> all;
    if (from_.shape(v, shape))
      for (auto const& d : shape) all.push_back(d.extent);
    return all;
  }
  bool fits(fuse::graph::value v) const {
    std::vector<fuse::dimension> shape;
    if (from_.type(v) != fuse::element_type::float32 || !from_.shape(v, shape)) return false;
    for (auto const& d : shape)
      if (d.extent < 0) return false;
    return true;
  }
  ir::ref value(fuse::graph::value v) {
    if (auto const found = values_.find(v.id); found != values_.end()) return found->second;
    auto const contents = from_.constant(v);
    if (!contents || contents.type != fuse::element_type::float32) return {};
    std::vector<float> numbers;
    for (std::size_t i = 0; i < contents.size(); ++i) numbers.push_back(contents.raw<float>(i));
    return values_[v.id] = function.literal({contents.shape.begin(), contents.shape.end()}, std::move(numbers));
  }
  bool write(fuse::graph::node n) {
    if (from_.op(n) == "same") {
      auto const same = value(from_.operands(n)[0]);
      if (same) values_[from_.result(n).id] = same;
      return static_cast<bool>(same);
    }
    for (auto const& [name, op] : operators) {
      if (name != from_.op(n)) continue;
      std::vector<ir::ref> operands;
      for (auto const v : from_.operands(n)) operands.push_back(value(v));
      for (auto const& o : operands)
        if (!o) return false;
      std::map<std::string, ir::attribute, std::less<>> attributes;
      for (auto const& a : from_.attributes(n))
        for (auto const& [theirs, ours] : parameters)
          if (a.name == theirs) {
            if (auto const* whole_number = std::get_if<std::int64_t>(&a.content))
              attributes.emplace(ours, *whole_number);
            else if (auto const* number = std::get_if<double>(&a.content))
              attributes.emplace(ours, *number);
            else if (auto const* list = std::get_if<std::vector<std::int64_t>>(&a.content))
              attributes.emplace(ours, *list);
          }
      values_[from_.result(n).id] = function.append(op, std::move(operands), std::move(attributes));
      return true;
    }
    return false;
  }

  fuse::graph const& from_;
  std::map<std::uint32_t, ir::ref> values_{};
};

// Returns whether the graph, and what becomes of it, can be written as functions at all, and be compared.
bool compare(second::graph const& from) {
  copy made(from);
  if (!made.whole) return false;
  fuse::rewrite_options options;
  options.except = {"layer-norm-mean", "layer-norm-inverse-deviation"};  // an instruction has one result
  auto owned = from;
  auto const expected = fuse::rewrite<fuse::rules::norms>(owned, options);
  if (!copy(owned).whole) return false;
  auto const report = fuse::rewrite<fuse::rules::norms>(made.function, options);
  CAPTURE(to_text(from), to_text(owned));
  REQUIRE(corpus::summary_of(report) == corpus::summary_of(expected));
  return true;
}

}  // namespace

TEST_CASE("every spelling has the same verdict in the example's graph as in the owned graph") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    second::graph g;
    corpus::spelling const spelled(g, true, seed);
    auto const feeds = spelled.feeds();
    for (auto const v : g.inputs()) {
      auto const& shape = feeds.at(std::string(g.name(v))).shape;
      if (!g.constant(v)) g.annotate(v, g.type(v), {shape.begin(), shape.end()});
    }
    compared += compare(g) ? 1 : 0;
  }
  CAPTURE(compared);
  CHECK(compared > 120);
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
  int compared = 0;
  for (auto const& look : corpus::lookalike_list().all)
    for (bool const layer : {true, false}) {
      if (!corpus::concerns(look, layer, true)) continue;
      CAPTURE(look.name, layer);
      second::graph g;
      corpus::plain_norm n(g, true, layer, look.shape);
      look.change(n);
      n.write();
      compared += compare(g) ? 1 : 0;
    }
  CHECK(compared > 50);
}

}  // namespace your_graph
