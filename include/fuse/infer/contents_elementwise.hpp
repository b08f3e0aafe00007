// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/infer/operand_contents.hpp>
#include <fuse/infer/scalar_arithmetic.hpp>
#include <fuse/infer/shape_context.hpp>

namespace fuse::inline v0::detail {

/// One number, repeated however often.
template <class Context>
void repeat_contents(Context& at) {
  double number = 0;
  if (at.operand(0) != absent && at.facts.uniform(at.operand(0), number)) store_uniform(at, number);
}

/// Elementwise operators on what is one number everywhere, in results of any size.
template <class Context>
void uniform_elementwise(Context& at, opcode op) {
  double all = 0, next = 0;
  auto const type = at.facts.type(at.result());
  if (!is_floating(type) || at.operand_count() == 0) return;
  bool const binary = at.operand_count() > 1;
  if (!binary && info(op).most != 1) return;
  for (std::uint32_t i = 0; i < at.operand_count(); ++i) {
    if (at.operand(i) == absent || !at.facts.uniform(at.operand(i), i == 0 ? all : next)) return;
    if (i == 0 && binary) continue;
    if (!compute(op, all, next, all)) return;
    all = rounded(all, type);
  }
  store_uniform(at, all);
}

/// Elementwise operators, operands broadcast and taken two at a time.
template <class Context>
void elementwise_contents(Context& at, opcode op) {
  std::size_t count = 0;
  operand_contents a, b;
  if (!small_result(at, count)) return uniform_elementwise(at, op);
  if (at.operand_count() == 0 || !a.read(at, 0) || !a.covers(count)) return;
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

template <class Context>
void where_contents(Context& at) {
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

template <class Context>
void cast_contents(Context& at) {
  std::size_t count = 0;
  operand_contents from;
  if (!small_result(at, count)) return repeat_contents(at);
  if (!from.read(at, 0) || from.size() != count) return;
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

}  // namespace fuse::inline v0::detail
