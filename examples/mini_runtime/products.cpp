// SPDX-License-Identifier: BSL-1.0
#include "indexing.hpp"
#include "operators.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace mini {
namespace {

template <class T>
using matrix = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <class T>
using const_matrix = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> const>;

// Of matrices in the last two axes, the second turned where that is said; the axes before them broadcast.
template <class T>
elements<T> multiplied(shape const& a, T const* x, shape const& b, T const* y, bool turned, shape& dims) {
  if (a.size() < 2 || b.size() < 2) throw std::runtime_error("an operand of less than two axes");
  auto const rows = a[a.size() - 2], inner = a.back();
  auto const columns = turned ? b[b.size() - 2] : b.back();
  if ((turned ? b.back() : b[b.size() - 2]) != inner) throw std::runtime_error("operands that do not fit");
  shape const a_batch(a.begin(), a.end() - 2), b_batch(b.begin(), b.end() - 2);
  dims = broadcast(a_batch, b_batch);
  elements<T> z(index(count(dims) * rows * columns));
  auto* to = z.data();
  walk<2>(dims, {broadcast_strides(a_batch, dims), broadcast_strides(b_batch, dims)},
          [&](std::int64_t i, std::int64_t j) {
            const_matrix<T> const left(x + i * rows * inner, rows, inner);
            auto const* const right = y + j * inner * columns;
            matrix<T> made(to, rows, columns);
            if (turned)
              made.noalias() = left * const_matrix<T>(right, columns, inner).transpose();
            else
              made.noalias() = left * const_matrix<T>(right, inner, columns);
            to += rows * columns;
          });
  dims.insert(dims.end(), {rows, columns});
  return z;
}

tensors matmul(node const& n, tensors const& in) {
  bool const turned = n.get<std::int64_t>("transB", 0) != 0;
  shape dims;
  auto made =
      multiplied(in.at(0).dims, in[0].as<float>().data(), in.at(1).dims, in[1].as<float>().data(), turned, dims);
  return {{dims, std::move(made)}};
}

// As a product with the kernel's elements under each place. Signals are images of one row.
tensors convolution(node const& n, tensors const& in) {
  if (n.get<std::int64_t>("group", 1) != 1) throw std::runtime_error("groups");
  auto const image = [](shape dims) {
    if (dims.size() == 3) dims.insert(dims.begin() + 2, 1);
    return dims;
  };
  auto const pair = [&](std::string const& name, std::int64_t otherwise) {
    auto both = n.get<std::vector<std::int64_t>>(name, {});
    if (both.empty()) return integers{otherwise, otherwise, otherwise, otherwise};
    if (both.size() == 1) return integers{otherwise, both[0]};
    if (both.size() == 2 && name == "pads") return integers{0, both[0], 0, both[1]};
    return both;
  };
  auto const x = image(in.at(0).dims), w = image(in.at(1).dims);
  auto const strides = pair("strides", 1), dilations = pair("dilations", 1), pads = pair("pads", 0);
  if (x.size() != 4 || w.size() != 4 || x[1] != w[1]) throw std::runtime_error("operands that do not fit");
  auto const places = [&](std::size_t i) {
    return (x[i + 2] + pads[i] + pads[i + 2] - (w[i + 2] - 1) * dilations[i] - 1) / strides[i] + 1;
  };
  auto const rows = places(0), columns = places(1), taps = w[1] * w[2] * w[3];
  floats made(index(x[0] * w[0] * rows * columns)), under(index(taps * rows * columns));
  for (std::int64_t b = 0; b < x[0]; ++b) {
    auto const* const from = in[0].as<float>().data() + b * x[1] * x[2] * x[3];
    auto* to = under.data();
    for (std::int64_t c = 0; c < w[1]; ++c)
      for (std::int64_t kr = 0; kr < w[2]; ++kr)
        for (std::int64_t kc = 0; kc < w[3]; ++kc)
          for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t k = 0; k < columns; ++k) {
              auto const i = r * strides[0] - pads[0] + kr * dilations[0],
                         j = k * strides[1] - pads[1] + kc * dilations[1];
              bool const inside = i >= 0 && i < x[2] && j >= 0 && j < x[3];
              *to++ = inside ? from[(c * x[2] + i) * x[3] + j] : 0;
            }
    matrix<float> y(made.data() + b * w[0] * rows * columns, w[0], rows * columns);
    y.noalias() = const_matrix<float>(in[1].as<float>().data(), w[0], taps) *
                  const_matrix<float>(under.data(), taps, rows * columns);
    if (in.size() > 2 && in[2]) y.colwise() += Eigen::Map<Eigen::VectorXf const>(in[2].as<float>().data(), w[0]);
  }
  shape dims{x[0], w[0]};
  if (in[0].rank() == 4) dims.push_back(rows);
  dims.push_back(columns);
  return {{dims, std::move(made)}};
}

