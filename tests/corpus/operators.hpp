// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/graph/graph.hpp>

#include "array.hpp"
#include "names.hpp"

/// What operators compute, in double precision: of single numbers, and of arrays. Independent of the library's own
/// tables: it is what they are checked with.
namespace corpus {

// Of numbers

using unary_function = double (*)(double);
using binary_function = double (*)(double, double);

/// The function of an operator that maps each element; null where it does something else.
[[nodiscard]] inline unary_function unary_of(opcode op) {
  switch (op) {
    case opcode::neg: return [](double a) { return -a; };
    case opcode::abs: return [](double a) { return std::fabs(a); };
    case opcode::reciprocal: return [](double a) { return 1 / a; };
    case opcode::sqrt: return [](double a) { return std::sqrt(a); };
    case opcode::rsqrt: return [](double a) { return 1 / std::sqrt(a); };
    case opcode::square: return [](double a) { return a * a; };
    case opcode::exp: return [](double a) { return std::exp(a); };
    case opcode::log: return [](double a) { return std::log(a); };
    case opcode::erf: return [](double a) { return std::erf(a); };
    case opcode::tanh: return [](double a) { return std::tanh(a); };
    case opcode::sigmoid: return [](double a) { return 1 / (1 + std::exp(-a)); };
    case opcode::relu: return [](double a) { return a < 0 ? 0 : a; };
    case opcode::identity: return [](double a) { return a; };
    case opcode::logical_not: return [](double a) { return static_cast<double>(a == 0); };
    default: return nullptr;
  }
}

/// The function of an operator that combines elements in pairs; null where it does something else. Of more than two
/// operands it is applied from left to right.
[[nodiscard]] inline binary_function binary_of(opcode op, bool integers) {
  switch (op) {
    case opcode::add:
    case opcode::sum_of: return [](double a, double b) { return a + b; };
    case opcode::sub: return [](double a, double b) { return a - b; };
    case opcode::mul: return [](double a, double b) { return a * b; };
    case opcode::div:
      if (integers) return [](double a, double b) { return std::trunc(a / b); };
      return [](double a, double b) { return a / b; };
    case opcode::mod: return [](double a, double b) { return a - std::floor(a / b) * b; };
    case opcode::pow:  // a root of -inf is no number
      return [](double a, double b) { return a == -HUGE_VAL && b != std::floor(b) ? std::nan("") : std::pow(a, b); };
    case opcode::maximum: return [](double a, double b) { return a > b || a != a ? a : b; };
    case opcode::minimum: return [](double a, double b) { return a < b || a != a ? a : b; };
    case opcode::less: return [](double a, double b) { return static_cast<double>(a < b); };
    case opcode::greater: return [](double a, double b) { return static_cast<double>(a > b); };
    case opcode::equal: return [](double a, double b) { return static_cast<double>(a == b); };
    default: return nullptr;
  }
}

// Of arrays

[[nodiscard]] inline array array_of(fuse::tensor_view t) {
  array a{{t.shape.begin(), t.shape.end()}, {}, !fuse::is_floating(t.type)};
  for (std::size_t i = 0; i < t.size(); ++i) a.data.push_back(t.number(i));
  return a;
}

/// A node's attributes under the names of either dialect.
struct parameters {
  std::map<std::string, fuse::graph::named, std::less<>> all{};

