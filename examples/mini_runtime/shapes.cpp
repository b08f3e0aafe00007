// SPDX-License-Identifier: BSL-1.0
#include "indexing.hpp"
#include "operators.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace mini {
namespace {

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
    elements<element> made;
    for (auto at = start.at(0); step > 0 ? at < limit : at > limit; at = static_cast<element>(at + step))
      made.push_back(at);
    auto const length = static_cast<std::int64_t>(made.size());
    return {{length}, std::move(made)};
  })};
}

tensors identity(node const&, tensors const& in) { return {in.at(0)}; }

tensors shape_of(node const& n, tensors const& in) {
  auto const rank = in.at(0).rank();
  auto const place = [&](std::string const& name, std::int64_t otherwise) {
    return std::clamp<std::int64_t>(from_front(n.get<std::int64_t>(name, otherwise), rank), 0, rank);
  };
  auto const start = place("start", 0), end = std::max(start, place("end", rank));
  return {{{end - start}, integers(in[0].dims.begin() + start, in[0].dims.begin() + end)}};
}

tensors split(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  auto const axis = index(from_front(n.get<std::int64_t>("axis", 0), x.rank()));
  auto lengths = list(n, in, "split", 1);
  if (lengths.empty()) {
    auto const parts = static_cast<std::int64_t>(n.results.size()), each = (x.dims.at(axis) + parts - 1) / parts;
    for (std::int64_t left = x.dims[axis]; left > 0; left -= each) lengths.push_back(std::min(each, left));
  }
  tensors made;
  auto const strides = strides_of(x.dims);
  std::int64_t first = 0;
  for (auto const length : lengths) {
    auto dims = x.dims;
    dims.at(axis) = length;
    made.push_back(gathered(x, dims, strides, first * strides[axis]));
    first += length;
  }
  return made;
}

// Calls f(offset) with where the part of `dims` begins that each list of indices leads to.
template <class F>
void for_each_part(shape const& dims, std::size_t batches, tensor const& indices, F const& f) {
  auto const length = index(indices.dims.back());
  auto const strides = strides_of(dims);
  auto const lists = length == 0 ? 0 : ints(indices).size() / length;
  auto const in_batch = lists / index(product(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(batches)));
  for (std::size_t i = 0; i < lists; ++i) {
    std::int64_t at = batches == 0 ? 0 : static_cast<std::int64_t>(i / in_batch) * strides[batches - 1];
    for (std::size_t k = 0; k < length; ++k) {
      auto const extent = dims.at(batches + k), to = from_front(ints(indices)[i * length + k], extent);
      if (to < 0 || to >= extent) throw std::runtime_error("an index outside of its axis");
      at += to * strides[batches + k];
    }
    f(at);
  }
}

tensors gather_nd(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  auto const batches = index(n.get<std::int64_t>("batch_dims", 0));
  auto const rest = x.dims.begin() + static_cast<std::ptrdiff_t>(batches) + in.at(1).dims.back();
  shape dims(in[1].dims.begin(), in[1].dims.end() - 1);
  dims.insert(dims.end(), rest, x.dims.end());
  return {x.visit([&](auto const& from) -> tensor {
    std::remove_cvref_t<decltype(from)> made;
    for_each_part(x.dims, batches, in[1], [&](std::int64_t at) {
      made.insert(made.end(), from.begin() + at, from.begin() + at + product(rest, x.dims.end()));
    });
    return {dims, std::move(made)};
  })};
}

tensors scatter_nd(node const& n, tensors const& in) {
  if (n.get<std::string>("reduction", "none") != "none") throw std::runtime_error("a reduction");
  auto const& x = in.at(0);
  auto const length = product(x.dims.begin() + in.at(1).dims.back(), x.dims.end());
  return {x.visit([&](auto made) -> tensor {
    auto from = in.at(2).as<typename decltype(made)::value_type>().begin();
    for_each_part(x.dims, 0, in[1], [&](std::int64_t at) {
      std::copy(from, from + length, made.begin() + at);
      from += length;
    });
    return {x.dims, std::move(made)};
  })};
}

// The upper or the lower triangle of matrices; zeros elsewhere.
tensors triangle(node const& n, tensors const& in) {
  auto const& x = in.at(0);
  bool const upper = n.get<std::int64_t>("upper", 1) != 0;
  auto const diagonal = in.size() > 1 && in[1] ? ints(in[1]).at(0) : 0;
  auto const rows = x.dims.at(x.dims.size() - 2), columns = x.dims.back();
  return {x.visit([&](auto made) -> tensor {
    for (std::int64_t i = 0; i < count(x.dims); ++i) {
      auto const above = i % columns - i / columns % rows - diagonal;
      if (upper ? above < 0 : above > 0) made[index(i)] = {};
    }
    return {x.dims, std::move(made)};
  })};
}

}  // namespace

std::span<named_function const> shape_operators() {
  static named_function const all[] = {
      {"Concat", concat},        {"ConstantOfShape", constant_of_shape, 0},
      {"Expand", expand, 1},     {"Gather", gather},
      {"GatherND", gather_nd},   {"Identity", identity},
      {"Range", range, 0},       {"Reshape", reshape, 1},
      {"ScatterND", scatter_nd}, {"Shape", shape_of},
      {"Slice", slice, 1},       {"Split", split, 1},
      {"Squeeze", squeeze, 1},   {"Transpose", transpose},
      {"Trilu", triangle},       {"Unsqueeze", unsqueeze, 1},
  };
  return all;
}

}  // namespace mini
