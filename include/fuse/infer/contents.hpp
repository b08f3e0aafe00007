// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <fuse/infer/rule_context.hpp>
#include <fuse/infer/rules_layout.hpp>
#include <fuse/infer/scalar_arithmetic.hpp>

namespace fuse::inline v0::detail {

/// Where element `flat` of a result is read in an operand that was broadcast to it.
[[nodiscard]] inline std::size_t broadcast_index(std::span<extent const> to, std::span<extent const> from,
                                                 std::size_t flat) {
  std::size_t index = 0, stride = 1;
  for (std::size_t i = to.size(); i > 0; --i) {
    auto const size = static_cast<std::size_t>(to[i - 1].value());
    auto const digit = size == 0 ? 0 : flat % size;
    flat = size == 0 ? 0 : flat / size;
    auto const back = to.size() - i;
    if (back >= from.size()) break;
    auto const own = static_cast<std::size_t>(from[from.size() - 1 - back].value());
    if (own != 1) index += digit * stride;
    stride *= own;
  }
  return index;
}

/// An operand's small contents, read at the place that a result's element comes from.
struct operand_contents {
  std::span<extent const> shape, integers;
  std::span<double const> numbers;
  bool floating = false;

  [[nodiscard]] bool read(rule_context& at, std::uint32_t i) {
    auto const v = at.operand(i);
    if (v == absent || !at.facts.has_rank(v)) return false;
    shape = at.facts.shape(v);
    integers = at.facts.symbolic_integers(v);
    numbers = at.facts.numbers(v);
    floating = at.facts.has_numbers(v);
    std::size_t count = 0;
    return (floating || at.facts.has_integers(v)) && small_count(shape, fact_table::most_contents, count) &&
           count == size();
  }
  [[nodiscard]] std::size_t size() const { return floating ? numbers.size() : integers.size(); }
  // A malformed graph may broadcast nothing to something.
  [[nodiscard]] bool covers(std::size_t count) const { return count == 0 || size() != 0; }
  [[nodiscard]] std::size_t index(std::span<extent const> to, std::size_t flat) const {
    auto const at = size() == 1 ? 0 : broadcast_index(to, shape, flat);
    return at < size() ? at : 0;
  }
};

/// The shape of result 0 if its contents are small.
[[nodiscard]] inline bool small_result(rule_context& at, std::size_t& count) {
  return at.facts.has_rank(at.result()) && small_count(at.facts.shape(at.result()), fact_table::most_contents, count);
}

/// Stores integers that were collected in `extents`; an element that the type cannot hold is nobody's guess.
inline void store_integers(rule_context& at, value_id v) {
  auto const type = at.facts.type(v);
  if (!is_integer(type) && type != element_type::boolean) return;
  for (auto& e : at.extents)
    if (!fits(e, type)) e = at.symbols().fresh(no_bound);
  at.facts.set_integers(v, at.extents);
}
inline void store_numbers(rule_context& at, value_id v) {
  auto const type = at.facts.type(v);
  if (!is_floating(type)) return;
  for (auto& x : at.numbers) x = rounded(x, type);
  at.facts.set_numbers(v, at.numbers);
}

/// Elementwise operators, operands broadcast and taken two at a time.
inline void elementwise_contents(rule_context& at, opcode op) {
  std::size_t count = 0;
  operand_contents a, b;
  if (!small_result(at, count) || at.operand_count() == 0 || !a.read(at, 0) || !a.covers(count)) return;
  auto const shape = at.facts.shape(at.result());
  auto const type = at.facts.type(at.result());
  bool const binary = at.operand_count() > 1;
  if (!binary && info(op).most != 1) {
    if (info(op).least > 1) return;
    op = opcode::identity;  // a sum, a minimum of one
  }
  std::int64_t as_c = 0;
  if (op == opcode::mod && (!at.integer("fmod", 0, as_c) || as_c != 0)) return;  // another sign
  if (a.floating) {
    at.numbers.clear();
    at.extents.clear();
    for (std::size_t i = 0; i < count; ++i) at.numbers.push_back(a.numbers[a.index(shape, i)]);
  } else {
    at.extents.clear();
    for (std::size_t i = 0; i < count; ++i) at.extents.push_back(a.integers[a.index(shape, i)]);
  }
  for (std::uint32_t operand = 1; operand < at.operand_count() || !binary; ++operand) {
    // Pow takes a base and an exponent of different types.
    if (binary && (!b.read(at, operand) || !b.covers(count) || (b.floating != a.floating && op != opcode::pow) ||
                   (!a.floating && b.floating)))
      return;
    for (std::size_t i = 0; i < count; ++i) {
      auto const j = binary ? b.index(shape, i) : 0;
      if (!a.floating) {
        if (!compute(at.symbols(), op, at.extents[i], binary ? b.integers[j] : extent(0), at.extents[i])) return;
        continue;
      }
      double right = 0;
      if (binary) {
        if (!b.floating && !b.integers[j].known()) return;
        right = b.floating ? b.numbers[j] : static_cast<double>(b.integers[j].value());
      }
      bool truth = false;
      if (compare(op, at.numbers[i], right, truth))
        at.extents.push_back(truth);
      else if (!compute(op, at.numbers[i], right, at.numbers[i]))
        return;
      else
        at.numbers[i] = rounded(at.numbers[i], type);
    }
    if (!binary) break;
  }
  if (!a.floating || (at.extents.size() == count && count != 0))
    store_integers(at, at.result());
  else
    store_numbers(at, at.result());
}

inline void where_contents(rule_context& at) {
  std::size_t count = 0;
  operand_contents choice, yes, no;
  if (!small_result(at, count) || !choice.read(at, 0) || choice.floating || !choice.covers(count)) return;
  bool const has_yes = yes.read(at, 1) && yes.covers(count), has_no = no.read(at, 2) && no.covers(count);
  bool const floating = has_yes ? yes.floating : no.floating;
  if ((!has_yes && !has_no) || (has_yes && has_no && yes.floating != no.floating)) return;
  auto const shape = at.facts.shape(at.result());
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t i = 0; i < count; ++i) {
    auto const truth = choice.integers[choice.index(shape, i)];
    auto const& picked = truth.known() && truth.value() == 0 ? no : yes;
    bool const has = &picked == &no ? has_no : has_yes;
    bool const decided = truth.known() && has;
    if (floating) {
      if (!decided) return;
      at.numbers.push_back(picked.numbers[picked.index(shape, i)]);
    } else if (decided) {
      at.extents.push_back(picked.integers[picked.index(shape, i)]);
    } else if (has_yes && has_no && !truth.known()) {
      auto const a = yes.integers[yes.index(shape, i)], b = no.integers[no.index(shape, i)];
      auto const bound = at.symbols().least(a) < at.symbols().least(b) ? at.symbols().least(a) : at.symbols().least(b);
      at.extents.push_back(a == b ? a : at.symbols().fresh(bound));
    } else {
      at.extents.push_back(at.symbols().fresh(no_bound));
    }
  }
  if (floating)
    store_numbers(at, at.result());
  else
    store_integers(at, at.result());
}