  [[nodiscard]] fuse::graph::named const* find(std::initializer_list<std::string_view> names) const {
    for (auto const name : names)
      if (auto const at = all.find(name); at != all.end()) return &at->second;
    return nullptr;
  }
  [[nodiscard]] double number(std::initializer_list<std::string_view> names, double fallback) const {
    auto const* a = find(names);
    if (a == nullptr) return fallback;
    if (auto const* whole = std::get_if<std::int64_t>(&a->content)) return static_cast<double>(*whole);
    return std::get<double>(a->content);
  }
  [[nodiscard]] std::optional<std::vector<std::int64_t>> list(std::initializer_list<std::string_view> names) const {
    auto const* a = find(names);
    if (a == nullptr) return std::nullopt;
    return std::get<std::vector<std::int64_t>>(a->content);
  }
};

namespace operators {

[[nodiscard]] inline array row(std::vector<std::int64_t> const& numbers) {
  return {{static_cast<std::int64_t>(numbers.size())}, {numbers.begin(), numbers.end()}, true};
}
/// Whole numbers; the largest of 64 bits, which a double rounds up, stands for beyond every end.
[[nodiscard]] inline std::vector<std::int64_t> integers(array const& a) {
  std::vector<std::int64_t> all;
  for (double const x : a.data)
    all.push_back(x < 0x1p63 ? static_cast<std::int64_t>(x) : std::numeric_limits<std::int64_t>::max());
  return all;
}
[[nodiscard]] inline array cast(array const& a, fuse::element_type to) {
  auto result = map(a, [&](double x) {
    return fuse::is_floating(to) ? x : to == fuse::element_type::boolean ? static_cast<double>(x != 0) : std::trunc(x);
  });
  result.integers = !fuse::is_floating(to);
  return result;
}
[[nodiscard]] inline fuse::element_type target_of(parameters const& cast) {
  return static_cast<fuse::element_type>(static_cast<int>(cast.number({"to", "dtype"}, 0)));
}
[[nodiscard]] inline array constant(parameters const& p) {
  for (auto const& [name, a] : p.all) {
    if (auto const* t = std::get_if<fuse::tensor>(&a.content)) return array_of(*t);
    if (auto const* x = std::get_if<double>(&a.content)) return {{}, {*x}, false};
    if (auto const* x = std::get_if<std::int64_t>(&a.content)) return {{}, {static_cast<double>(*x)}, true};
    if (auto const* x = std::get_if<std::vector<std::int64_t>>(&a.content)) return row(*x);
    if (auto const* x = std::get_if<std::vector<float>>(&a.content))
      return {{static_cast<std::int64_t>(x->size())}, {x->begin(), x->end()}, false};
  }
  fail("a Constant without contents");
}
[[nodiscard]] inline std::optional<std::vector<std::int64_t>> axes_of(std::vector<array const*> const& in,
                                                                      parameters const& p) {
  if (in.size() > 1 && in[1] != nullptr) return integers(*in[1]);
  return p.list({"axes", "dim"});
}
template <class F>
[[nodiscard]] array reduce(std::vector<array const*> const& in, parameters const& p, F f) {
  auto const axes = axes_of(in, p).value_or(std::vector<std::int64_t>{});
  if (axes.empty() && p.number({"noop_with_empty_axes"}, 0) != 0) return *in[0];
  return f(*in.at(0), axes, p.number({"keepdims"}, 1) != 0 && p.number({"squeeze"}, 0) == 0);
}
[[nodiscard]] inline array unsqueeze(array a, std::vector<std::int64_t> const& axes) {
  std::set<std::int64_t> inserted;
  auto const rank = static_cast<std::int64_t>(a.rank() + axes.size());
  for (auto const axis : axes) {
    if (axis < -rank || axis >= rank) fail("an axis that is none");
    inserted.insert(axis < 0 ? axis + rank : axis);
  }
  if (inserted.size() != axes.size()) fail("an axis twice");
  for (auto const axis : inserted) a.shape.insert(a.shape.begin() + axis, 1);
  return a;
}
[[nodiscard]] inline array squeeze(array a, std::vector<std::int64_t> const& axes) {
  std::set<std::size_t> removed;
  for (auto const axis : axes) removed.insert(axis_of(a, axis));
  for (auto axis = removed.rbegin(); axis != removed.rend(); ++axis) {
    if (a.shape[*axis] != 1) fail("an axis is squeezed that has elements");
    a.shape.erase(a.shape.begin() + static_cast<std::ptrdiff_t>(*axis));
  }
  return a;
}
[[nodiscard]] inline array range(array const& start, array const& limit, array const& step) {
  array result{{0}, {}, true};
  for (double x = start.data.at(0); step.data.at(0) > 0 ? x < limit.data.at(0) : x > limit.data[0]; x += step.data[0])
    result.data.push_back(x);
  result.shape[0] = static_cast<std::int64_t>(result.data.size());
  return result;
}
[[nodiscard]] inline array reshape(array a, std::vector<std::int64_t> shape) {
  std::int64_t known = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) shape[i] = a.shape.at(i);
    if (shape[i] > 0) known *= shape[i];
  }
  for (auto& extent : shape) {
    if (extent < 0 && known == 0) fail("an extent of Reshape that nothing tells");
    if (extent < 0) extent = static_cast<std::int64_t>(a.data.size()) / known;
  }
  a.shape = shape;
  if (count_of(shape) != a.data.size()) fail("Reshape to another size");
  return a;
}
[[nodiscard]] inline array flatten(array a, std::int64_t axis) {
  if (axis < 0) axis += static_cast<std::int64_t>(a.rank());
  auto const rows = count_of({a.shape.begin(), a.shape.begin() + axis});
  auto const columns = count_of({a.shape.begin() + axis, a.shape.end()});
  a.shape = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
  return a;
}
[[nodiscard]] inline array transpose(array const& a, std::optional<std::vector<std::int64_t>> perm) {
  if (!perm) {
    perm.emplace();
    for (auto axis = a.rank(); axis-- > 0;) perm->push_back(static_cast<std::int64_t>(axis));
  }
  if (perm->size() != a.rank()) fail("a permutation of other axes");
  array result{{}, {}, a.integers};
  for (auto const axis : *perm) result.shape.push_back(a.shape[axis_of(a, axis)]);
  for (std::size_t at = 0; at < a.data.size(); ++at) {
    auto const index = position(at, result.shape);
    std::vector<std::int64_t> from(a.rank());
    for (std::size_t i = 0; i < from.size(); ++i) from[axis_of(a, (*perm)[i])] = index[i];
    result.data.push_back(a.data[broadcast_offset(from, a.shape)]);
  }
  return result;
}
// Of the matrices in the last two axes, the others broadcast.
[[nodiscard]] inline array products(array const& a, array const& b) {
  if (a.rank() < 2 || b.rank() < 2) fail("a product with a vector");
  auto const count = [](array const& of, std::size_t from_last) {
    return static_cast<std::size_t>(of.shape[of.rank() - from_last]);
  };
  auto const rows = count(a, 2), inner = count(a, 1), columns = count(b, 1);
  if (inner != count(b, 2)) fail("matrices that do not fit");
  std::vector<std::int64_t> const batch_a(a.shape.begin(), a.shape.end() - 2),
      batch_b(b.shape.begin(), b.shape.end() - 2);
  auto const batch = broadcast_shape(batch_a, batch_b);
  array result{batch, {}, a.integers && b.integers};
  for (std::size_t at = 0; at < count_of(batch); ++at) {
    auto const index = position(at, batch);
    auto const* const left = a.data.data() + broadcast_offset(index, batch_a) * rows * inner;
    auto const* const right = b.data.data() + broadcast_offset(index, batch_b) * inner * columns;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::size_t k = 0; k < inner; ++k) sum += left[row * inner + k] * right[k * columns + column];
        result.data.push_back(sum);
      }
  }
  result.shape.push_back(static_cast<std::int64_t>(rows));
  result.shape.push_back(static_cast<std::int64_t>(columns));
  return result;
}
[[nodiscard]] inline array tile(array const& a, std::vector<std::int64_t> const& times) {
  if (times.size() != a.rank()) fail("repetitions of other axes");
  array result{a.shape, {}, a.integers};
  for (std::size_t i = 0; i < times.size(); ++i) result.shape[i] *= times[i];
  for (std::size_t at = 0; at < count_of(result.shape); ++at) {
    auto const index = position(at, result.shape);
    std::size_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
      offset = offset * static_cast<std::size_t>(a.shape[i]) + static_cast<std::size_t>(index[i] % a.shape[i]);
    result.data.push_back(a.data[offset]);
  }
  return result;
}
[[nodiscard]] inline array matmul(array const& a, array const& b) {
  if (b.rank() != 2) return products(a, b);
  auto const inner = static_cast<std::size_t>(b.shape.at(0)), columns = static_cast<std::size_t>(b.shape.at(1));
  if (a.rank() == 0 || static_cast<std::size_t>(a.shape.back()) != inner) fail("matrices that do not fit");
  array result{a.shape, {}, a.integers && b.integers};
  result.shape.back() = b.shape[1];
  auto const rows = count_of({a.shape.begin(), a.shape.end() - 1});
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (std::size_t k = 0; k < inner; ++k) sum += a.data[row * inner + k] * b.data[k * columns + column];
      result.data.push_back(sum);
    }
  return result;
}
[[nodiscard]] inline array gemm(std::vector<array const*> const& in, parameters const& p) {
  auto const turned = [&](std::size_t i, std::string_view flag) {
    if (in.at(i)->rank() != 2) fail("an operand of Gemm is no matrix");
    return p.number({flag}, 0) != 0 ? transpose(*in[i], {}) : *in[i];
  };
  auto const times = [](double by) { return [by](double x) { return x * by; }; };
  auto const product = map(matmul(turned(0, "transA"), turned(1, "transB")), times(p.number({"alpha"}, 1)));
  if (in.size() < 3 || in[2] == nullptr) return product;
  auto sum = combine(product, map(*in[2], times(p.number({"beta"}, 1))), [](double a, double b) { return a + b; });
  if (sum.shape != product.shape) fail("the addend of Gemm enlarges it");
  return sum;
}
/// Over any number of dimensions, of each group of channels.
[[nodiscard]] inline array conv(std::vector<array const*> const& in, parameters const& p) {
  auto const &x = *in.at(0), &w = *in.at(1);
  if (x.rank() < 3 || w.rank() != x.rank()) fail("operands of Conv of ranks that do not fit");
  auto const dimensions = x.rank() - 2;
  auto const each = [&](std::string_view name, std::size_t count, std::int64_t otherwise) {
    auto const given = p.list({name});
    if (given && given->size() != count) fail("a list of Conv of another length");
    return given ? *given : std::vector<std::int64_t>(count, otherwise);
  };
  auto const steps = each("strides", dimensions, 1), apart = each("dilations", dimensions, 1),
             pads = each("pads", 2 * dimensions, 0);
  std::vector<std::int64_t> const kernel(w.shape.begin() + 2, w.shape.end());
  if (each("kernel_shape", dimensions, 0) != kernel && p.list({"kernel_shape"})) fail("another kernel than is said");
  auto const groups = static_cast<std::int64_t>(p.number({"group"}, 1));
  if (x.shape[1] != w.shape[1] * groups || w.shape[0] % groups != 0) fail("channels of Conv that do not fit");
  array result{{x.shape[0], w.shape[0]}, {}, false};
  for (std::size_t i = 0; i < dimensions; ++i) {
    auto const room = x.shape[i + 2] + pads[i] + pads[i + dimensions] - (kernel[i] - 1) * apart[i] - 1;
    if (room < 0) fail("a kernel of Conv that is larger than what it goes over");
    result.shape.push_back(room / steps[i] + 1);
  }
  if (in.size() > 2 && in[2] != nullptr && in[2]->shape != std::vector<std::int64_t>{w.shape[0]})
    fail("a bias of Conv of another shape");
  for (std::size_t at = 0; at < count_of(result.shape); ++at) {
    auto const to = position(at, result.shape);
    auto const out = static_cast<std::size_t>(to[1]);
    double sum = in.size() > 2 && in[2] != nullptr ? in[2]->data[out] : 0;
    for (std::int64_t c = 0; c < w.shape[1]; ++c)
      for (std::size_t k = 0; k < count_of(kernel); ++k) {
        auto const tap = position(k, kernel);
        auto from = to[0] * x.shape[1] + to[1] / (w.shape[0] / groups) * w.shape[1] + c;
        bool inside = true;
        for (std::size_t i = 0; i < dimensions; ++i) {
          auto const place = to[i + 2] * steps[i] + tap[i] * apart[i] - pads[i];
          inside = inside && place >= 0 && place < x.shape[i + 2];
          from = from * x.shape[i + 2] + place;
        }
        auto const weight =
            (out * static_cast<std::size_t>(w.shape[1]) + static_cast<std::size_t>(c)) * count_of(kernel) + k;
        if (inside) sum += x.data[static_cast<std::size_t>(from)] * w.data[weight];
      }
    result.data.push_back(sum);
  }
  return result;
}
[[nodiscard]] inline array softmax(array const& x, std::vector<std::int64_t> const& axes) {
  auto const e = map(x, [](double a) { return std::exp(a); });
  return combine(e, sum(e, axes, true), [](double a, double b) { return a / b; });
}
[[nodiscard]] inline array where(array const& c, array const& a, array const& b) {
  auto const chosen = combine(c, a, [](double x, double y) { return x != 0 ? y : 0; });
  auto const other = combine(c, b, [](double x, double y) { return x != 0 ? 0 : y; });
  auto result = combine(chosen, other, [](double x, double y) { return x + y; });
  result.integers = a.integers && b.integers;
  return result;
}
[[nodiscard]] inline array clip(std::vector<array const*> const& in, parameters const& p) {
  auto const bound = [&](std::size_t i, std::string_view name, double fallback) {
    return in.size() > i && in[i] != nullptr ? in[i]->data.at(0) : p.number({name}, fallback);
  };
  auto const low = bound(1, "min", -HUGE_VAL), high = bound(2, "max", HUGE_VAL);
  return map(*in.at(0), [&](double x) {  // between what is no number there is none
    return std::isnan(low) ? low : std::isnan(high) ? high : std::min(std::max(x, low), high);
  });
}
/// Elements along one axis, each from an index that `from` says of it.
template <class From>
[[nodiscard]] array picked(array const& a, std::size_t axis, std::int64_t count, From from) {
  array result{a.shape, {}, a.integers};
  result.shape[axis] = count;
  for (std::size_t at = 0; at < count_of(result.shape); ++at) {
    auto const index = position(at, result.shape);
    std::size_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
      offset = offset * static_cast<std::size_t>(a.shape[i]) +
               static_cast<std::size_t>(i == axis ? from(index[i]) : index[i]);
    result.data.push_back(a.data.at(offset));
  }
  return result;
}
/// Elements `from`, `from` + 1, ... of an axis.
[[nodiscard]] inline array part_of(array const& a, std::size_t axis, std::int64_t from, std::int64_t count) {
  if (from + count > a.shape[axis]) fail("a part beyond the end");
  return picked(a, axis, count, [&](std::int64_t k) { return from + k; });
}
[[nodiscard]] inline std::vector<array> split(std::vector<array const*> const& in, parameters const& p) {
  auto const axis = axis_of(*in.at(0), static_cast<std::int64_t>(p.number({"axis"}, 0)));
  if (in.size() < 2 || in[1] == nullptr) fail("a Split without sizes");
  std::vector<array> parts;
  std::int64_t at = 0;
  for (auto const size : integers(*in[1])) {
    parts.push_back(part_of(*in[0], axis, at, size));
    at += size;
  }
  if (at != in[0]->shape[axis]) fail("parts of a Split that are not the whole");
  return parts;
}
/// Of operands, from version 10 on, or attributes.
[[nodiscard]] inline array slice(std::vector<array const*> const& in, parameters const& p) {
  auto const list = [&](std::size_t i, std::string_view name) -> std::optional<std::vector<std::int64_t>> {
    if (in.size() > i && in[i] != nullptr) return integers(*in[i]);
    return p.list({name});
  };
  auto const starts = list(1, "starts").value(), ends = list(2, "ends").value();
  auto const axes = list(3, "axes"), steps = list(4, "steps");
  auto all = *in.at(0);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    auto const axis = axes ? axis_of(all, axes->at(i)) : i;
    auto const extent = all.shape.at(axis), step = steps ? steps->at(i) : 1;
    if (step == 0) fail("a Slice without a step");
    // Backwards it begins at the last element at most, and ends before the first.
    std::int64_t const past = step > 0 ? 0 : 1;
    auto const bound = [&](std::int64_t x, std::int64_t from) {
      return std::min(std::max(x < 0 ? x + extent : x, from), extent - past);
    };
    auto const first = bound(starts[i], 0), last = bound(ends.at(i), -past);
    auto const span = step > 0 ? last - first + step - 1 : first - last - step - 1;
    all = picked(all, axis, std::max<std::int64_t>(span / std::abs(step), 0),
                 [&](std::int64_t k) { return first + k * step; });
  }
  return all;
}
[[nodiscard]] inline array gather(array const& a, array const& indices, std::int64_t along) {
  auto const axis = axis_of(a, along);
  auto const all = integers(indices);
  auto result = picked(a, axis, static_cast<std::int64_t>(all.size()), [&](std::int64_t k) {
    auto const index = all[static_cast<std::size_t>(k)];
    return index < 0 ? index + a.shape[axis] : index;
  });
  auto const at = result.shape.begin() + static_cast<std::ptrdiff_t>(axis);
  result.shape.insert(result.shape.erase(at), indices.shape.begin(), indices.shape.end());
  return result;
}
[[nodiscard]] inline array concat(std::vector<array const*> const& in, std::int64_t along) {
  auto all = *in.at(0);
  auto const axis = axis_of(all, along);
  for (std::size_t i = 1; i < in.size(); ++i) {
    auto const& more = *in[i];
    auto const blocks = count_of({all.shape.begin(), all.shape.begin() + static_cast<std::ptrdiff_t>(axis)});
    auto same = more.shape;
    if (same.size() != all.rank()) fail("operands of Concat of other ranks");
    same[axis] = all.shape[axis];
    if (same != all.shape) fail("operands of Concat that do not fit");
    std::vector<double> data;
    auto const append = [&](array const& from, std::size_t block) {
      auto const each = static_cast<std::ptrdiff_t>(from.data.size() / blocks);  // (not called where there is none)
      auto const first = from.data.begin() + static_cast<std::ptrdiff_t>(block) * each;
      data.insert(data.end(), first, first + each);
    };
    for (std::size_t block = 0; block < blocks; ++block) append(all, block), append(more, block);
    all.shape[axis] += more.shape[axis];
    all.data = std::move(data);
  }
  return all;
}
/// The k largest along an axis and where they stand; of equal ones the first.
[[nodiscard]] inline std::vector<array> top_k(std::vector<array const*> const& in, parameters const& p) {
  auto const& x = *in.at(0);
  auto const axis = axis_of(x, static_cast<std::int64_t>(p.number({"axis"}, -1)));
  auto const k = integers(*in.at(1)).at(0);
  bool const largest = p.number({"largest"}, 1) != 0;
  auto values = part_of(x, axis, 0, k), indices = values;
  indices.integers = true;
  for (std::size_t at = 0; at < values.data.size(); ++at) {
    auto index = position(at, values.shape);
    auto const rank = index[axis];
    std::vector<std::pair<double, std::int64_t>> along;
    for (std::int64_t i = 0; i < x.shape[axis]; ++i) {
      index[axis] = i;
      auto const element = x.data[broadcast_offset(index, x.shape)];
      along.emplace_back(largest ? -element : element, i);
    }
    std::sort(along.begin(), along.end());
    auto const [element, from] = along[static_cast<std::size_t>(rank)];
    values.data[at] = largest ? -element : element;
    indices.data[at] = static_cast<double>(from);
  }
  return {values, indices};
}

