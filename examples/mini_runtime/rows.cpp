// SPDX-License-Identifier: BSL-1.0
#include "indexing.hpp"
#include "operators.hpp"

#include <fuse/kernelgen.hpp>
#include <fuse/kernels/embed_layer_norm.hpp>
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/qembed_layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>
#include <fuse/kernels/skip_layer_norm.hpp>
#include <fuse/kernels/skip_rms_norm.hpp>
#include <fuse/rules/activation_formulas.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace mini {
namespace {

namespace formula = fuse::rules::formula;
using fuse::kernels::matrix_view;

// The sum or the mean of some axes, all where none are named.
template <bool IsMean>
tensors reduced(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  auto axes = list(n, in, "axes", 1);
  bool const kept = n.get<std::int64_t>("keepdims", 1) != 0;
  if (axes.empty())
    for (std::int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  // What is reduced comes last.
  shape outer, inner, outer_strides, inner_strides, dims;
  auto const own = strides_of(x.dims);
  for (auto& axis : axes) axis = from_front(axis, x.rank());
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    bool const is_reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    (is_reduced ? inner : outer).push_back(x.dims[i]);
    (is_reduced ? inner_strides : outer_strides).push_back(own[i]);
    if (!is_reduced || kept) dims.push_back(is_reduced ? 1 : x.dims[i]);
  }
  bool const contiguous = inner.size() == 1 && inner_strides[0] == 1;
  return {x.visit([&](auto const& from) -> tensor {
    std::remove_cvref_t<decltype(from)> made;
    using element = typename decltype(made)::value_type;
    walk<1>(outer, {outer_strides}, [&](std::int64_t at) {
      element sum = 0;
      if (contiguous)
        sum = Eigen::Map<Eigen::Matrix<element, Eigen::Dynamic, 1> const>(from.data() + at, inner[0]).sum();
      else
        walk<1>(inner, {inner_strides}, [&](std::int64_t i) { sum = static_cast<element>(sum + from[index(at + i)]); });
      made.push_back(IsMean ? static_cast<element>(sum / static_cast<element>(count(inner))) : sum);
    });
    return {dims, std::move(made)};
  })};
}

// ---- On kernels that fuse makes of formulas

matrix_view<float const> rows_from(tensor const& x, std::int64_t axis) {
  auto const at = x.dims.begin() + from_front(axis, x.rank());
  return {x.as<float>().data(), index(product(x.dims.begin(), at)), index(product(at, x.dims.end()))};
}

// `kernel(from, to)` over rows from an axis on.
template <class Kernel>
tensors by_rows(tensor const& x, std::int64_t axis, Kernel const& kernel) {
  auto const from = rows_from(x, axis);
  floats y(x.as<float>().size());
  auto const done = kernel(from, matrix_view<float>(y.data(), from.rows, from.columns));
  if (!done.ok()) throw std::runtime_error(done.message());
  return {{x.dims, std::move(y)}};
}
template <auto const& Formula>
tensors by_formula(tensor const& x) {
  return by_rows(x, -1, [](auto from, auto to) { return fuse::kernel<Formula>(to, fuse::arg<"x">(from)); });
}

tensors softmax(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  if (from_front(n.get<std::int64_t>("axis", -1), x.rank()) != x.rank() - 1)
    throw std::runtime_error("another axis than the last");
  return by_formula<formula::softmax>(x);
}

tensors gelu(node const& n, tensors const& in) {
  return n.get<std::string>("approximate", "none") == "tanh" ? by_formula<formula::gelu_by_tanh>(in.at(0))
                                                             : by_formula<formula::gelu>(in.at(0));
}

tensors swish(node const& n, tensors const& in) {
  auto const alpha = n.get<float>("alpha", 1);
  return by_rows(in.at(0), -1, [&](auto from, auto to) {
    return fuse::kernel<formula::swish>(to, fuse::arg<"x">(from), fuse::arg<"alpha">(alpha));
  });
}

// ---- On kernels that fuse has written by hand

// The norms' axes are all from `axis` on.
tensors layer_norm(node const& n, tensors const& in) {
  return by_rows(in.at(0), n.get<std::int64_t>("axis", -1), [&](auto x, auto y) {
    auto const& scale = in.at(1).as<float>();
    auto const epsilon = n.get<float>("epsilon", 1e-5f);
    return in.size() > 2 && in[2] ? fuse::kernels::layer_norm(x, scale, in[2].as<float>(), y, epsilon)
                                  : fuse::kernels::layer_norm(x, scale, fuse::kernels::none, y, epsilon);
  });
}

tensors rms_norm(node const& n, tensors const& in) {
  return by_rows(in.at(0), n.get<std::int64_t>("axis", -1), [&](auto x, auto y) {
    return fuse::kernels::rms_norm(x, in.at(1).as<float>(), y, n.get<float>("epsilon", 1e-5f));
  });
}

// Results: the norm of input + skip + bias, two that nobody here asks for, and the sum, where one is read. The skip may
// be that of one batch for all.
template <class Norm>
tensors skip_norm(node const& n, tensors const& in, std::size_t bias, Norm const& norm) {
  auto const x = rows_from(in.at(0), -1), skip = rows_from(in.at(1), -1);
  floats y(in[0].as<float>().size()), sum(n.results.size() > 3 ? y.size() : 0);
  for (std::size_t row = 0; row < x.rows; row += skip.rows) {
    auto const at = row * x.columns;
    matrix_view<float const> const from(x.data + at, skip.rows, x.columns);
    matrix_view<float> const to(y.data() + at, skip.rows, x.columns);
    auto const kept = sum.empty() ? to : matrix_view<float>(sum.data() + at, skip.rows, x.columns);
    auto const done = in.size() > bias && in[bias] ? norm(from, skip, in[bias].as<float>(), kept, to)
                                                   : norm(from, skip, fuse::kernels::none, kept, to);
    if (!done.ok()) throw std::runtime_error(done.message());
  }
  tensors made{{in[0].dims, std::move(y)}};
  if (!sum.empty()) made.insert(made.end(), {{}, {}, {in[0].dims, std::move(sum)}});
  return made;
}

tensors skip_layer_norm(node const& n, tensors const& in) {
  return skip_norm(n, in, 4, [&](auto x, auto skip, auto const& bias, auto sum, auto y) {
    auto const& scale = in.at(2).as<float>();
    auto const epsilon = n.get<float>("epsilon", 1e-12f);
    return in.size() > 3 && in[3]
               ? fuse::kernels::skip_layer_norm(x, skip, bias, scale, in[3].as<float>(), sum, y, epsilon)
               : fuse::kernels::skip_layer_norm(x, skip, bias, scale, fuse::kernels::none, sum, y, epsilon);
  });
}

tensors skip_rms_norm(node const& n, tensors const& in) {
  return skip_norm(n, in, 3, [&](auto x, auto skip, auto const& bias, auto sum, auto y) {
    return fuse::kernels::skip_rms_norm(x, skip, bias, in.at(2).as<float>(), sum, y, n.get<float>("epsilon", 1e-12f));
  });
}

// Rows of tables, by ids of (batch, sequence).
template <class T>
fuse::kernels::matrix_view<T const> rows_of(tensor const& t) {
  return {t.as<T>().data(), index(t.rank() == 1 ? 1 : t.dims.at(0)), index(t.dims.back())};
}
template <class T>
std::optional<fuse::kernels::matrix_view<T const>> rows_if_any(tensors const& in, std::size_t at) {
  if (at >= in.size() || !in[at]) return std::nullopt;
  return rows_of<T>(in[at]);
}

// Results: the norm, how many entries of each mask count, and the sum of the rows.
template <class Arguments>
tensors embedded(node const& n, tensors const& in, Arguments arguments) {
  shape const dims{in[0].dims.at(0), in[0].dims.at(1), in.at(2).dims.at(1)};
  floats y(index(count(dims))), sum;
  std::vector<std::int32_t> counts(index(dims[0]));
  fuse::kernels::matrix_view<float> const rows{y.data(), index(dims[0] * dims[1]), index(dims[2])};
  arguments.input_ids = rows_of<std::int64_t>(in[0]);
  arguments.segment_ids = rows_if_any<std::int64_t>(in, 1);
  arguments.mask = rows_if_any<std::int64_t>(in, 7);
  arguments.epsilon = n.get<float>("epsilon", 1e-12f);
  arguments.y = rows;
  arguments.mask_index = counts;
  fuse::kernels::status done;
  if constexpr (requires { arguments.embedding_sum; }) {
    arguments.position_ids = rows_if_any<std::int64_t>(in, 8);
    if (n.results.size() > 2) {
      sum.resize(y.size());
      arguments.embedding_sum = {sum.data(), rows.rows, rows.columns};
    }
    done = fuse::kernels::embed_layer_norm(arguments);
  } else {
    done = fuse::kernels::qembed_layer_norm(arguments);
  }
  if (!done.ok()) throw std::runtime_error(done.message());
  tensors made{{dims, std::move(y)}, {{dims[0]}, integers(counts.begin(), counts.end())}};
  if (!sum.empty()) made.emplace_back(dims, std::move(sum));
  return made;
}

tensors embed_layer_norm(node const& n, tensors const& in) {
  fuse::kernels::embed_layer_norm_arguments<float, float, std::int64_t> arguments;
  arguments.word = rows_of<float>(in.at(2));
  arguments.position = rows_of<float>(in.at(3));
  arguments.segment = rows_if_any<float>(in, 4);
  arguments.gamma = in.at(5).as<float>();
  arguments.beta = in.at(6).as<float>();
  return embedded(n, in, arguments);
}

template <class T>
tensors qembed_layer_norm_of(node const& n, tensors const& in) {
  auto const quantised = [&](std::size_t at) {
    return fuse::kernels::quantized_view<T const>{rows_of<T>(in[at]), in.at(at + 6).as<float>(),
                                                  in.at(at + 11).as<T>()};
  };
  fuse::kernels::qembed_layer_norm_arguments<T, std::int64_t> arguments;
  arguments.word = quantised(2);
  arguments.position = quantised(3);
  if (in.at(4)) arguments.segment = quantised(4);
  arguments.gamma = quantised(5);
  arguments.beta = quantised(6);
  return embedded(n, in, arguments);
}
tensors qembed_layer_norm(node const& n, tensors const& in) {
  return in.at(2).is<std::int8_t>() ? qembed_layer_norm_of<std::int8_t>(n, in)
                                    : qembed_layer_norm_of<std::uint8_t>(n, in);
}

// Pairs of elements of a head are turned by angles, whose cosines and sines stand in tables: by the positions that are
// given, else for each token of each batch.
tensors rotary(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  bool const by_heads = x.rank() == 4;  // else heads lie side by side in a token
  auto const heads = by_heads ? x.dims[1] : n.get<std::int64_t>("num_heads", 0);
  auto const tokens = by_heads ? x.dims[2] : x.dims.at(1);
  if (heads == 0) throw std::runtime_error("a number of heads that is not told");
  auto const size = by_heads ? x.dims[3] : x.dims[2] / heads;
  auto turned = n.get<std::int64_t>("rotary_embedding_dim", 0);
  if (turned == 0) turned = size;
  bool const is_interleaved = n.get<std::int64_t>("interleaved", 0) != 0;
  auto const pairs = turned / 2;
  auto const* const positions = in.size() > 3 && in[3] ? ints(in[3]).data() : nullptr;
  bool const for_all = in.at(1).dims[0] == 1;  // tables of one batch
  floats y(x.as<float>());
  for (std::int64_t i = 0; i < x.dims[0] * heads * tokens; ++i) {
    auto const batch = i / (heads * tokens);
    auto const token = by_heads ? i % tokens : i / heads % tokens;
    auto const row = positions != nullptr ? positions[batch * tokens + token] : (for_all ? 0 : batch) * tokens + token;
    auto const *cosines = &in.at(1).as<float>().at(index(row * pairs)),
               *sines = &in.at(2).as<float>().at(index(row * pairs));
    auto* const head = y.data() + i * size;
    for (std::int64_t k = 0; k < pairs; ++k) {
      auto &a = head[is_interleaved ? 2 * k : k], &b = head[is_interleaved ? 2 * k + 1 : k + pairs];
      auto const before = a;
      a = before * cosines[k] - b * sines[k];
      b = b * cosines[k] + before * sines[k];
    }
  }
  return {{x.dims, std::move(y)}};
}

}  // namespace

std::span<named_function const> row_operators() {
  static constexpr named_function all[] = {
      {"com.microsoft::EmbedLayerNormalization", embed_layer_norm},
      {"com.microsoft::QEmbedLayerNormalization", qembed_layer_norm},
      {"com.microsoft::SkipLayerNormalization", skip_layer_norm},
      {"com.microsoft::SkipSimplifiedLayerNormalization", skip_rms_norm},
      {"Gelu", gelu},
      {"LayerNormalization", layer_norm},
      {"RMSNormalization", rms_norm},
      {"ReduceMean", reduced<true>, 1},
      {"ReduceSum", reduced<false>, 1},
      {"RotaryEmbedding", rotary},
      {"Softmax", softmax},
      {"Swish", swish},
  };
  return all;
}

}  // namespace mini
