// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/match/named_extents.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/operator_writer.hpp>

namespace fuse::inline v0::detail {

/// Writes what a right side rearranges: a Reshape where that is all it takes, else a Transpose between two, where they
/// are needed, and an Expand for what is repeated; a part as a Slice. Shapes are written as they are known: one extent
/// may be left to the others, and one that stays where it was need not be known.
template <class Image>
class basic_rearranged_operand {
 public:
  basic_rearranged_operand(facts const& known, basic_operator_writer<Image>& writer, basic_transaction<Image>& into)
      : facts_(known), writer_(writer), into_(into) {}

  /// `v` rearranged by `what`; `names` are what the match tells of its names.
  built<value_id> make(rearrangement const& what, named_extents names, value_id v) {
    if (!facts_.has_rank(v)) return objection{"a value whose rank is not known cannot be rearranged"};
    auto const from = shape(v);
    if (!names.learn(what.left, from) || !names.learn(what.left, from))
      return objection{"a value has another shape than " + text_of(what) + " takes"};
    for (std::uint8_t name = 0; name < what.name_count; ++name)
      if (!names.knows(name))
        return objection{"nothing tells the extent '" + std::string(what.names[name]) + "' of " + text_of(what)};
    if (names.lacks_shape()) return objection{"nothing tells the shape on the right of " + text_of(what)};
    named_extents::way along;
    if (!names.find(from, along)) return objection{"the extents of " + text_of(what) + " are too large"};
    if (!along.picks.empty()) return part(along, v);
    layout as_told, in_order;
    if (!names.lay(from, facts_.symbols(), as_told)) return not_known(as_told.unproven());
    if (in_order.row_major(from) && in_order.reshape(along.shape) && in_order == as_told)
      return reshaped(v, along.shape);
    auto const repeats = static_cast<std::int64_t>(along.repeats.size());
    std::vector<std::int64_t> order;
    for (auto each : along.order)
      if (each >= repeats) order.push_back(each - repeats);
    // What is repeated is an axis of one element where it stands.
    plain_vector<polynomial> with_ones;
    for (auto each : along.order)
      with_ones.push_back(each < repeats ? polynomial(1) : along.split[static_cast<std::size_t>(each - repeats)]);
    built<value_id> made = v;
    if (!in_order_already(order)) {
      made = reshaped(v, along.split);
      if (made) made = transposed(*made, order);
    }
    if (repeats != 0) {
      if (made) made = reshaped(*made, with_ones);
      if (made) made = repeated(along, *made);
    }
    return made ? reshaped(*made, along.shape) : made;
  }

 private:
  [[nodiscard]] plain_vector<polynomial> shape(value_id v) const {
    plain_vector<polynomial> made;
    for (auto e : facts_.shape(v)) made.push_back(facts_.symbols().polynomial_of(e));
    return made;
  }
  [[nodiscard]] objection not_known(polynomial const& e) const {
    return objection{"a shape needs an extent that is known, and one is " + facts_.symbols().text(e)};
  }

  built<value_id> reshaped(value_id v, span<polynomial const> to) {
    auto const from = shape(v);
    bool same = from.size() == to.size();
    for (std::size_t i = 0; same && i < to.size(); ++i) same = from[i] == to[i];
    if (same) return v;
    std::vector<std::int64_t> target;
    bool open = false;
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::int64_t number = 0;
      bool const known = to[i].known(number);
      if (known && number > 0) {
        target.push_back(number);
      } else if (i < from.size() && from[i] == to[i]) {
        target.push_back(0);
      } else {
        if (open || known) return not_known(to[i]);
        open = true;
        target.push_back(-1);
      }
    }
    written_parameter list{"shape"};
    list.give(std::move(target));
    return writer_.neutral(opcode::reshape, span<value_id const>(&v, 1), {&list, 1}, 1);
  }

  [[nodiscard]] static bool in_order_already(span<std::int64_t const> order) {
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i] != static_cast<std::int64_t>(i)) return false;
    return true;
  }
  built<value_id> transposed(value_id v, span<std::int64_t const> order) {
    written_parameter list{"perm"};
    list.give({order.begin(), order.end()});
    return writer_.neutral(opcode::transpose, span<value_id const>(&v, 1), {&list, 1}, 1);
  }

  // An Expand leaves an axis as it is where it says 1.
  built<value_id> repeated(named_extents::way const& along, value_id v) {
    dense extents;
    for (auto each : along.order) {
      std::int64_t number = 1;
      if (each < static_cast<std::int64_t>(along.repeats.size()))
        if (auto const& e = along.repeats[static_cast<std::size_t>(each)]; !e.known(number)) return not_known(e);
      extents.elements.push_back(static_cast<double>(number));
    }
    extents.shape = {static_cast<std::int64_t>(extents.elements.size())};
    auto list = make_constant(element_type::int64, extents);
    if (!list) return list.why();
    value_id const operands[] = {v, into_.constant_of(list.take())};
    return writer_.neutral(opcode::expand, operands, {}, 1);
  }

  built<value_id> part(named_extents::way const& along, value_id v) {
    auto const& pick = along.picks[0];
    bool const apart = pick.axis + 1 == along.split.size();
    std::int64_t each = 0;
    if (!apart && !along.split.back().known(each)) return not_known(along.split.back());
    std::int64_t const lists[4][1] = {
        {apart ? pick.index : pick.index * each},
        {apart || pick.index + 1 == pick.count ? std::numeric_limits<std::int64_t>::max() : (pick.index + 1) * each},
        {static_cast<std::int64_t>(facts_.shape(v).size()) - 1},
        {apart ? pick.count : 1}};
    written_parameter parameters[] = {{"starts"}, {"ends"}, {"axes"}, {"steps"}};
    std::size_t at = 0;
    for (auto& p : parameters) p.give({lists[at][0]}), ++at;
    // Before there were steps, none could be written.
    return writer_.neutral(opcode::slice, span<value_id const>(&v, 1), {parameters, apart ? 4u : 3u}, 1);
  }

  facts const& facts_;
  basic_operator_writer<Image>& writer_;
  basic_transaction<Image>& into_;
};

}  // namespace fuse::inline v0::detail