/// The fused norms: result, mean, inverse deviation.
[[nodiscard]] inline std::vector<array> norm(std::vector<array const*> const& in, parameters const& p, bool centre) {
  auto const& x = *in.at(0);
  auto const first = static_cast<std::int64_t>(p.number({"axis", "from"}, -1));
  std::vector<std::int64_t> axes;
  for (auto axis = first < 0 ? first + static_cast<std::int64_t>(x.rank()) : first;
       axis < static_cast<std::int64_t>(x.rank()); ++axis)
    axes.push_back(axis);
  double const epsilon = static_cast<double>(static_cast<float>(p.number({"epsilon", "eps"}, 1e-5)));
  auto const average = mean(x, axes, true);
  auto const d = centre ? combine(x, average, [](double a, double b) { return a - b; }) : x;
  auto const inverse = map(mean(map(d, [](double a) { return a * a; }), axes, true),
                           [&](double v) { return 1 / std::sqrt(v + epsilon); });
  auto const times = [](double a, double b) { return a * b; };
  auto y = combine(d, inverse, times);
  if (in.size() > 1 && in[1] != nullptr) y = combine(y, *in[1], times);
  if (in.size() > 2 && in[2] != nullptr) y = combine(y, *in[2], [](double a, double b) { return a + b; });
  if (y.shape != x.shape) fail("scale or bias of a norm enlarge its result");
  return centre ? std::vector<array>{y, average, inverse} : std::vector<array>{y, inverse};
}

}  // namespace operators

