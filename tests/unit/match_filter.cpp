// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <fuse/fuse.hpp>
#include <fuse/graph/graph_text.hpp>
#include <fuse/match/filter/filter.hpp>

namespace match_filter {

using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, y = var<"y">;
constexpr auto gated = fuse::rule<"gated">(tanh(x) * sigmoid(y)).replace(op<"Mul">(y, x));
constexpr auto twice = fuse::rule<"twice">(tanh(tanh(x))).replace(op<"Tanh">(x));

// tanh(a) * sigmoid(a), below an Exp.
fuse::graph made() {
  fuse::graph g(17);
  auto const a = g.input("a", fuse::element_type::float32, {2, 3});
  g.output(g.add("Exp", {g.add("Mul", {g.add("Tanh", {a}), g.add("Sigmoid", {a})})}), "y");
  return g;
}

/// The filter of a rule for a graph.
template <auto const& Rule>
struct filtered {
  fuse::graph_binding<fuse::graph const> bound;
  fuse::detail::facts known;
  fuse::detail::filter_tables tables;
  fuse::detail::filter filter;

  explicit filtered(fuse::graph const& g)
      : bound(g, fuse::names_in(names), names.newest),
        known(bound.image, names),
        tables(fuse::program_of<Rule>, names),
        filter(tables, bound.image, infer(known)) {}

 private:
  static constexpr auto const& names = fuse::dialect_of<fuse::graph>;
  static fuse::detail::facts const& infer(fuse::detail::facts& of) { return of.run(), of; }
};

struct counter final : fuse::detail::machine::acceptor {
  int found = 0;
  bool accept(std::uint16_t) override { return ++found, false; }
};

}  // namespace

TEST_CASE("without a filter the same is found") {
  auto const g = made();
  fuse::matcher<gated, fuse::graph> search(g);
  REQUIRE(search.all().size() == 1);
  search.filter(false);
  CHECK(search.all().size() == 1);
  search.filter(true);
  CHECK(search.all().size() == 1);
}

TEST_CASE("without a filter the same is written") {
  auto with = made(), without = made();
  fuse::rewrite_options options;
  CHECK(fuse::rewrite<gated>(with, options).applied() == 1);
  options.filter = false;
  CHECK(fuse::rewrite<gated>(without, options).applied() == 1);
  CHECK(to_text(with) == to_text(without));
}

TEST_CASE("a constant among the addends of a factor is none of the factors") {
  static constexpr auto shifted =
      fuse::rule<"shifted">((tanh(x) + y) * exp(x)).where(is_constant<"y">.quiet()).replace(op<"Relu">(x));
  fuse::graph g(17);
  auto const a = g.input("a", fuse::element_type::float32, {2, 3});
  std::vector<float> const row{1, 2, 3};
  auto const sum = g.add("Add", {g.add("Tanh", {a}), g.constant(fuse::make_tensor({3}, fuse::span<float const>(row)))});
  g.output(g.add("Mul", {sum, g.add("Exp", {a})}), "y");
  CHECK(fuse::matcher<shifted, fuse::graph>(g).all().size() == 1);
}

TEST_CASE("a sum with a number is no number, whichever side of a product it stands on") {
  // (a + 1/2) - -(a + 1/2) is 2 (a + 1/2), a product.
  static constexpr auto doubled = fuse::rule<"doubled">(tanh(x) * (2.0 * x)).replace(op<"Relu">(x));
  for (bool const turned : {false, true}) {
    fuse::graph g(17);
    auto const sum = g.add("Add", {g.input("a", fuse::element_type::float32, {2, 3}), g.scalar(0.5f)});
    auto const minus = turned ? g.add("Mul", {g.scalar(-1.0f), sum}) : g.add("Mul", {sum, g.scalar(-1.0f)});
    g.output(g.add("Mul", {g.add("Tanh", {sum}), g.add("Sub", {sum, minus})}), "y");
    fuse::matcher<doubled, fuse::graph> search(g);
    CHECK(search.all().size() == 1);
    search.filter(false);
    CHECK(search.all().size() == 1);
  }
}

TEST_CASE("of two numbers neither is a multiple of the other, with a filter or without") {
  static constexpr auto doubled = fuse::rule<"doubled">(tanh(x) * (2.0 * x)).replace(op<"Relu">(x));
  for (int spelling = 0; spelling < 4; ++spelling) {
    fuse::graph g(17);
    auto const number = g.scalar(1.5f);
    auto minus = spelling < 2 ? g.add("Mul", {number, g.scalar(-1.0f)}) : g.add("Neg", {number});
    if (spelling % 2 == 1) minus = g.add("Add", {minus, g.scalar(0.0f)});
    g.output(g.add("Mul", {g.add("Tanh", {number}), g.add("Sub", {number, minus})}), "y");
    fuse::matcher<doubled, fuse::graph> search(g);
    CHECK(search.all().empty());
    search.filter(false);
    CHECK(search.all().empty());
  }
}

