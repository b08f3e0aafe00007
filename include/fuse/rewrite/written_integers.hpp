// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/eval/dense.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/constant_contents.hpp>
#include <fuse/rewrite/operator_writer.hpp>

namespace fuse::inline v0::detail {

/// Writes lists of integers, each in one axis: constants, and what tells extents when the graph runs.
template <class Image>
class basic_written_integers {
 public:
  basic_written_integers(basic_operator_writer<Image>& writer, basic_transaction<Image>& into)
      : writer_(writer), into_(into) {}

  built<value_id> constant(std::vector<double> numbers) {
    dense list;
    list.shape = {static_cast<std::int64_t>(numbers.size())};
    list.elements = std::move(numbers);
    auto made = make_constant(element_type::int64, list);
    if (!made) return made.why();
    return into_.constant_of(made.take());
  }
  built<value_id> constant(std::int64_t number) { return constant(std::vector<double>{static_cast<double>(number)}); }

  /// Whether the target has what extents are told by.
  [[nodiscard]] bool may_tell_extents() const {
    return writer_.has_operator(opcode::shape) && writer_.has_operator(opcode::gather);
  }
  /// All extents of `v`.
  built<value_id> shape_of(value_id v) { return writer_.neutral(opcode::shape, span<value_id const>(&v, 1), {}, 1); }
  /// One of a shape.
  built<value_id> extent(value_id shape, std::size_t axis) {
    auto const index = constant(static_cast<std::int64_t>(axis));
    if (!index) return index;
    value_id const operands[] = {shape, *index};
    return along_first(opcode::gather, operands);
  }
  /// One list behind the other.
  built<value_id> joined(span<value_id const> lists) {
    if (lists.size() == 1) return lists[0];
    return along_first(opcode::concat, lists);
  }

 private:
  built<value_id> along_first(opcode op, span<value_id const> operands) {
    written_parameter along{"axis", 0, true};
    return writer_.neutral(op, operands, {&along, 1}, 1);
  }

  basic_operator_writer<Image>& writer_;
  basic_transaction<Image>& into_;
};

}  // namespace fuse::inline v0::detail