inline void cast_contents(rule_context& at) {
  std::size_t count = 0;
  operand_contents from;
  if (!small_result(at, count) || !from.read(at, 0) || from.size() != count) return;
  auto const to = at.facts.type(at.result());
  at.extents.clear();
  at.numbers.clear();
  if (is_floating(to)) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!from.floating && !from.integers[i].known()) return;
      at.numbers.push_back(from.floating ? from.numbers[i] : static_cast<double>(from.integers[i].value()));
    }
    return store_numbers(at, at.result());
  }
  if (!is_integer(to) && to != element_type::boolean) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (from.floating) {
      double const x = from.numbers[i];
      if (to == element_type::boolean)
        at.extents.push_back(x != 0);
      else if (x > -9e18 && x < 9e18)
        at.extents.push_back(static_cast<std::int64_t>(x));
      else
        at.extents.push_back(at.symbols().fresh(no_bound));
    } else if (to == element_type::boolean && at.type(0) != element_type::boolean) {
      auto const e = from.integers[i];
      at.extents.push_back(at.symbols().least(e) > 0 ? extent(1)
                           : e.known()               ? extent(e.value() != 0)
                                                     : unknown_truth(at.symbols()));
    } else {
      at.extents.push_back(from.integers[i]);
    }
  }
  store_integers(at, at.result());
}

/// Copies blocks of elements: result[outer][i][inner] = contents[outer][pick(i)][inner], for one axis of the contents.
template <class Pick>
void pick_contents(rule_context& at, operand_contents const& from, std::size_t axis, std::size_t picked, value_id to,
                   Pick&& pick) {
  std::size_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < from.shape.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= static_cast<std::size_t>(from.shape[i].value());
  auto const whole = static_cast<std::size_t>(from.shape[axis].value());
  if (outer > fact_table::most_contents || inner > fact_table::most_contents ||
      outer * inner * picked > fact_table::most_contents)
    return;
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < picked; ++i) {
      std::size_t const source = pick(i);  // `whole`: unknown
      for (std::size_t k = 0; k < inner; ++k) {
        auto const flat = (o * whole + source) * inner + k;
        if (from.floating) {
          if (source >= whole) return;
          at.numbers.push_back(from.numbers[flat]);
        } else {
          at.extents.push_back(source < whole ? from.integers[flat] : at.symbols().fresh(no_bound));
        }
      }
    }
  if (from.floating)
    store_numbers(at, to);
  else
    store_integers(at, to);
}

