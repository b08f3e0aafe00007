// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/polynomial.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/matched_requirements.hpp>
#include <fuse/rewrite/operator_writer.hpp>
#include <fuse/rewrite/reshaping.hpp>
#include <fuse/rewrite/written_integers.hpp>

namespace fuse::inline v0::detail {

/// Gives values another shape, with their elements in their order: by a Reshape that leaves at most one extent to the
/// others; where that cannot be written, or might fail of a 0 where nothing matched does, by a Squeeze, an Unsqueeze or
/// a Flatten, or by a Reshape to a list that is put together when the graph runs.
template <class Image>
class basic_reshaped_operand {
 public:
  basic_reshaped_operand(facts const& known, basic_operator_writer<Image>& writer,
                         basic_matched_requirements<Image>& required, basic_transaction<Image>& into)
      : facts_(known), writer_(writer), required_(required), integers_(writer, into) {}

  /// Whether one operator makes one shape of another, or none, and fails of nothing that neither what is matched nor
  /// what makes it fails of. `of_match`: whether that may be otherwise for another match.
  [[nodiscard]] bool takes_one(span<polynomial const> from, span<polynomial const> to, bool& of_match) {
    if (equal(from, to)) return true;
    find(from, to, of_match);
    return by_.by != opcode::opaque && !by_.may_fail;
  }

  /// `v` in the shape `to`.
  built<value_id> make(value_id v, span<polynomial const> to) {
    auto const from = facts_.polynomials(v);
    if (equal(from, to)) return v;
    bool of_match = false;
    find(from, to, of_match);
    if ((by_.by == opcode::opaque || by_.may_fail) && is_told_as_it_runs(from, to)) return as_it_runs(v, from, to);
    return by_.by != opcode::opaque ? written(by_.by, v, by_.list) : not_known(*by_.unknown);
  }
  /// `v` reshaped to `list`, in which a 0 is an extent that stays and -1 one that is left to the others.
  built<value_id> make(value_id v, std::vector<std::int64_t> list) {
    bool takes = false, leaves = false;
    for (auto const e : list) takes = takes || e == 0, leaves = leaves || e == -1;
    if (plain_vector<polynomial> to;
        takes && leaves && facts_.has_rank(v) && shape_by_list(facts_.polynomials(v), list, to))
      return make(v, to);
    return written(opcode::reshape, v, std::move(list));
  }

  /// Why a shape is not written.
  [[nodiscard]] objection not_known(polynomial const& e) const {
    return objection{"a shape needs an extent that is known, and one is " + facts_.symbols().text(e)};
  }

 private:
  void find(span<polynomial const> from, span<polynomial const> to, bool& of_match) {
    auto const is_positive = [&](polynomial const& e) { return of_match = true, required_.imply_positive(e); };
    find_reshaping(
        from, to, is_positive, [this](opcode op) { return writer_.has_operator(op); }, by_);
  }
  built<value_id> written(opcode op, value_id v, std::vector<std::int64_t> numbers) {
    written_parameter list{op == opcode::reshape ? "shape" : op == opcode::flatten ? "axis" : "axes"};
    list.give(std::move(numbers));
    return writer_.neutral(op, span<value_id const>(&v, 1), {&list, 1}, 1);
  }

  // Where extents are those of the value, several of them, or parts of them, its shape tells them when the graph runs.
  // A Reshape has to take a 0 for what it is then, as it may with `allowzero`.
  [[nodiscard]] bool is_told_as_it_runs(span<polynomial const> from, span<polynomial const> to) {
    bool const literal = takes_zeros();
    for (std::size_t i = 0; i < to.size(); ++i)
      if (!is_number(to[i]) && !stays(from, to, i) &&
          !(found_in(from, to[i]) && (literal || required_.imply_positive(to[i]))))
        return false;
    return integers_.may_tell_extents();
  }
  built<value_id> as_it_runs(value_id v, span<polynomial const> from, span<polynomial const> to) {
    bool const literal = takes_zeros();
    auto const shape = integers_.shape_of(v);
    if (!shape) return shape;
    plain_vector<value_id> lists;
    for (std::size_t i = 0; i < to.size(); ++i) {
      auto const made = is_number(to[i])                 ? integers_.constant(to[i].terms[0].factor)
                        : stays(from, to, i) && !literal ? integers_.constant(0)
                                                         : extent(*shape, found_in(from, to[i]));
      if (!made) return made;
      lists.push_back(*made);
    }
    auto const list = integers_.joined(lists);
    if (!list) return list;
    written_parameter parameters[] = {{"shape"}, {"allowzero", 1, true}};
    parameters[0].value = *list;
    return writer_.neutral(opcode::reshape, span<value_id const>(&v, 1), {parameters, literal ? 2u : 1u}, 1);
  }
  [[nodiscard]] bool takes_zeros() const { return writer_.has_attribute(opcode::reshape, "allowzero"); }
  [[nodiscard]] static bool is_number(polynomial const& e) {
    std::int64_t number = 0;
    return e.known(number) && number > 0;
  }
  [[nodiscard]] static bool stays(span<polynomial const> from, span<polynomial const> to, std::size_t axis) {
    return axis < from.size() && from[axis] == to[axis];
  }

  // An extent as so many times one of an axis, or (`parts`) that by so many.
  struct found_extent {
    std::size_t axis = 0;
    std::int64_t times = 0;  ///< 0: there is no such axis
    bool parts = false;

    explicit operator bool() const { return times != 0; }
  };
  [[nodiscard]] static found_extent found_in(span<polynomial const> from, polynomial const& wanted) {
    polynomial times;
    found_extent made;
    for (made.axis = 0; made.axis < from.size(); ++made.axis)
      for (bool const parts : {false, true}) {
        auto const &whole = parts ? from[made.axis] : wanted, &part = parts ? wanted : from[made.axis];
        made.parts = parts;
        if (polynomial::divide(whole, part, times) && times.known(made.times) && made.times != 0) return made;
      }
    return {};
  }
  built<value_id> extent(value_id shape, found_extent const& by) {
    auto const one = integers_.extent(shape, by.axis);
    if (!one || by.times == 1) return one;
    auto const times = integers_.constant(by.times);
    if (!times) return times;
    value_id const both[] = {*one, *times};
    return writer_.neutral(by.parts ? opcode::div : opcode::mul, both, {}, 1);
  }

  facts const& facts_;
  basic_operator_writer<Image>& writer_;
  basic_matched_requirements<Image>& required_;
  basic_written_integers<Image> integers_;
  reshaping by_;
};

}  // namespace fuse::inline v0::detail
