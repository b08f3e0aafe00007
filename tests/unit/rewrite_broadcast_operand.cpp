// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cmath>
#include <limits>

#include <fuse/rewrite/broadcast_operand.hpp>

namespace rewrite_broadcast_operand {

using namespace rewriting;

namespace {

using fuse::op_group;

/// Makes operands with the last axes of `x`, which is the graph's last node's operand.
struct rows_of {
  static constexpr auto const& names = fuse::dialect_of<graph>;
  graph& g;
  int axes = 1;
  element_type type = element_type::float32;
  std::string reason{};
  bool wider = false;
  std::vector<double> numbers{};  ///< of a constant row
  std::string added{};            ///< operators that a computed row needs
  std::vector<std::int64_t> extents{};

  /// Whether there is a row.
  bool make(std::vector<std::pair<graph::value, double>> const& of, op_group kind = op_group::product,
            bool required = true) {
    fuse::graph_binding<graph> bound(g, fuse::names_in(names), names.newest);
    bound.image.version = g.version();
    fuse::detail::facts known(bound.image, names);
    known.run();
    auto const x = bound.number(g.operands(last(g))[0]);
    auto const place = bound.image.producer(bound.number(g.result(last(g))));
    fuse::detail::transaction changes(bound.image, known);
    fuse::detail::broadcast_operand rows(bound.image, known, names, fuse::target::standard, changes);
    rows.begin(place);
    std::vector<fuse::rest_member> members;
    for (auto const& [v, weight] : of) members.push_back({bound.number(v), weight});
    auto const form = fuse::detail::last_axes(known, x, type, static_cast<std::size_t>(axes));
    auto operand = rows.make(members, kind, form, required);
    auto const made = operand ? *operand : fuse::absent;
    auto const why = operand ? fuse::detail::objection{} : operand.why();
    reason = why.reason;
    wider = why.wider != element_type::unknown;
    numbers.clear();
    extents.clear();
    added.clear();
    if (made == fuse::absent) return false;
    if (bound.image.value(made).constant) {
      auto const t = bound.image.source->constant(made);
      CHECK(t.type == type);
      for (std::size_t i = 0; i < t.size(); ++i) numbers.push_back(t.number(i));
    }
    for (auto e : known.shape(made)) extents.push_back(e.known() ? e.value() : -1);
    for (auto n = changes.first_node(); n < bound.image.node_count(); ++n)
      added += (added.empty() ? "" : " ") + std::string(bound.image.source->op_name(n));
    return true;
  }
};

/// x of shape (2, 3), read by a Relu.
struct normed : sketch {
  explicit normed(int version = 17, element_type type = element_type::float32, dims const& shape = {2, 3})
      : sketch(version), x(in("x", shape, type)) {}
  value x;
  /// A constant that the graph reads, so that it has a number.
  value row(std::vector<float> const& numbers) {
    auto const v = constant(fuse::make_tensor<float>({static_cast<std::int64_t>(numbers.size())}, numbers));
    add("Abs", {v});
    return v;
  }
  value number(float of) {
    auto const v = scalar(of);
    add("Abs", {v});
    return v;
  }
  void close() { end(add("Relu", {x})); }
};

using row = std::vector<double>;
using shape = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("nothing is a row of ones where one is required, and no row elsewhere") {
  normed g;
  g.close();
  rows_of rows{g};
  REQUIRE(rows.make({}));
  CHECK(rows.numbers == row{1, 1, 1});
  CHECK_FALSE(rows.make({}, op_group::sum, false));
  CHECK(rows.reason.empty());
}

TEST_CASE("constants become one row, computed in double") {
  normed g;
  auto const s = g.row({1.0f, 2.0f, 4.0f}), t = g.number(0.5f);
  g.close();
  rows_of rows{g};
  REQUIRE(rows.make({{s, 1}, {t, -1}}));
  CHECK(rows.numbers == row{2, 4, 8});
  REQUIRE(rows.make({{s, 2}}));
  CHECK(rows.numbers == row{1, 4, 16});
  REQUIRE(rows.make({{s, 1}, {t, -1}}, op_group::sum));
  CHECK(rows.numbers == row{0.5, 1.5, 3.5});
  CHECK(rows.added.empty());
}

TEST_CASE("constants that are finite one after the other, but not together, are no row") {
  normed g;
  auto const large = g.row({1e30f, 1.0f, 1.0f}), small = g.row({1e-40f, 1.0f, 1.0f}), zero = g.number(0.0f);
  auto const infinite = g.row({std::numeric_limits<float>::infinity(), 1.0f, 1.0f});
  auto const computed = g.in("s", {3});
  g.close();
  rows_of rows{g};
  CHECK_FALSE(rows.make({{large, 1}, {large, 1}}));
  CHECK(rows.reason.find("beyond") != std::string::npos);
  CHECK_FALSE(rows.make({{small, -1}}));
  CHECK_FALSE(rows.make({{zero, -1}}));
  CHECK_FALSE(rows.make({{large, 1}, {large, 1}, {computed, 1}}));
  CHECK(rows.make({{large, 1}, {large, 1}, {large, -1}}));
  CHECK(rows.make({{infinite, 1}}));
}

TEST_CASE("what follows from constants is a constant") {
  normed g;
  auto const s = g.row({1.0f, 2.0f, 4.0f});
  auto const one_more = g.add("Add", {s, g.scalar(1.0f)});
  auto const moved = g.add("Reshape", {g.add("Neg", {s}), g.constant({3})});
  auto const all = g.add("Sum", {s, s, one_more});
  auto const nan = g.row({std::nanf(""), 1.0f, -2.0f});
  auto const with_nan = {g.add("Relu", {nan}), g.add("Max", {nan, s}), g.add("Min", {s, nan})};
  auto const spread = g.add("Expand", {g.row({5.0f}), g.constant({3})});
  auto const with_input = g.add("Add", {s, g.in("w", {3})});
  g.close();
  rows_of rows{g};
  REQUIRE(rows.make({{one_more, 1}}));
  CHECK(rows.numbers == row{2, 3, 5});
  REQUIRE(rows.make({{moved, 1}}));
  CHECK(rows.numbers == row{-1, -2, -4});
  REQUIRE(rows.make({{all, 1}}));
  CHECK(rows.numbers == row{4, 7, 13});
  REQUIRE(rows.make({{spread, 1}}));
  CHECK(rows.numbers == row{5, 5, 5});
  for (auto v : with_nan) {
    REQUIRE(rows.make({{v, 1}}));
    CHECK(std::isnan(rows.numbers[0]));
  }
  REQUIRE(rows.make({{with_input, 1}}));
  CHECK(rows.numbers.empty());
}

TEST_CASE("computed rows are put together by the operators that it takes") {
  normed g;
  auto const a = g.in("a", {3}), b = g.in("b", {1, 3}), c = g.row({1.0f, 2.0f, 4.0f});
  g.close();
  rows_of rows{g};
  auto const added = [&](std::vector<std::pair<graph::value, double>> const& of, op_group kind) {
    REQUIRE(rows.make(of, kind));
    return rows.added;
  };
  CHECK(added({{a, 1}}, op_group::product).empty());
  CHECK(added({{b, 1}}, op_group::product).empty());
  CHECK(added({{a, 1}, {b, 1}}, op_group::product) == "Mul");
  CHECK(added({{a, 1}, {b, -1}, {c, 1}}, op_group::product) == "Mul Div");
  CHECK(added({{a, -1}}, op_group::product) == "Reciprocal");
  CHECK(added({{a, -1}}, op_group::sum) == "Neg");
  CHECK(added({{a, 1}, {b, -1}}, op_group::sum) == "Sub");
  CHECK_FALSE(rows.make({{a, 2}}));
  CHECK_FALSE(rows.reason.empty());
}

TEST_CASE("one element is repeated, by ones where nothing expands it") {
  for (int const version : {7, 17}) {
    normed g(version);
    auto const a = g.in("a", {1});
    g.close();
    rows_of rows{g};
    REQUIRE(rows.make({{a, 1}}));
    CHECK(rows.added == (version == 7 ? "Mul" : "Expand"));
    CHECK(rows.extents == shape{3});
  }
}

TEST_CASE("a flat row takes the extents of several axes") {
  normed g(17, element_type::float32, {2, 3, 4});
  auto const a = g.in("a", {12}), narrow = g.in("n", {4});
  g.close();
  rows_of rows{g, 2};
  REQUIRE(rows.make({{a, 1}}));
  CHECK(rows.added == "Reshape");
  CHECK(rows.extents == shape{3, 4});
  CHECK_FALSE(rows.make({{narrow, 1}}));
}

TEST_CASE("a row is not rounded on the way to a narrower type") {
  normed g(17, element_type::float16);
  auto const exact = g.row({0.5f, 2.0f, 4.0f}), inexact = g.row({0.1f, 2.0f, 4.0f}), a = g.in("a", {3});
  auto const widened = g.add("Cast", {g.in("h", {3}, element_type::float16)}, {{"to", 1}});
  g.close();
  rows_of rows{g, 1, element_type::float16};
  REQUIRE(rows.make({{exact, 1}}));
  CHECK(rows.numbers == row{0.5, 2, 4});
  CHECK_FALSE(rows.make({{inexact, 1}}));
  CHECK(rows.wider);
  CHECK_FALSE(rows.make({{a, 1}}));
  CHECK(rows.wider);
  REQUIRE(rows.make({{widened, 1}}));  // below its Cast
  CHECK(rows.added.empty());
  rows.type = element_type::float64;
  REQUIRE(rows.make({{widened, 1}}));
  CHECK(rows.added == "Cast");
}

}  // namespace rewrite_broadcast_operand