TEST_CASE("a Cast that does nothing hides no reduction below a factor") {
  static constexpr auto centred = fuse::rule<"centred">(tanh(x - mean(x))).replace(op<"Relu">(x)).through<"identity">();
  fuse::graph g(17);
  auto const a = g.input("a", fuse::element_type::float32, {4, 2});
  auto const sum =
      g.add("ReduceSum", {a, g.constant(fuse::make_tensor<std::int64_t>({1}, std::vector<std::int64_t>{1}))});
  auto const mean = g.add("Mul", {g.add("Cast", {sum}, {{"to", 1}}), g.scalar(0.5f)});
  g.output(g.add("Tanh", {g.add("Sub", {a, mean})}), "y");
  fuse::matcher<centred, fuse::graph> search(g);
  CHECK(search.all().size() == 1);
  search.filter(false);
  CHECK(search.all().size() == 1);
}

TEST_CASE("a number by a reciprocal is a multiple, beside others") {
  static constexpr auto tripled = fuse::rule<"tripled">(tanh(3.0 * x)).replace(op<"Relu">(x));
  for (auto const* inverse : {"Reciprocal", "Div"}) {
    fuse::graph g(17);
    auto const a = g.input("a", fuse::element_type::float32, {2, 3});
    auto const below = inverse[0] == 'D' ? g.add("Div", {g.scalar(1.0f), a}) : g.add("Reciprocal", {a});
    auto const sum = g.add("Add", {g.add("Div", {g.scalar(2.0f), below}), a});
    g.output(g.add("Tanh", {sum}), "y");
    fuse::matcher<tripled, fuse::graph> search(g);
    CHECK(search.all().size() == 1);
    search.filter(false);
    CHECK(search.all().size() == 1);
  }
}

TEST_CASE("equal constants are like terms, with a filter or without") {
  static constexpr auto doubled = fuse::rule<"doubled">(tanh(2.0 * x)).replace(op<"Relu">(x));
  for (std::int64_t const extent : {0, 2}) {
    fuse::graph g(17);
    float const contents[] = {0.5f, -3.0f};
    auto const row = [&] {
      auto const used = static_cast<std::size_t>(extent);
      return g.constant(fuse::make_tensor(std::vector<std::int64_t>{extent}, fuse::span<float const>(contents, used)));
    };
    g.output(g.add("Tanh", {g.add("Add", {row(), row()})}), "y");
    fuse::matcher<doubled, fuse::graph> search(g);
    CHECK(search.all().size() == 1);
    search.filter(false);
    CHECK(search.all().size() == 1);
  }
}

TEST_CASE("what a sum adds is seen below one over one over it") {
  static constexpr auto added = fuse::rule<"added">(tanh(exp(x) + scalar<"c">)).replace(op<"Relu">(x));
  for (auto const* inverse : {"Reciprocal", "Div", "Pow"})
    for (auto const* number : {"1", "2"}) {
      CAPTURE(inverse, number);
      fuse::graph g(17);
      auto const sum =
          g.add("Add", {g.add("Exp", {g.input("a", fuse::element_type::float32, {2, 3})}), g.scalar(0.5f)});
      auto const below = inverse[0] == 'D'   ? g.add("Div", {g.scalar(1.0f), sum})
                         : inverse[0] == 'P' ? g.add("Pow", {sum, g.scalar(-1.0f)})
                                             : g.add("Reciprocal", {sum});
      auto const multiple = g.add("Div", {g.scalar(number[0] == '1' ? 1.0f : 2.0f), below});
      g.output(g.add("Tanh", {number[0] == '1' ? multiple : g.add("Div", {multiple, g.scalar(2.0f)})}), "y");
      fuse::matcher<added, fuse::graph> search(g);
      CHECK(search.all().size() == 1);
      search.filter(false);
      CHECK(search.all().size() == 1);
    }
}

TEST_CASE("a filter tells where nothing can match, and nothing where it is off") {
  fuse::graph g(17);
  g.output(g.add("Tanh", {g.input("a", fuse::element_type::float32, {2, 3})}), "y");
  filtered<twice> of(g);
  CHECK_FALSE(of.filter.may_match(0, 0));
  of.filter.look_for(fuse::detail::search_for::failures);
  CHECK(of.filter.may_match(0, 0));
  of.filter.look_for(fuse::detail::search_for::matches);
  CHECK_FALSE(of.filter.may_match(0, 0));
}

