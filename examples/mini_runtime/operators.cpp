// SPDX-License-Identifier: BSL-1.0
#include "operators.hpp"

#include <fuse/kernels/embed_layer_norm.hpp>
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/qembed_layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace mini {
namespace {

using tensors = std::vector<tensor>;
using matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using const_matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> const>;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// ---- Where elements lie

shape strides_of(shape const& dims) {
  shape strides(dims.size(), 1);
  for (auto i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// Calls f(offset, ...) with an offset for each of the strides, for all places of `dims` in order.
template <std::size_t Count, class F>
void walk(shape const& dims, std::array<shape, Count> const& strides, F const& f) {
  if (count(dims) == 0) return;
  shape at(dims.size(), 0);
  std::array<std::int64_t, Count> offsets{};
  for (;;) {
    std::apply(f, offsets);
    auto axis = dims.size();
    for (;;) {
      if (axis == 0) return;
      --axis;
      for (std::size_t k = 0; k < Count; ++k) offsets[k] += strides[k][axis];
      if (++at[axis] < dims[axis]) break;
      for (std::size_t k = 0; k < Count; ++k) offsets[k] -= strides[k][axis] * dims[axis];
      at[axis] = 0;
    }
  }
}

shape broadcast(shape const& a, shape const& b) {
  shape dims(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    auto const from_end = dims.size() - i;
    auto const x = from_end > a.size() ? 1 : a[a.size() - from_end],
               y = from_end > b.size() ? 1 : b[b.size() - from_end];
    if (x != y && x != 1 && y != 1) throw std::runtime_error("shapes that do not broadcast");
    dims[i] = x == 1 ? y : x;
  }
  return dims;
}

// The strides with which a tensor of shape `from` is read at the places of `to`.
shape broadcast_strides(shape const& from, shape const& to) {
  shape strides(to.size(), 0);
  auto const own = strides_of(from);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[to.size() - from.size() + i] = own[i];
  return strides;
}

// The elements of `t` at the places of `dims`, as strides and a first one say.
tensor gathered(tensor const& t, shape const& dims, shape const& strides, std::int64_t first = 0) {
  return t.visit([&](auto const& from) -> tensor {
    std::remove_cvref_t<decltype(from)> made;
    made.reserve(index(count(dims)));
    walk<1>(dims, {strides}, [&](std::int64_t at) { made.push_back(from[index(first + at)]); });
    return {dims, std::move(made)};
  });
}

// ---- Elementwise

template <class T, class F>
tensor binary_of(tensor const& a, tensor const& b, F const& f) {
  using result = std::conditional_t<std::is_same_v<std::invoke_result_t<F, T, T>, bool>, std::uint8_t, T>;
  auto const &x = a.as<T>(), &y = b.as<T>();
  auto const dims = broadcast(a.dims, b.dims);
  std::vector<result> made(index(count(dims)));
  auto outer = dims, x_strides = broadcast_strides(a.dims, dims), y_strides = broadcast_strides(b.dims, dims);
  auto const pop = [](shape& from) {
    return from.empty() ? 1 : std::exchange(from, shape(from.begin(), from.end() - 1)).back();
  };
  auto const columns = pop(outer), x_step = pop(x_strides), y_step = pop(y_strides);
  auto to = made.begin();
  walk<2>(outer, {x_strides, y_strides}, [&](std::int64_t i, std::int64_t j) {
    for (std::int64_t k = 0; k < columns; ++k)
      *to++ = static_cast<result>(f(x[index(i + k * x_step)], y[index(j + k * y_step)]));
  });
  return {dims, std::move(made)};
}

template <class F>
tensor binary(tensor const& a, tensor const& b, F const& f) {
  return a.visit([&](auto const& elements) {
    return binary_of<typename std::remove_cvref_t<decltype(elements)>::value_type>(a, b, f);
  });
}

// Functions of operators, from functions of elements.
template <class F>
function each(F) {
  return [](node const&, tensors const& in) -> tensors {
    return {in.at(0).visit([&](auto elements) -> tensor {
      for (auto& x : elements) x = static_cast<std::remove_reference_t<decltype(x)>>(F{}(x));
      return {in[0].dims, std::move(elements)};
    })};
  };
}
template <class F>
function pairwise(F) {
  return [](node const&, tensors const& in) -> tensors {
    auto so_far = binary(in.at(0), in.at(1), F{});
    for (std::size_t i = 2; i < in.size(); ++i) so_far = binary(so_far, in[i], F{});
    return {std::move(so_far)};
  };
}

/// What no integer holds, such as log(0), is the lowest of all.
std::int64_t whole(float x) {
  bool const fits = x >= -0x1p63f && x < 0x1p63f;
  return fits ? static_cast<std::int64_t>(x) : std::numeric_limits<std::int64_t>::min();
}

template <class To>
tensor converted(tensor const& x) {
  return x.visit([&](auto const& from) -> tensor {
    std::vector<To> made;
    made.reserve(from.size());
    for (auto const element : from)
      if constexpr (std::is_same_v<To, std::uint8_t>)
        made.push_back(element != 0);
      else if constexpr (std::is_same_v<To, std::int64_t> && std::is_same_v<decltype(element), float const>)
        made.push_back(whole(element));
      else
        made.push_back(static_cast<To>(element));
    return {x.dims, std::move(made)};
  });
}

tensors power(node const&, tensors const& in) {
  return {binary_of<float>(in.at(0), in.at(1).is<float>() ? in[1] : converted<float>(in[1]),
                           [](float a, float b) { return b == 2 ? a * a : std::pow(a, b); })};
}

tensors cast(node const& n, tensors const& in) {
  auto const to = n.get<std::int64_t>("to", 0);
  if (to == 1) return {converted<float>(in.at(0))};
  if (to == 6 || to == 7) return {converted<std::int64_t>(in.at(0))};
  if (to == 9) return {converted<std::uint8_t>(in.at(0))};
  throw std::runtime_error("element type " + std::to_string(to) + ", expected float, int32, int64 or bool");
}

tensors where(node const&, tensors const& in) {
  auto const dims = broadcast(in.at(0).dims, broadcast(in.at(1).dims, in.at(2).dims));
  auto const a = gathered(in[1], dims, broadcast_strides(in[1].dims, dims));
  auto const b = gathered(in[2], dims, broadcast_strides(in[2].dims, dims));
  auto const chosen = gathered(in[0], dims, broadcast_strides(in[0].dims, dims));
  return {a.visit([&](auto elements) -> tensor {
    auto const& others = b.as<typename decltype(elements)::value_type>();
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (chosen.as<std::uint8_t>()[i] == 0) elements[i] = others[i];
    return {dims, std::move(elements)};
  })};
}

// ---- Shapes

integers const& ints(tensor const& t) { return t.as<std::int64_t>(); }

// A list that is an attribute in old operator sets, an operand in new ones.
integers list(node const& n, tensors const& in, std::string const& name, std::size_t operand) {
  if (in.size() > operand && in[operand]) return ints(in[operand]);
  return n.get<std::vector<std::int64_t>>(name, {});
}

tensors reshape(node const& n, tensors const& in) {
  auto dims = ints(in.at(1));
  auto const& x = in[0];
  std::int64_t known = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && n.get<std::int64_t>("allowzero", 0) == 0) dims[i] = x.dims.at(i);
    if (dims[i] != -1) known *= dims[i];
  }
  for (auto& extent : dims)
    if (extent == -1) extent = known == 0 ? 0 : count(x.dims) / known;
  if (count(dims) != count(x.dims)) throw std::runtime_error("another number of elements");
  return {x.reshaped(std::move(dims))};
}

tensors unsqueeze(node const& n, tensors const& in) {
  auto axes = list(n, in, "axes", 1);
  auto dims = in.at(0).dims;
  for (auto& axis : axes) axis = from_front(axis, in[0].rank() + static_cast<std::int64_t>(axes.size()));
  std::sort(axes.begin(), axes.end());
  for (auto const axis : axes) dims.insert(dims.begin() + axis, 1);
  return {in[0].reshaped(std::move(dims))};
}

tensors squeeze(node const& n, tensors const& in) {
  auto axes = list(n, in, "axes", 1);
  for (auto& axis : axes) axis = from_front(axis, in.at(0).rank());
  shape dims;
  for (std::int64_t i = 0; i < in.at(0).rank(); ++i) {
    bool const named = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (axes.empty() ? in[0].dims[index(i)] != 1 : !named) dims.push_back(in[0].dims[index(i)]);
  }
  return {in[0].reshaped(std::move(dims))};
}

tensors transpose(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  auto order = n.get<std::vector<std::int64_t>>("perm", {});
  for (auto i = x.rank(); order.size() < x.dims.size();) order.push_back(--i);
  auto const own = strides_of(x.dims);
  shape dims, strides;
  for (auto const axis : order) {
    dims.push_back(x.dims.at(index(axis)));
    strides.push_back(own[index(axis)]);
  }
  return {gathered(x, dims, strides)};
}

tensors slice(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  auto const starts = list(n, in, "starts", 1), ends = list(n, in, "ends", 2), steps = list(n, in, "steps", 4);
  auto axes = list(n, in, "axes", 3);
  for (auto i = axes.size(); i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  auto dims = x.dims, strides = strides_of(x.dims);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    auto const axis = index(from_front(axes[i], x.rank()));
    auto const extent = x.dims.at(axis), step = steps.empty() ? 1 : steps[i];
    auto const bounded = [&](std::int64_t at) {
      at = at < 0 ? std::max(at, -extent - 1) + extent : at;
      return step > 0 ? std::clamp<std::int64_t>(at, 0, extent) : std::clamp<std::int64_t>(at, -1, extent - 1);
    };
    auto const from = bounded(starts[i]), to = bounded(ends[i]);
    dims[axis] = std::max<std::int64_t>(0, (to - from + step + (step > 0 ? -1 : 1)) / step);
    first += from * strides[axis];
    strides[axis] *= step;
  }
  return {gathered(x, dims, strides, first)};
}

tensors gather(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  auto const axis = from_front(n.get<std::int64_t>("axis", 0), x.rank());
  auto const extent = x.dims.at(index(axis));
  auto const inner = product(x.dims.begin() + axis + 1, x.dims.end());
  auto const outer = product(x.dims.begin(), x.dims.begin() + axis);
  shape dims(x.dims.begin(), x.dims.begin() + axis);
  dims.insert(dims.end(), in.at(1).dims.begin(), in[1].dims.end());
  dims.insert(dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  return {x.visit([&](auto const& from) -> tensor {
    std::remove_cvref_t<decltype(from)> made;
    made.reserve(index(count(dims)));
    for (std::int64_t o = 0; o < outer; ++o)
      for (auto at : ints(in[1])) {
        at = from_front(at, extent);
        if (at < 0 || at >= extent) throw std::runtime_error("an index outside of its axis");
        auto const begin = from.begin() + (o * extent + at) * inner;
        made.insert(made.end(), begin, begin + inner);
      }
    return {dims, std::move(made)};
  })};
}

tensors concat(node const& n, tensors const& in) {
  auto const axis = from_front(n.get<std::int64_t>("axis", 0), in.at(0).rank());
  auto dims = in[0].dims;
  dims.at(index(axis)) = 0;
  for (auto const& x : in) dims[index(axis)] += x.dims.at(index(axis));
  auto const outer = product(dims.begin(), dims.begin() + axis);
  return {in[0].visit([&](auto const& first) -> tensor {
    std::remove_cvref_t<decltype(first)> made;
    made.reserve(index(count(dims)));
    for (std::int64_t o = 0; o < outer; ++o)
      for (auto const& x : in) {
        auto const& from = x.as<typename std::remove_cvref_t<decltype(first)>::value_type>();
        auto const length = product(x.dims.begin() + axis, x.dims.end());
        made.insert(made.end(), from.begin() + o * length, from.begin() + (o + 1) * length);
      }
    return {dims, std::move(made)};
  })};
}

tensors expand(node const&, tensors const& in) {
  auto const dims = broadcast(in.at(0).dims, ints(in.at(1)));
  return {gathered(in[0], dims, broadcast_strides(in[0].dims, dims))};
}

tensors constant_of_shape(node const& n, tensors const& in) {
  auto const& dims = ints(in.at(0));
  auto const element = n.get<tensor>("value", tensor({1}, floats{0}));
  return {gathered(element, dims, shape(dims.size(), 0))};
}

tensors range(node const&, tensors const& in) {
  return {in.at(0).visit([&](auto const& start) -> tensor {
    using element = typename std::remove_cvref_t<decltype(start)>::value_type;
    auto const limit = in.at(1).as<element>().at(0), step = in.at(2).as<element>().at(0);
    std::vector<element> made;
    for (auto at = start.at(0); step > 0 ? at < limit : at > limit; at = static_cast<element>(at + step))
      made.push_back(at);
    auto const length = static_cast<std::int64_t>(made.size());
    return {{length}, std::move(made)};
  })};
}

tensors identity(node const&, tensors const& in) { return {in.at(0)}; }

tensors shape_of(node const&, tensors const& in) { return {{{in.at(0).rank()}, integers(in[0].dims)}}; }

// ---- Over rows

tensors mean(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  auto axes = list(n, in, "axes", 1);
  bool const kept = n.get<std::int64_t>("keepdims", 1) != 0;
  if (axes.empty())
    for (std::int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  // The axes that are averaged over come last.
  shape outer, inner, outer_strides, inner_strides, dims;
  auto const own = strides_of(x.dims);
  for (auto& axis : axes) axis = from_front(axis, x.rank());
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    bool const averaged = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    (averaged ? inner : outer).push_back(x.dims[i]);
    (averaged ? inner_strides : outer_strides).push_back(own[i]);
    if (!averaged || kept) dims.push_back(averaged ? 1 : x.dims[i]);
  }
  floats made;
  auto const* const from = x.as<float>().data();
  bool const contiguous = inner.size() == 1 && inner_strides[0] == 1;
  walk<1>(outer, {outer_strides}, [&](std::int64_t at) {
    float sum = 0;
    if (contiguous)
      sum = Eigen::Map<Eigen::VectorXf const>(from + at, inner[0]).sum();
    else
      walk<1>(inner, {inner_strides}, [&](std::int64_t i) { sum += from[at + i]; });
    made.push_back(sum / static_cast<float>(count(inner)));
  });
  return {{dims, std::move(made)}};
}

tensors softmax(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  if (from_front(n.get<std::int64_t>("axis", -1), x.rank()) != x.rank() - 1)
    throw std::runtime_error("another axis than the last");
  auto const columns = x.dims.back();
  floats y(x.as<float>());
  for (auto row = y.begin(); row != y.end(); row += columns) {
    auto const largest = *std::max_element(row, row + columns);
    float sum = 0;
    for (auto at = row; at != row + columns; ++at) sum += * at = std::exp(*at - largest);
    for (auto at = row; at != row + columns; ++at) *at /= sum;
  }
  return {{x.dims, std::move(y)}};
}

// The norms' axes are all from `axis` on: rows of fuse's kernels.
template <class Kernel>
tensors norm(node const& n, tensors const& in, Kernel const& kernel) {
  auto const& x = in.at(0);
  auto const axis = from_front(n.get<std::int64_t>("axis", -1), x.rank());
  auto const rows = index(product(x.dims.begin(), x.dims.begin() + axis)),
             columns = index(product(x.dims.begin() + axis, x.dims.end()));
  floats y(x.as<float>().size());
  auto const done = kernel(fuse::kernels::matrix_view(x.as<float>().data(), rows, columns),
                           fuse::kernels::matrix_view(y.data(), rows, columns), n.get<float>("epsilon", 1e-5f));
  if (!done.ok()) throw std::runtime_error(done.message());
  return {{x.dims, std::move(y)}};
}

tensors layer_norm(node const& n, tensors const& in) {
  return norm(n, in, [&](auto x, auto y, float epsilon) {
    auto const& scale = in.at(1).as<float>();
    return in.size() > 2 && in[2] ? fuse::kernels::layer_norm(x, scale, in[2].as<float>(), y, epsilon)
                                  : fuse::kernels::layer_norm(x, scale, fuse::kernels::none, y, epsilon);
  });
}

tensors rms_norm(node const& n, tensors const& in) {
  return norm(n, in, [&](auto x, auto y, float epsilon) {
    return fuse::kernels::rms_norm(x, in.at(1).as<float>(), y, epsilon);
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

// ---- Products

tensors matmul(node const&, tensors const& in) {
  auto const &a = in.at(0), &b = in.at(1);
  if (a.rank() < 2 || b.rank() < 2) throw std::runtime_error("an operand of less than two axes");
  auto const rows = a.dims[a.dims.size() - 2], inner = a.dims.back(), columns = b.dims.back();
  if (b.dims[b.dims.size() - 2] != inner) throw std::runtime_error("operands that do not fit");
  shape const a_batch(a.dims.begin(), a.dims.end() - 2), b_batch(b.dims.begin(), b.dims.end() - 2);
  auto dims = broadcast(a_batch, b_batch);
  auto const &x = a.as<float>(), &y = b.as<float>();
  floats z(index(count(dims) * rows * columns));
  auto* to = z.data();
  walk<2>(dims, {broadcast_strides(a_batch, dims), broadcast_strides(b_batch, dims)},
          [&](std::int64_t i, std::int64_t j) {
            matrix(to, rows, columns).noalias() = const_matrix(x.data() + i * rows * inner, rows, inner) *
                                                  const_matrix(y.data() + j * inner * columns, inner, columns);
            to += rows * columns;
          });
  dims.insert(dims.end(), {rows, columns});
  return {{dims, std::move(z)}};
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
    matrix y(made.data() + b * w[0] * rows * columns, w[0], rows * columns);
    y.noalias() = const_matrix(in[1].as<float>().data(), w[0], taps) * const_matrix(under.data(), taps, rows * columns);
    if (in.size() > 2 && in[2]) y.colwise() += Eigen::Map<Eigen::VectorXf const>(in[2].as<float>().data(), w[0]);
  }
  shape dims{x[0], w[0]};
  if (in[0].rank() == 4) dims.push_back(rows);
  dims.push_back(columns);
  return {{dims, std::move(made)}};
}

}  // namespace

function function_of(std::string_view op) {
  static std::map<std::string_view, function> const functions{
      {"Abs", each([](auto v) { return v < 0 ? -v : v; })},
      {"Add", pairwise(std::plus<>())},
      {"And", pairwise(std::logical_and<>())},
      {"Cast", cast},
      {"Concat", concat},
      {"ConstantOfShape", constant_of_shape},
      {"Conv", convolution},
      {"Div", pairwise(std::divides<>())},
      {"Equal", pairwise(std::equal_to<>())},
      {"Erf", each([](auto v) { return std::erf(v); })},
      {"Expand", expand},
      {"Gather", gather},
      {"Greater", pairwise(std::greater<>())},
      {"GreaterOrEqual", pairwise(std::greater_equal<>())},
      {"Identity", identity},
      {"com.microsoft::EmbedLayerNormalization", embed_layer_norm},
      {"com.microsoft::QEmbedLayerNormalization", qembed_layer_norm},
      {"LayerNormalization", layer_norm},
      {"Less", pairwise(std::less<>())},
      {"LessOrEqual", pairwise(std::less_equal<>())},
      {"Log", each([](auto v) { return std::log(v); })},
      {"MatMul", matmul},
      {"Max", pairwise([](auto a, auto b) { return std::max(a, b); })},
      {"Min", pairwise([](auto a, auto b) { return std::min(a, b); })},
      {"Mul", pairwise(std::multiplies<>())},
      {"Neg", each(std::negate<>())},
      {"Pow", power},
      {"RMSNormalization", rms_norm},
      {"Range", range},
      {"ReduceMean", mean},
      {"Relu", each([](auto v) { return v < 0 ? decltype(v){} : v; })},
      {"Reshape", reshape},
      {"Shape", shape_of},
      {"Slice", slice},
      {"Softmax", softmax},
      {"Sqrt", each([](auto v) { return std::sqrt(v); })},
      {"Squeeze", squeeze},
      {"Sub", pairwise(std::minus<>())},
      {"Tanh", each([](auto v) { return std::tanh(v); })},
      {"Transpose", transpose},
      {"Unsqueeze", unsqueeze},
      {"Where", where},
  };
  auto const found = functions.find(op);
  return found == functions.end() ? nullptr : found->second;
}

}  // namespace mini
