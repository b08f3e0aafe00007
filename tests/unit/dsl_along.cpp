// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

namespace dsl_along {

using namespace rewriting;
using namespace fuse::dsl;

namespace {

constexpr auto x = var<"x">, a = var<"a">, b = var<"b">;
// The rows, and the columns, of a times those of b.
constexpr auto rows = fuse::rule<"rows">(op<"Max">(op<"Max">(x, a), b)).replace(op<"Max">(x, fold(a* along<0>(b))));
constexpr auto columns =
    fuse::rule<"columns">(op<"Max">(op<"Max">(x, a), b)).replace(op<"Max">(x, fold(a* along<-1>(b))));
constexpr auto inside = fuse::rule<"inside">(op<"Max">(op<"Max">(x, a), b))
                            .replace(op<"Max">(x, fold(a - along<1>(sqrt(b) + 1) / along<1>(b))));
constexpr auto alone = fuse::rule<"alone">(op<"Max">(op<"Max">(x, a), b)).replace(op<"Max">(x, fold(along<0>(b))));
constexpr auto crossed =
    fuse::rule<"crossed">(op<"Max">(op<"Max">(x, a), b)).replace(op<"Max">(x, fold(along<0>(a) * along<1>(b))));

// The rewritten constant's elements; none where the rule was refused.
template <auto const& Rule>
std::vector<double> folded(fuse::tensor const& first, fuse::tensor const& second) {
  sketch g;
  g.end(g.add("Max", {g.add("Max", {g.in("x", {2, 2}), g.constant(first)}), g.constant(second)}));
  std::vector<double> all;
  if (applied<Rule>(g) == 0) return all;
  auto const made = g.constant(g.operands(last(g))[1]);
  for (std::size_t i = 0; i < made.size(); ++i) all.push_back(made.number(i));
  return all;
}
fuse::tensor of(std::vector<std::int64_t> const& shape, std::vector<float> const& elements) {
  return fuse::make_tensor<float>(shape, elements);
}

using numbers = std::vector<double>;

}  // namespace

TEST_CASE("a constant lies along the axis that is named") {
  auto const square = of({2, 2}, {1, 2, 3, 4}), two = of({2}, {10, 100});
  CHECK(folded<rows>(square, two) == numbers{10, 20, 300, 400});
  CHECK(folded<columns>(square, two) == numbers{10, 200, 30, 400});
}

TEST_CASE("its own extents of 1 do not matter") {
  auto const square = of({2, 2}, {1, 2, 3, 4});
  CHECK(folded<rows>(square, of({1, 2}, {10, 100})) == numbers{10, 20, 300, 400});
  CHECK(folded<columns>(square, of({2, 1}, {10, 100})) == numbers{10, 200, 30, 400});
  CHECK(folded<rows>(square, of({1}, {10})) == numbers{10, 20, 30, 40});
}

TEST_CASE("what is computed of it lies along the same axis") {
  CHECK(folded<inside>(of({2, 2}, {1, 2, 3, 4}), of({2}, {1, 4})) == numbers{-1, 1.25, 1, 3.25});
}

TEST_CASE("what does not fit is refused") {
  auto const square = of({2, 2}, {1, 2, 3, 4}), two = of({2}, {10, 100});
  CHECK(folded<rows>(of({1, 2}, {1, 2}), two).empty());  // it would be larger
  CHECK(folded<rows>(square, square).empty());           // several axes
  CHECK(folded<inside>(of({2}, {1, 2}), two).empty());   // no such axis
  CHECK(folded<alone>(square, two).empty());             // nothing beside it
  CHECK(folded<crossed>(two, two).empty());              // no axes at all
}

}  // namespace dsl_along