// The second may be turned; what else this operator has, nobody here writes.
tensors fused_matmul(node const& n, tensors const& in) {
  for (auto const* other : {"transA", "transBatchA", "transBatchB"})
    if (n.get<std::int64_t>(other, 0) != 0) throw std::runtime_error(std::string("the attribute ") + other);
  if (n.get<float>("alpha", 1) != 1) throw std::runtime_error("a factor");
  return matmul(n, in);
}

tensors gemm(node const& n, tensors const& in) {
  auto const &a = in.at(0), &b = in.at(1);
  if (a.rank() != 2 || b.rank() != 2) throw std::runtime_error("an operand of other than two axes");
  bool const turn_a = n.get<std::int64_t>("transA", 0) != 0, turn_b = n.get<std::int64_t>("transB", 0) != 0;
  auto const rows = a.dims[turn_a ? 1 : 0], inner = a.dims[turn_a ? 0 : 1], columns = b.dims[turn_b ? 0 : 1];
  if (b.dims[turn_b ? 1 : 0] != inner) throw std::runtime_error("operands that do not fit");
  floats made(index(rows * columns));
  matrix<float> y(made.data(), rows, columns);
  const_matrix<float> const x(a.as<float>().data(), a.dims[0], a.dims[1]),
      w(b.as<float>().data(), b.dims[0], b.dims[1]);
  auto const alpha = n.get<float>("alpha", 1), beta = n.get<float>("beta", 1);
  if (turn_a && turn_b)
    y.noalias() = alpha * x.transpose() * w.transpose();
  else if (turn_a)
    y.noalias() = alpha * x.transpose() * w;
  else if (turn_b)
    y.noalias() = alpha * x * w.transpose();
  else
    y.noalias() = alpha * x * w;
  if (in.size() > 2 && in[2] && beta != 0) {
    auto const* added = in[2].as<float>().data();
    auto* to = made.data();
    walk<1>({rows, columns}, {broadcast_strides(in[2].dims, {rows, columns})},
            [&](std::int64_t at) { *to++ += beta * added[at]; });
  }
  return {{shape{rows, columns}, std::move(made)}};
}

// Of bytes less their zero points, which are one number or, of the second operand, one for each column.
tensors matmul_integer(node const&, tensors const& in) {
  auto const widened = [](tensor const& t) {
    return t.visit([](auto const& all) { return elements<std::int32_t>(all.begin(), all.end()); });
  };
  auto const less_zero = [&](std::size_t at) {
    auto made = widened(in.at(at));
    if (in.size() <= at + 2 || !in[at + 2]) return made;
    auto const zero = widened(in[at + 2]);
    auto to = made.begin();
    walk<1>(in[at].dims, {broadcast_strides(in[at + 2].dims, in[at].dims)},
            [&](std::int64_t i) { *to++ -= zero[index(i)]; });
    return made;
  };
  shape dims;
  auto const made = multiplied(in.at(0).dims, less_zero(0).data(), in.at(1).dims, less_zero(1).data(), false, dims);
  return {{dims, integers(made.begin(), made.end())}};
}

}  // namespace

std::span<named_function const> products() {
  static constexpr named_function all[] = {
      {"Conv", convolution},
      {"Gemm", gemm},
      {"MatMul", matmul},
      {"MatMulInteger", matmul_integer},
      {"com.microsoft::FusedMatMul", fused_matmul},
  };
  return all;
}

}  // namespace mini