/// What an operator computes of arrays, all its results; none where it is not known here. Fails where the operands do
/// not fit.
[[nodiscard]] inline std::vector<array> results_of(std::string_view name, std::vector<array const*> const& in,
                                                   parameters const& p) {
  using namespace operators;
  auto const op = op_named(name);
  if (auto const f = unary_of(op); f != nullptr) return {map(*in.at(0), f)};
  if (auto const f = binary_of(op, in.size() > 1 && in[0] != nullptr && in[0]->integers); f != nullptr) {
    auto all = *in.at(0);
    for (std::size_t i = 1; i < in.size(); ++i) all = combine(all, *in[i], f);
    return {all};
  }
  switch (op) {
    case opcode::layer_norm: return norm(in, p, true);
    case opcode::rms_norm: return norm(in, p, false);
    case opcode::cast: return {cast(*in.at(0), target_of(p))};
    case opcode::constant: return {constant(p)};
    case opcode::mean:
      if (name == "GlobalAveragePool") {
        std::vector<std::int64_t> axes;
        for (std::size_t i = 2; i < in.at(0)->rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
        return {mean(*in[0], axes, true)};
      }
      return {reduce(in, p, [](array const& a, auto const& axes, bool keep) { return mean(a, axes, keep); })};
    case opcode::sum:
      return {reduce(in, p, [](array const& a, auto const& axes, bool keep) { return sum(a, axes, keep); })};
    case opcode::sum_square:
      return {reduce(in, p, [](array const& a, auto const& axes, bool keep) {
        return sum(map(a, [](double x) { return x * x; }), axes, keep);
      })};
    case opcode::reduce_max:
      return {reduce(in, p, [](array const& a, auto const& axes, bool keep) {
        return fold(a, axes, keep, -HUGE_VAL, [](double x, double y) { return x < y || std::isnan(y) ? y : x; });
      })};
    case opcode::unsqueeze: return {unsqueeze(*in.at(0), axes_of(in, p).value())};
    case opcode::squeeze: return {squeeze(*in.at(0), axes_of(in, p).value())};
    case opcode::shape: return {row(in.at(0)->shape)};
    case opcode::size: return {{{}, {static_cast<double>(count_of(in.at(0)->shape))}, true}};
    case opcode::range: return {range(*in.at(0), *in.at(1), *in.at(2))};
    case opcode::reshape: {
      auto const listed = p.list({"extents"});
      return {reshape(*in.at(0), listed ? *listed : integers(*in.at(1)))};
    }
    case opcode::flatten: return {flatten(*in.at(0), static_cast<std::int64_t>(p.number({"axis"}, 1)))};
    case opcode::transpose: return {transpose(*in.at(0), p.list({"perm", "order"}))};
    case opcode::expand: {
      auto result = combine(*in.at(0), {integers(*in.at(1)), std::vector<double>(count_of(integers(*in.at(1)))), false},
                            [](double a, double) { return a; });
      result.integers = in[0]->integers;
      return {result};
    }
    case opcode::tile: return {tile(*in.at(0), integers(*in.at(1)))};
    case opcode::dropout: return {*in.at(0), map(*in[0], [](double) { return 1.; })};  // while nobody trains
    case opcode::matmul: return {matmul(*in.at(0), *in.at(1))};
    case opcode::gemm: return {gemm(in, p)};
    case opcode::conv: return {conv(in, p)};
    case opcode::where: return {where(*in.at(0), *in.at(1), *in.at(2))};
    case opcode::clip: return {clip(in, p)};
    case opcode::split: return split(in, p);
    case opcode::slice: return {slice(in, p)};
    case opcode::gather: return {gather(*in.at(0), *in.at(1), static_cast<std::int64_t>(p.number({"axis"}, 0)))};
    case opcode::concat: return {concat(in, static_cast<std::int64_t>(p.number({"axis"}, 0)))};
    case opcode::top_k: return top_k(in, p);
    case opcode::softmax: {
      auto const* const first = p.find({"from"});  // the first of the last axes
      std::vector<std::int64_t> axes;
      if (first == nullptr) {
        axes.push_back(static_cast<std::int64_t>(p.number({"axis"}, -1)));
      } else {
        for (auto axis = axis_of(*in.at(0), static_cast<std::int64_t>(p.number({"from"}, -1))); axis < in[0]->rank();
             ++axis)
          axes.push_back(static_cast<std::int64_t>(axis));
      }
      return {softmax(*in.at(0), axes)};
    }
    default: return {};
  }
}

}  // namespace corpus