TEST_CASE("a filter sees operators below what moves elements") {
  static constexpr auto turned =
      fuse::rule<"turned">(rearrange<"n (...) -> n (...)">(sigmoid(x)) + y).replace(op<"Relu">(x));
  for (bool const there : {false, true})
    for (auto const* moves : {"Reshape", "Slice", "Concat"}) {
      CAPTURE(there, moves);
      fuse::graph g(17);
      auto const list = [&](std::int64_t number) {
        return g.constant(fuse::make_tensor<std::int64_t>({1}, std::vector<std::int64_t>{number}));
      };
      auto const a = g.input("a", fuse::element_type::float32, {2, 3, 4});
      auto const inner = g.add(there ? "Sigmoid" : "Exp", {a});
      auto moved = inner;
      if (moves[0] == 'S') moved = g.add("Slice", {inner, list(0), list(3), list(1)});
      if (moves[0] == 'C')
        moved = g.add(
            "Concat",
            {g.add("Slice", {inner, list(0), list(1), list(1)}), g.add("Slice", {inner, list(1), list(3), list(1)})},
            {{"axis", 1}});
      auto const shape = g.constant(fuse::make_tensor<std::int64_t>({2}, std::vector<std::int64_t>{2, 12}));
      g.output(g.add("Add", {g.add("Reshape", {moved, shape}), g.input("b", fuse::element_type::float32, {2, 12})}),
               "y");
      filtered<turned> of(g);
      CHECK(of.filter.may_match(of.bound.image.node_count() - 1, 0) == there);
      fuse::matcher<turned, fuse::graph> search(g);
      CHECK(search.all().size() == (there ? 1u : 0u));
      search.filter(false);
      CHECK(search.all().size() == (there ? 1u : 0u));
    }
}

TEST_CASE("a filter knows that a quiet condition asks for a constant") {
  static constexpr auto shifted =
      fuse::rule<"shifted">(x + rest<"c">.not_empty()).where(is_constant<"c">.quiet()).replace(op<"Relu">(x));
  static constexpr auto scaled = fuse::rule<"scaled">(x * y).where(is_constant<"y">.quiet()).replace(op<"Relu">(x));
  // A constant, a number that follows from one, neither.
  for (int which = 0; which < 3; ++which) {
    CAPTURE(which);
    fuse::graph g(17);
    auto const a = g.input("a", fuse::element_type::float32, {2, 3});
    float const contents[] = {0.5f, -3.0f, 2.0f};
    auto const c = which == 0   ? g.constant(fuse::make_tensor({3}, fuse::span<float const>(contents)))
                   : which == 1 ? g.add("Neg", {g.scalar(0.5f)})
                                : g.input("c", fuse::element_type::float32, {3});
    auto const sum = g.add("Add", {g.add("Tanh", {a}), c});
    g.output(g.add("Mul", {c, g.add("Sigmoid", {a})}), "z");
    g.output(sum, "y");
    filtered<shifted> of_sum(g);
    filtered<scaled> of_product(g);
    auto const nodes = of_sum.bound.image.node_count();
    CHECK(of_sum.filter.may_match(nodes - 3, 0) == (which != 2));
    CHECK(of_product.filter.may_match(nodes - 1, 0) == (which != 2));
    for (bool const filter : {true, false}) {
      fuse::matcher<shifted, fuse::graph> sums(g);
      sums.filter(filter);
      CHECK(sums.all().size() == (which != 2 ? 1u : 0u));
      fuse::matcher<scaled, fuse::graph> products(g);
      products.filter(filter);
      CHECK(products.all().size() == (which != 2 ? 1u : 0u));
    }
  }
}

TEST_CASE("what changes while a filter is off is taken in when it is on again") {
  fuse::graph g(17);
  auto const a = g.input("a", fuse::element_type::float32, {2, 3});
  auto const other = g.add("Relu", {a});
  g.output(g.add("Tanh", {a}), "inner");
  g.output(g.add("Tanh", {other}), "y");
  constexpr auto const& names = fuse::dialect_of<fuse::graph>;
  fuse::graph_binding<fuse::graph> bound(g, fuse::names_in(names), names.newest);
  fuse::detail::facts known(bound.image, names);
  known.run();
  fuse::detail::filter_tables const tables(fuse::program_of<twice>, names);
  fuse::detail::machine machine(tables, bound.image, known, names);
  counter seen;
  machine.run(seen);
  REQUIRE(seen.found == 0);
  machine.look_for(fuse::detail::search_for::failures);
  bound.image.redirect(bound.image.result(0), bound.image.result(1));
  machine.look(2);
  machine.look_for(fuse::detail::search_for::matches);
  machine.run(seen);
  CHECK(seen.found == 1);
}

}  // namespace match_filter
