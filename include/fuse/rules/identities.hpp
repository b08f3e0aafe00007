// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include <fuse/dsl/dsl.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/program/rule_set.hpp>

namespace fuse::inline v0::rules {
namespace formula {

inline constexpr auto kept = dsl::var<"x">;

/// What changes the shape alone.
[[nodiscard]] constexpr expression view_of(expression const& of) {
  return dsl::either(dsl::reshape(of), dsl::flatten(of), expression(opcode::squeeze, of),
                     expression(opcode::unsqueeze, of));
}

/// How many bits a number of the type has behind its sign; 0 of what is no number.
[[nodiscard]] constexpr int digits_of(element_type type) {
  switch (type) {
    case element_type::float64: return 53;
    case element_type::float32: return 24;
    case element_type::float16: return 11;
    case element_type::bfloat16: return 8;
    default: return is_integer(type) ? static_cast<int>(8 * size_of(type)) - (is_unsigned(type) ? 0 : 1) : 0;
  }
}

/// Whether `into` holds every number of `from`: a conversion to it and on is the conversion from one end to the other.
[[nodiscard]] constexpr bool holds_all(element_type from, element_type into) {
  if (from == element_type::boolean) return into == from || digits_of(into) != 0;
  if (is_floating(from)) return widens(from, into);
  if (digits_of(from) == 0 || digits_of(into) < digits_of(from)) return false;
  return is_floating(into) || is_unsigned(from) || !is_unsigned(into);
}
inline constexpr auto lossless =
    dsl::pred<"x", "between">([](auto of, auto between) { return holds_all(of.type(), between.type()); });

/// Whether turning axes by `first` and the result by `then` leaves each axis where it was.
inline constexpr auto turned_back = dsl::pred<"first", "then">([](auto first, auto then) {
  std::vector<std::int64_t> one, other;
  if (!first.integers(one) || !then.integers(other) || one.size() != other.size()) return false;
  for (std::size_t i = 0; i < other.size(); ++i) {
    auto const at = other[i];
    if (at < 0 || at >= static_cast<std::int64_t>(one.size())) return false;
    if (one[static_cast<std::size_t>(at)] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
});
inline constexpr auto not_turned = dsl::pred<"order">([](auto order) {
  std::vector<std::int64_t> axes;
  if (!order.integers(axes)) return false;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<std::int64_t>(i)) return false;
  return true;
});

inline constexpr auto one_more_axis = dsl::pred<"then">([](auto then) {
  std::vector<std::int64_t> added;
  return then.integers(added) && added.size() == 1;
});

/// Whether a Slice does not go backwards. (No Split does.)
inline constexpr auto goes_forwards = dsl::pred<"y">([](auto y) {
  std::vector<std::int64_t> steps;
  if (!y.parameter("steps", steps)) return y.operand(4).id() == absent;
  for (auto const step : steps)
    if (step < 0) return false;
  return true;
});
/// Whether a Pad adds nothing at either end of any axis, and takes nothing away.
inline constexpr auto adds_nothing = dsl::pred<"y">([](auto y) {
  std::vector<std::int64_t> pads;
  if (!y.parameter("pads", pads)) return false;
  for (auto const each : pads)
    if (each != 0) return false;
  return true;
});

/// Whether no Unsqueeze is below, with which what is between becomes one first.
inline constexpr auto no_axis_below =
    dsl::pred<"x">([](auto of) { return of.op() != opcode::unsqueeze || of.users() != 1; });
/// Where axes are once there is one more. They are counted from the last, which is -1: those in front of it, or at its
/// place, are one further in front.
inline constexpr auto beside_one_more =
    dsl::param<"first"> - 1 + dsl::minimum(dsl::maximum(dsl::param<"first"> - dsl::param<"then">, 0), 1);

/// Whether two Slices go along other axes; where the rank is not known, axes that are counted from both ends may be
/// one.
inline constexpr auto along_other_axes = dsl::pred<"first", "then">([](auto first, auto then) {
  std::vector<std::int64_t> one, other;
  if (!first.integers(one) || !then.integers(other)) return false;
  for (auto const axis : one)
    for (auto const another : other)
      if (axis == another || (axis < 0) != (another < 0)) return false;
  return true;
});

/// A Slice; one behind it, which alone reads it; both at once.
[[nodiscard]] constexpr expression cut(expression const& of) {
  return expression(opcode::slice, of)
      .attr<"starts">(dsl::param<"from">)
      .attr<"ends">(dsl::param<"to">)
      .attr<"axes">(dsl::param<"first">);
}
[[nodiscard]] constexpr expression cut_again(expression const& of) {
  return expression(opcode::slice, of.users(1))
      .attr<"starts">(dsl::param<"then_from">)
      .attr<"ends">(dsl::param<"then_to">)
      .attr<"axes">(dsl::param<"then">);
}
[[nodiscard]] constexpr expression cut_at_once(expression const& of) {
  return expression(opcode::slice, of)
      .attr<"starts">(dsl::list(dsl::param<"from">, dsl::param<"then_from">))
      .attr<"ends">(dsl::list(dsl::param<"to">, dsl::param<"then_to">))
      .attr<"axes">(dsl::list(dsl::param<"first">, dsl::param<"then">));
}
inline constexpr auto no_steps = dsl::pred<"one", "other">([](auto one, auto other) {
  std::vector<std::int64_t> steps;
  return !one.parameter("steps", steps) && !other.parameter("steps", steps);
});

/// That the shape which a Reshape states is known and says nothing of the operand's: no extent is copied.
inline constexpr auto copies_no_extent = dsl::pred<"y">([](auto y) {
  std::vector<std::int64_t> extents;
  if (!y.parameter("shape", extents)) return false;
  for (auto const extent : extents)
    if (extent == 0) return false;
  return true;
});

/// Whether `y` is an operator of any number of operands that has `x` alone.
inline constexpr auto is_only_operand =
    dsl::pred<"y", "x">([](auto y, auto of) { return y.operand(0).id() == of.id() && y.operand(1).id() == absent; });

/// Whether a Dropout drops nothing.
inline constexpr auto nobody_trains = dsl::pred<"training">([](auto training) {
  double number = 1;
  return training.uniform(number) && number == 0;
});

/// Whether an output of the graph may be `x` instead: not where that is an input, a constant or an output itself, which
/// have names of their own.
inline constexpr auto own_output =
    dsl::pred<"y", "x">([](auto y, auto of) { return !y.is_output() || (of.has_producer() && !of.is_output()); });

inline constexpr auto used_by_one = dsl::pred<"x">([](auto of) { return of.users() == 1; });
inline constexpr auto no_output = dsl::pred<"y">([](auto y) { return !y.is_output(); });

}  // namespace formula

inline constexpr auto identity = rule<"identity">(expression(opcode::identity, formula::kept).as<"y">())
                                     .where<"no output is another's">(formula::own_output.quiet())
                                     .summary("an Identity is its operand")
                                     .replace(formula::kept)
                                     .at_equal_cost()
                                     .stage(6)
                                     .quiet();

/// (Of its mask, which nobody may use, nothing is left.)
inline constexpr auto dropout_at_inference =
    rule<"dropout-at-inference">(expression(opcode::dropout, formula::kept, dsl::optional(dsl::var<"ratio">),
                                            dsl::optional(dsl::var<"training">)))
        .where<"nobody trains">(formula::nobody_trains)
        .summary("a Dropout that drops nothing is its operand")
        .replace(formula::kept)
        .stage(6);

inline constexpr auto cast_to_the_same_type = rule<"cast-to-the-same-type">(dsl::cast(formula::kept).as<"y">())
                                                  .where(dsl::same_type<"y", "x">.quiet())
                                                  .summary("a conversion to the type that is there is its operand")
                                                  .replace(formula::kept)
                                                  .stage(6)
                                                  .quiet();

/// Conversions one after the other are the last one, where those before it lose nothing.
inline constexpr auto cast_of_cast =
    rule<"cast-of-cast">(dsl::cast(dsl::cast(formula::kept).as<"between">()).as<"last">())
        .where<"the type between holds every number">(formula::lossless)
        .summary("a conversion behind one that loses nothing converts what was there before")
        .replace(dsl::again<"last">(formula::kept))
        .stage(6);

inline constexpr auto only_operand =
    rule<"only-operand">(
        dsl::either(expression(opcode::concat, formula::kept), expression(opcode::mean_of, formula::kept),
                    expression(opcode::maximum, formula::kept), expression(opcode::minimum, formula::kept),
                    expression(opcode::sum_of, formula::kept))
            .as<"y">())
        .where<"the operator has one operand">(formula::is_only_operand.quiet())
        .summary("Concat, Sum, Mean, Max and Min of one operand are that operand")
        .replace(formula::kept)
        .stage(6)
        .quiet();

inline constexpr auto shape_that_stays =
    rule<"shape-that-stays">(dsl::either(formula::view_of(formula::kept),
                                         expression(opcode::expand, formula::kept, dsl::var<"to">),
                                         expression(opcode::tile, formula::kept, dsl::var<"to">))
                                 .as<"y">())
        .where(dsl::same_shape<"y", "x">.quiet())
        .summary("what changes a shape to the one that is there is its operand")
        .replace(formula::kept)
        .at_equal_cost()
        .stage(6)
        .quiet();

/// (As many elements as there are, in their order, are all of them.)
inline constexpr auto taken_whole =
    rule<"taken-whole">(
        dsl::either(expression(opcode::slice, formula::kept), expression(opcode::split, formula::kept)).as<"y">())
        .where(dsl::same_shape<"y", "x">.quiet())
        .where<"a Slice does not go backwards">(formula::goes_forwards.quiet())
        .summary("a Slice or a Split that takes everything is its operand")
        .replace(formula::kept)
        .at_equal_cost()
        .stage(6)
        .quiet();

inline constexpr auto padded_by_nothing = rule<"padded-by-nothing">(expression(opcode::pad, formula::kept).as<"y">())
                                              .where<"nothing is added">(formula::adds_nothing.quiet())
                                              .summary("a Pad that adds nothing is its operand")
                                              .replace(formula::kept)
                                              .at_equal_cost()
                                              .stage(6)
                                              .quiet();

inline constexpr auto shape_and_back =
    rule<"shape-and-back">(formula::view_of(formula::view_of(formula::kept)).as<"y">())
        .where(dsl::same_shape<"y", "x">.quiet())
        .summary("two changes of a shape that lead back to it are their operand")
        .replace(formula::kept)
        .at_equal_cost()
        .stage(6)
        .quiet();

inline constexpr auto reshape_of_view =
    rule<"reshape-of-view">(dsl::reshape(formula::view_of(formula::kept)).as<"y">())
        .where<"no extent is copied">(formula::copies_no_extent)
        .summary("a Reshape of what changes the shape alone reshapes what was there before")
        .replace(dsl::again<"y">(formula::kept))
        .at_equal_cost()
        .stage(6)
        .quiet();

/// (When nothing else is left between them, so that the first comes first.)
inline constexpr auto unsqueeze_of_unsqueeze =
    rule<"unsqueeze-of-unsqueeze">(
        expression(opcode::unsqueeze,
                   expression(opcode::unsqueeze, formula::kept).attr<"axes">(dsl::param<"first">).users(1))
            .attr<"axes">(dsl::param<"then">))
        .where<"one axis is added">(formula::one_more_axis)
        .where<"the first of several comes first">(formula::no_axis_below.quiet())
        .summary("an Unsqueeze by one axis of an Unsqueeze is one Unsqueeze")
        .replace(expression(opcode::unsqueeze, formula::kept)
                     .attr<"axes">(dsl::list(formula::beside_one_more, dsl::param<"then">)))
        .at_equal_cost()
        .stage(7)
        .quiet();

/// (Along other axes, each takes what it would take without the other one.)
inline constexpr auto slice_of_slice =
    rule<"slice-of-slice">(formula::cut_again(formula::cut(formula::kept).attr<"steps">(dsl::param<"by">))
                               .attr<"steps">(dsl::param<"then_by">))
        .where<"they go along other axes">(formula::along_other_axes)
        .summary("a Slice of a Slice along other axes is one Slice")
        .replace(formula::cut_at_once(formula::kept).attr<"steps">(dsl::list(dsl::param<"by">, dsl::param<"then_by">)))
        .stage(7)
        .quiet();
inline constexpr auto slice_of_slice_by_ones =
    rule<"slice-of-slice-by-ones">(formula::cut_again(formula::cut(formula::kept).as<"one">()).as<"other">())
        .where<"no steps are stated">(formula::no_steps.quiet())
        .where<"they go along other axes">(formula::along_other_axes)
        .summary("a Slice of a Slice along other axes, neither of which states steps, is one Slice")
        .replace(formula::cut_at_once(formula::kept))
        .stage(7)
        .quiet();

inline constexpr auto transpose_and_back =
    rule<"transpose-and-back">(
        expression(opcode::transpose, expression(opcode::transpose, formula::kept).attr<"perm">(dsl::param<"first">))
            .attr<"perm">(dsl::param<"then">))
        .where<"each axis is where it was">(formula::turned_back)
        .summary("a Transpose that undoes another one is its operand")
        .replace(formula::kept)
        .stage(6)
        .quiet();

/// (Axis i of the result is axis then[i] of what is between, which is axis first[then[i]] of x.)
inline constexpr auto transpose_of_transpose =
    rule<"transpose-of-transpose">(
        expression(opcode::transpose,
                   expression(opcode::transpose, formula::kept).attr<"perm">(dsl::param<"first">).users(1))
            .attr<"perm">(dsl::param<"then">))
        .summary("a Transpose of a Transpose is one Transpose")
        .replace(expression(opcode::transpose, formula::kept)
                     .attr<"perm">(expression(opcode::gather, dsl::param<"first">, dsl::param<"then">)))
        .stage(6)
        .quiet();

/// Of a constant that nothing else uses, which would be there twice.
inline constexpr auto transpose_of_constant =
    rule<"transpose-of-constant">(
        expression(opcode::transpose, formula::kept).attr<"perm">(dsl::param<"order">).as<"y">())
        .where(dsl::is_constant<"x">.quiet(), dsl::floating<"x">.quiet())
        .where<"nothing else uses the constant">(formula::used_by_one)
        .where<"the result is no output">(formula::no_output)
        .summary("a Transpose of a constant is a constant")
        .replace(dsl::fold(expression(opcode::transpose, formula::kept).attr<"perm">(dsl::param<"order">)).exact())
        .stage(6)
        .quiet();

inline constexpr auto transpose_of_nothing =
    rule<"transpose-of-nothing">(expression(opcode::transpose, formula::kept).attr<"perm">(dsl::param<"order">))
        .where(formula::not_turned.quiet())
        .summary("a Transpose that leaves each axis where it is is its operand")
        .replace(formula::kept)
        .stage(6)
        .quiet();

namespace formula {

/// An operator that moves elements, of what others have moved.
[[nodiscard]] constexpr expression moved_on(opcode op) {
  return expression(op, dsl::either(view_of(kept), expression(opcode::transpose, kept))).as<"y">();
}
/// The same elements where they are, from wherever below takes the fewest operators.
[[nodiscard]] constexpr rewrite_rule fewest_moves(rule_name name, opcode last) {
  return name(moved_on(last))
      .summary("a chain of operators that move elements is the fewest that move them like that")
      .replace(dsl::rearrange<"... -> ...">(dsl::var<"y">))
      .stage(7)
      .quiet();
}

}  // namespace formula

inline constexpr auto fewest_moves_to_transpose =
    formula::fewest_moves(rule<"fewest-moves-to-transpose">, opcode::transpose);
inline constexpr auto fewest_moves_to_reshape = formula::fewest_moves(rule<"fewest-moves-to-reshape">, opcode::reshape);
inline constexpr auto fewest_moves_to_flatten = formula::fewest_moves(rule<"fewest-moves-to-flatten">, opcode::flatten);
inline constexpr auto fewest_moves_to_squeeze = formula::fewest_moves(rule<"fewest-moves-to-squeeze">, opcode::squeeze);
inline constexpr auto fewest_moves_to_unsqueeze =
    formula::fewest_moves(rule<"fewest-moves-to-unsqueeze">, opcode::unsqueeze);

}  // namespace fuse::inline v0::rules
