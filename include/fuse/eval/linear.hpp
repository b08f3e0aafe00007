// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/elementwise.hpp>
#include <fuse/eval/layout.hpp>

namespace fuse::inline v0::detail {

/// `a` as it is, or with its last two axes exchanged.
[[nodiscard]] inline dense matrix(dense const& a, bool turned) {
  if (!turned || a.shape.size() < 2) return a;
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < a.shape.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permuted(a, order);
}

/// `count` products of m x k by k x n matrices. Integers wrap around.
template <class T>
[[nodiscard]] std::vector<T> products(std::vector<T> const& x, std::vector<T> const& y, std::size_t count,
                                      std::size_t m, std::size_t k, std::size_t n) {
  std::vector<T> made(count * m * n, T{0});
  for (std::size_t at = 0; at < count; ++at)
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t p = 0; p < k; ++p)
        for (std::size_t j = 0; j < n; ++j)
          made[(at * m + i) * n + j] += x[(at * m + i) * k + p] * y[(at * k + p) * n + j];
  return made;
}
[[nodiscard]] inline std::vector<std::int64_t> products(std::vector<std::int64_t> const& x,
                                                        std::vector<std::int64_t> const& y, std::size_t count,
                                                        std::size_t m, std::size_t k, std::size_t n) {
  std::vector<std::uint64_t> const a(x.begin(), x.end()), b(y.begin(), y.end());
  auto const made = products(a, b, count, m, k, n);
  return {made.begin(), made.end()};
}

/// The product of matrices in the last two axes; the others broadcast. An operand of one axis is a row on the left, a
/// column on the right, and that axis is not in the result.
[[nodiscard]] inline bool multiplied(dense a, dense b, dense& into) {
  if (a.shape.empty() || b.shape.empty() || a.whole() != b.whole()) return false;
  bool const row = a.shape.size() == 1, column = b.shape.size() == 1;
  if (row) a.shape.insert(a.shape.begin(), 1);
  if (column) b.shape.push_back(1);
  auto const rows = a.shape[a.shape.size() - 2], inner = a.shape.back(), columns = b.shape.back();
  if (b.shape[b.shape.size() - 2] != inner) return false;
  span<std::int64_t const> const of_a(a.shape.data(), a.shape.size() - 2), of_b(b.shape.data(), b.shape.size() - 2);
  std::vector<std::int64_t> shape;
  if (!fuse::broadcast_shape(of_a, of_b, shape)) return false;
  auto whole_a = shape, whole_b = shape;
  whole_a.insert(whole_a.end(), {rows, inner});
  whole_b.insert(whole_b.end(), {inner, columns});
  dense x, y;
  if (!broadcast_to(a, whole_a, x) || !broadcast_to(b, whole_b, y)) return false;
  auto const m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns),
             k = static_cast<std::size_t>(inner), count = count_of(shape);
  dense made{shape, {}, a.type, {}};
  if (made.whole())
    made.integers = products(x.integers, y.integers, count, m, k, n);
  else
    made.elements = products(x.elements, y.elements, count, m, k, n);
  for (auto& v : made.integers) v = wrapped(v, a.type);
  if (!row) made.shape.push_back(rows);
  if (!column) made.shape.push_back(columns);
  into = std::move(made);
  return true;
}

[[nodiscard]] inline evaluation evaluate_gemm(call const& c, dense const& a, dense const& b) {
  auto const* added = c.operand(2);
  dense made;
  if (a.shape.size() != 2 || b.shape.size() != 2 ||
      !multiplied(matrix(in_doubles(a), c.flag("transA")), matrix(in_doubles(b), c.flag("transB")), made))
    return evaluation::misfit;
  double const alpha = c.number("alpha", 1), beta = c.number("beta", 1);
  auto const whole = made.shape;
  made = mapped(std::move(made), [=](double v) { return alpha * v; });
  if (added != nullptr && (!combine(made, in_doubles(*added), made, [=](double x, double y) { return x + beta * y; }) ||
                           made.shape != whole))
    return evaluation::misfit;
  return c.yield(converted(std::move(made), a.type));
}

/// Products of matrices.
[[nodiscard]] inline evaluation evaluate_linear(call const& c) {
  auto const *a = c.operand(0), *b = c.operand(1), *added = c.operand(2);
  if (a == nullptr || b == nullptr) return evaluation::misfit;
  dense made;
  switch (c.op) {
    case opcode::matmul:
      if (!multiplied(*a, *b, made)) return evaluation::misfit;
      return c.yield(std::move(made));
    case opcode::fused_matmul: {
      if (c.flag("transBatchA") || c.flag("transBatchB")) return evaluation::unknown;
      if (!multiplied(matrix(*a, c.flag("transA")), matrix(*b, c.flag("transB")), made)) return evaluation::misfit;
      double const alpha = c.number("alpha", 1);
      return c.yield(mapped(std::move(made), [=](double v) { return alpha * v; }));
    }
    case opcode::gemm: return evaluate_gemm(c, *a, *b);
    case opcode::fused_gemm: return activated(c, evaluate_gemm(c, *a, *b));
    case opcode::linear:
      if (b->shape.size() != 2 || !multiplied(*a, matrix(*b, true), made)) return evaluation::misfit;
      if (added != nullptr && !combine(made, *added, made, [](double x, double y) { return x + y; }))
        return evaluation::misfit;
      return c.yield(std::move(made));
    default: return evaluation::unknown;
  }
}

}  // namespace fuse::inline v0::detail
