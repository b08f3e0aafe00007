// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/eval/elementwise.hpp>

namespace fuse::inline v0::detail {

/// `a` as it is, or with its last two axes exchanged.
[[nodiscard]] inline dense matrix(dense const& a, bool turned) {
  if (!turned) return a;
  dense made = a;
  auto const rank = a.shape.size(), rows = static_cast<std::size_t>(a.shape[rank - 2]),
             columns = static_cast<std::size_t>(a.shape[rank - 1]);
  std::swap(made.shape[rank - 2], made.shape[rank - 1]);
  for (std::size_t at = 0; at < a.elements.size(); at += rows * columns)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < columns; ++k) made.elements[at + k * rows + i] = a.elements[at + i * columns + k];
  return made;
}

/// The product of matrices in the last two axes; the others broadcast. An operand of one axis is a row on the left, a
/// column on the right, and that axis is not in the result.
[[nodiscard]] inline bool multiplied(dense a, dense b, dense& into) {
  if (a.shape.empty() || b.shape.empty()) return false;
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
  dense made{shape, std::vector<double>(count * m * n, 0), a.type};
  for (std::size_t at = 0; at < count; ++at)
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t p = 0; p < k; ++p)
        for (std::size_t j = 0; j < n; ++j)
          made.elements[(at * m + i) * n + j] += x.elements[(at * m + i) * k + p] * y.elements[(at * k + p) * n + j];
  if (!row) made.shape.push_back(rows);
  if (!column) made.shape.push_back(columns);
  into = std::move(made);
  return true;
}

/// Products of matrices.
[[nodiscard]] inline evaluation evaluate_linear(call const& c) {
  auto const *a = c.operand(0), *b = c.operand(1), *added = c.operand(2);
  if (a == nullptr || b == nullptr) return evaluation::misfit;
  dense made;
  bool const matrices = a->shape.size() == 2 && b->shape.size() == 2;
  switch (c.op) {
    case opcode::matmul:
      if (!multiplied(*a, *b, made)) return evaluation::misfit;
      return c.yield(std::move(made));
    case opcode::gemm: {
      if (!matrices ||
          !multiplied(matrix(*a, c.number("transA", 0) != 0), matrix(*b, c.number("transB", 0) != 0), made))
        return evaluation::misfit;
      double const alpha = c.number("alpha", 1), beta = c.number("beta", 1);
      auto const whole = made.shape;
      made = mapped(made, [=](double v) { return alpha * v; });
      if (added != nullptr &&
          (!combine(made, *added, made, [=](double x, double y) { return x + beta * y; }) || made.shape != whole))
        return evaluation::misfit;
      return c.yield(std::move(made));
    }
    case opcode::linear:
      if (b->shape.size() != 2 || !multiplied(*a, matrix(*b, true), made)) return evaluation::misfit;
      if (added != nullptr && !combine(made, *added, made, [](double x, double y) { return x + y; }))
        return evaluation::misfit;
      return c.yield(std::move(made));
    default: return evaluation::unknown;
  }
}

}  // namespace fuse::inline v0::detail
