// SPDX-License-Identifier: BSL-1.0

// A rule of one's own for an operator of one's own: GELU, however a framework spells it, becomes acme::FastGelu.

#include <iostream>

#include <fuse/fuse.hpp>

namespace acme {

// The operator joins the dialect with what it means: it has one operand, and its result the operand's shape and element
// type.
inline constexpr fuse::operator_row operators[] = {{"acme::FastGelu", fuse::opcode::gelu}};
inline constexpr auto dialect = fuse::onnx.with(operators);

struct graph : fuse::graph {};

}  // namespace acme

template <>
struct fuse::graph_traits<acme::graph> : fuse::graph_traits<fuse::graph> {
  static constexpr auto& dialect = acme::dialect;
};

namespace acme {

using namespace fuse::dsl;

// x / 2 * (1 + erf(x / sqrt(2))). Constants match within a tolerance, sums and products in any order and bracketing.
inline constexpr auto x = var<"x">;
inline constexpr auto fast_gelu =
    fuse::rule<"fast-gelu">(0.5 * x * (1 + erf(x * constant(0.70710678).within(1e-4))))
        .where<"x is a half or a float">(pred<"x">([](auto value) { return fuse::size_of(value.type()) <= 4; }))
        .replace(op<"acme::FastGelu">(x));

}  // namespace acme

int main() {
  acme::graph g;
  auto const x = g.input("x", fuse::element_type::float32, {"batch", 768});
  auto const inner = g.add("Erf", {g.add("Div", {x, g.scalar(1.4142f)})});
  auto const half = g.add("Mul", {x, g.add("Add", {inner, g.scalar(1.f)})});
  g.output(g.add("Mul", {half, g.constant({0.5f})}), "gelu");

  auto const wide = g.input("wide", fuse::element_type::float64, {"batch", 768});
  auto const outer = g.add("Add", {g.scalar(1.), g.add("Erf", {g.add("Mul", {g.scalar(0.7071067), wide})})});
  g.output(g.add("Div", {g.add("Mul", {outer, wide}), g.scalar(2.)}), "wide_gelu");

  std::cout << to_text(g) << '\n';
  auto const report = fuse::rewrite<acme::fast_gelu>(g);
  std::cout << to_text(g) << '\n' << to_text(report);
}