inline void gather_contents(rule_context& at) {
  operand_contents data, indices;
  std::size_t axis = 0;
  if (!data.read(at, 0) || !indices.read(at, 1) || indices.floating || !at.axis("axis", 0, at.rank(0), axis)) return;
  auto const whole = data.shape[axis].value();
  pick_contents(at, data, axis, indices.size(), at.result(), [&](std::size_t i) {
    auto const e = indices.integers[i];
    auto const index = e.value() < 0 ? e.value() + whole : e.value();
    return static_cast<std::size_t>(!e.known() || index < 0 || index >= whole ? whole : index);
  });
}

/// Slices along one axis.
inline void slice_contents(rule_context& at) {
  operand_contents data;
  std::size_t count = 0;
  if (!data.read(at, 0) || !small_result(at, count)) return;
  if (read_slice(at, at.rank(0)) != slice_state::known || at.axes.size() != 1) return;
  auto const axis = static_cast<std::size_t>(at.axes[0]);
  auto const whole = data.shape[axis].value();
  auto const picked = at.facts.shape(at.result())[axis].value();
  auto const step = at.list[0];
  if (!at.extents[0].known() || step == 0 || step > 0x7fffffff || step < -0x7fffffff) return;
  auto start = at.extents[0].value() < 0 ? at.extents[0].value() + whole : at.extents[0].value();
  auto const last = step < 0 ? whole - 1 : whole;
  start = start < 0 ? 0 : start > last ? last : start;
  pick_contents(at, data, axis, static_cast<std::size_t>(picked), at.result(), [&](std::size_t i) {
    auto const index = start + static_cast<std::int64_t>(i) * step;
    return static_cast<std::size_t>(index < 0 || index >= whole ? whole : index);
  });
}

inline void split_contents(rule_context& at) {
  operand_contents data;
  std::size_t axis = 0;
  if (!data.read(at, 0) || !at.axis("axis", 0, at.rank(0), axis)) return;
  std::size_t start = 0;
  for (std::uint32_t i = 0; i < at.result_count(); ++i) {
    if (!at.facts.has_rank(at.result(i)) || !data.read(at, 0)) return;  // storing moves what was read
    auto const part = at.facts.shape(at.result(i))[axis];
    if (!part.known() || part.value() < 0 || part.value() > static_cast<std::int64_t>(fact_table::most_contents))
      return;
    auto const length = static_cast<std::size_t>(part.value());
    pick_contents(at, data, axis, length, at.result(i), [&](std::size_t k) {
      auto const whole = static_cast<std::size_t>(data.shape[axis].value());
      return start + k < whole ? start + k : whole;
    });
    start += length;
  }
}

inline void concat_contents(rule_context& at) {
  std::size_t count = 0, axis = 0;
  operand_contents part;
  if (!small_result(at, count) || !at.axis("axis", 1, at.facts.rank(at.result()), axis)) return;
  auto const shape = at.facts.shape(at.result());
  if (count == 0) return;  // any extents may stand beside the 0
  std::size_t outer = 1, pieces = 0;
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(shape[i].value());
  bool const floating = is_floating(at.facts.type(at.result()));
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t o = 0; o < outer; ++o)
    for (std::uint32_t i = 0; i < at.operand_count(); ++i) {
      if (!part.read(at, i)) {
        // A part nobody knows, in a list whose other parts matter.
        std::size_t unknown = 0;
        if (floating || !at.ranked(i) || !small_count(at.shape(i), fact_table::most_contents, unknown)) return;
        for (std::size_t k = 0; k < unknown / outer; ++k) at.extents.push_back(at.symbols().fresh(no_bound));
        continue;
      }
      if (part.floating != floating) return;
      ++pieces;
      auto const block = part.size() / outer;
      if (floating)
        at.numbers.insert(at.numbers.end(), part.numbers.begin() + static_cast<std::ptrdiff_t>(o * block),
                          part.numbers.begin() + static_cast<std::ptrdiff_t>((o + 1) * block));
      else
        at.extents.insert(at.extents.end(), part.integers.begin() + static_cast<std::ptrdiff_t>(o * block),
                          part.integers.begin() + static_cast<std::ptrdiff_t>((o + 1) * block));
      if (at.numbers.size() > count || at.extents.size() > count) return;
    }
  if ((floating ? at.numbers.size() : at.extents.size()) != count || pieces == 0) return;
  if (floating)
    store_numbers(at, at.result());
  else
    store_integers(at, at.result());
}

inline void expand_contents(rule_context& at) {
  std::size_t count = 0;
  operand_contents from;
  if (!small_result(at, count) || !from.read(at, 0) || !from.covers(count)) return;
  auto const shape = at.facts.shape(at.result());
  at.extents.clear();
  at.numbers.clear();
  for (std::size_t i = 0; i < count; ++i)
    if (from.floating)
      at.numbers.push_back(from.numbers[from.index(shape, i)]);
    else
      at.extents.push_back(from.integers[from.index(shape, i)]);
  if (from.floating)
    store_numbers(at, at.result());
  else
    store_integers(at, at.result());
}

