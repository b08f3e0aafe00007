// SPDX-License-Identifier: BSL-1.0

// A compiler with a graph of its own gets every norm rewriting of fuse: ir.hpp is the compiler's, adapt.hpp tells fuse
// about it.

#include <cstdint>
#include <iostream>
#include <vector>

#include <fuse/fuse.hpp>

#include "adapt.hpp"
#include "ir.hpp"

namespace {

using ir::opcode;
using list = std::vector<std::int64_t>;

std::vector<float> row(float first) { return {first, 0.5f, 0.25f, 2.0f}; }

// One block for each of three frontends; each writes norms in its own way.
ir::function build() {
  ir::function f;
  auto const x = f.parameter("x", {2, 3, 4});
  auto const epsilon = f.literal({}, {1e-5f});

  // d / sqrt(mean(d * d) + e) * scale + bias
  auto const d = f.append(opcode::subtract, {x, f.append(opcode::average, {x}, {{"over", list{-1}}})});
  auto const variance = f.append(opcode::average, {f.append(opcode::multiply, {d, d})}, {{"over", list{-1}}});
  auto const deviation = f.append(opcode::sqrt, {f.append(opcode::add, {variance, epsilon})});
  auto const first = f.append(
      opcode::add, {f.append(opcode::multiply, {f.append(opcode::divide, {d, deviation}), f.literal({4}, row(1))}),
                    f.literal({4}, row(-1))});

  // h * (r * scale) + (bias - mean(h) * (r * scale)), with r = rsqrt(e + mean(h^2) - mean(h)^2)
  auto const h = f.append(opcode::relu, {first});
  auto const mean = f.append(opcode::average, {h}, {{"over", list{2}}});
  auto const squares =
      f.append(opcode::average, {f.append(opcode::power, {h, f.literal({}, {2})})}, {{"over", list{2}}});
  auto const spread = f.append(opcode::subtract, {squares, f.append(opcode::square, {mean})});
  auto const factor = f.append(
      opcode::multiply, {f.append(opcode::rsqrt, {f.append(opcode::add, {epsilon, spread})}), f.literal({4}, row(3))});
  auto const shift = f.append(opcode::subtract, {f.literal({4}, row(-3)), f.append(opcode::multiply, {mean, factor})});
  auto const second = f.append(opcode::add, {shift, f.append(opcode::multiply, {h, factor})});

  // scale * (y * power(mean(y * y) + e, -0.5)), in floats, of halves: no mean is taken away
  auto const halves = f.parameter("halves", {2, 3, 4}, ir::element::f16);
  auto const y = f.convert(halves, ir::element::f32);
  auto const meansquare = f.append(opcode::average, {f.append(opcode::multiply, {y, y})}, {{"over", list{-1}}});
  auto const root = f.append(opcode::power, {f.append(opcode::add, {meansquare, epsilon}), f.literal({}, {-0.5f})});
  auto const third = f.convert(
      f.append(opcode::multiply, {f.literal({4}, row(5)), f.append(opcode::multiply, {y, root})}), ir::element::f16);

  // This one looks like a norm and is none: it averages over another axis than the last.
  auto const e = f.append(opcode::subtract, {second, f.append(opcode::average, {second}, {{"over", list{1}}})});
  auto const other = f.append(opcode::average, {f.append(opcode::square, {e})}, {{"over", list{1}}});
  auto const fourth =
      f.append(opcode::multiply, {e, f.append(opcode::rsqrt, {f.append(opcode::add, {other, epsilon})})});

  f.results = {{"normed", second}, {"normed_halves", third}, {"across", fourth}};
  return f;
}

}  // namespace

int main() {
  auto function = build();
  std::cout << "before:\n" << function;
  auto const report = fuse::rewrite<fuse::rules::norms>(function);
  std::cout << "\nafter:\n" << function << '\n' << to_text(report);
}