inline void fill_contents(rule_context& at) {
  std::size_t count = 0;
  if (!small_result(at, count)) return;
  auto const value = at.image().source->attribute_of(at.n, "value");
  auto const* tensor = std::get_if<tensor_view>(&value);
  if (tensor != nullptr && tensor->size() != 1) return;
  if (tensor == nullptr && !std::holds_alternative<std::monostate>(value)) return;
  auto const type = at.facts.type(at.result());
  if (is_floating(type)) {
    at.numbers.assign(count, tensor == nullptr ? 0.0 : tensor->number(0));
    store_numbers(at, at.result());
  } else if (tensor != nullptr && type != element_type::uint64) {
    at.extents.assign(count, extent(tensor->integer(0)));
    store_integers(at, at.result());
  }
}

inline void range_contents(rule_context& at) {
  std::size_t count = 0;
  operand_contents from, step;
  if (!small_result(at, count) || !from.read(at, 0) || !step.read(at, 2) || from.size() != 1 || step.size() != 1)
    return;
  if (from.floating || step.floating) return;
  auto e = from.integers[0];
  auto const by = step.integers[0];
  at.extents.clear();
  for (std::size_t i = 0; i < count; ++i, e = at.symbols().add(e, by)) at.extents.push_back(e);
  store_integers(at, at.result());
}

/// A reduction of a list of integers to one.
inline void reduce_contents(rule_context& at, opcode op) {
  std::size_t count = 0;
  operand_contents from;
  if (!small_result(at, count) || count != 1 || !from.read(at, 0) || from.floating || from.size() == 0) return;
  auto const binary = op == opcode::sum          ? opcode::add
                      : op == opcode::product    ? opcode::mul
                      : op == opcode::reduce_max ? opcode::maximum
                                                 : opcode::minimum;
  auto all = from.integers[0];
  for (auto e : from.integers.subspan(1))
    if (!compute(at.symbols(), binary, all, e, all)) return;
  at.extents.assign(1, all);
  store_integers(at, at.result());
}

inline void shape_contents(rule_context& at) {
  std::int64_t start = 0;
  if (!at.ranked(0) || !at.facts.has_rank(at.result()) || !at.integer("start", 0, start)) return;
  auto const from = at.shape(0);
  auto const length = at.facts.shape(at.result())[0];
  auto const rank = static_cast<std::int64_t>(from.size());
  if (!length.known()) return;
  start = start < 0 ? start + rank : start;
  start = start < 0 ? 0 : start > rank ? rank : start;
  if (length.value() > rank - start) return;
  auto const listed = from.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(length.value()));
  at.extents.assign(listed.begin(), listed.end());
  at.facts.set_integers(at.result(), at.extents);
}

/// Follows small contents through the operators of shape arithmetic.
inline void propagate_contents(rule_context& at, opcode op) {
  if (at.result_count() == 0) return;
  switch (op) {
    case opcode::identity:
    case opcode::reshape:
    case opcode::flatten:
    case opcode::squeeze:
    case opcode::unsqueeze:
      if (at.operand(0) != absent && at.facts.type(at.result()) == at.type(0))
        at.facts.share_contents(at.result(), at.operand(0));
      return;
    case opcode::transpose:
      if (at.rank(0) == 0 || at.rank(0) == 1) at.facts.share_contents(at.result(), at.operand(0));
      return;
    case opcode::cast:
    case opcode::cast_like: return cast_contents(at);
    case opcode::where: return where_contents(at);
    case opcode::shape: return shape_contents(at);
    case opcode::size:
      if (!at.ranked(0)) return;
      at.extents.assign(1, at.product(at.shape(0)));
      return at.facts.set_integers(at.result(), at.extents);
    case opcode::gather: return gather_contents(at);
    case opcode::slice: return slice_contents(at);
    case opcode::split: return split_contents(at);
    case opcode::concat: return concat_contents(at);
    case opcode::expand: return expand_contents(at);
    case opcode::constant_of_shape: return fill_contents(at);
    case opcode::range: return range_contents(at);
    case opcode::sum:
    case opcode::product:
    case opcode::reduce_max:
    case opcode::reduce_min: return reduce_contents(at, op);
    default: {
      auto const kind = info(op).kind;
      auto const first = at.operand(0);
      if ((kind == op_kind::elementwise || kind == op_kind::broadcast) && first != absent &&
          (at.facts.has_integers(first) || at.facts.has_numbers(first)))
        elementwise_contents(at, op);
    }
  }
}

}  // namespace fuse::inline v0::detail
