// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fuse/eval/dense.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// Reads constants, and what elementwise operators and changes of shape make of constants, in double precision.
template <class Image>
class basic_constant_contents {
 public:
  basic_constant_contents(Image const& image, facts const& known) : image_(image), facts_(known) {}

  /// The floating contents of `v`; false where it has none that are constant. One number for a value whose elements
  /// are all alike, whatever its shape. Looks at most 8 operators deep and at 64 values in all: operands may be shared,
  /// over and over.
  bool read(value_id v, dense& into) const {
    if (double number = 0; facts_.uniform(v, number)) return into = dense::of(number), true;
    int left = 64;
    return read(v, into, 0, left);
  }

 private:
  bool read(value_id v, dense& into, int depth, int& left) const {
    if (left-- == 0) return false;
    if (image_.value(v).constant) {
      auto const t = image_.source->constant(v);
      if (!t || t.size() != count_of(t.shape) || !is_floating(t.type)) return false;
      into = dense::of(t);
      return true;
    }
    if (double number = 0; facts_.number(v, number)) return into = dense::of(number), true;
    auto const n = image_.producer(v);
    if (n == absent || depth == 8 || !is_floating(facts_.type(v))) return false;
    auto const op = op_of(image_, n);
    bool const moves = op == opcode::identity || op == opcode::flatten || op == opcode::reshape ||
                       op == opcode::squeeze || op == opcode::unsqueeze || op == opcode::expand;
    auto const count = moves || op == opcode::cast ? 1 : image_.operand_count(n);
    if (image_.operand_count(n) == 0 || count > 8) return false;
    std::vector<dense> operands(count);
    for (std::uint32_t i = 0; i < count; ++i)
      if (image_.operand(n, i) == absent || !read(image_.operand(n, i), operands[i], depth + 1, left)) return false;
    if (moves) return reshape(v, op, operands[0], into);
    if (op == opcode::cast) {
      into = dense::of(make_tensor(facts_.type(v), operands[0].shape, operands[0].elements));
      return true;
    }
    if (op != opcode::sum_of) return evaluate(op, operands, into);
    into = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i) {
      dense const both[2] = {into, operands[i]};
      if (!evaluate(opcode::add, both, into)) return false;
    }
    return true;
  }

  // To the shape of `v`, which `op` computes.
  bool reshape(value_id v, opcode op, dense const& from, dense& into) const {
    std::vector<std::int64_t> shape;
    if (!facts_.has_rank(v)) return false;
    for (auto e : facts_.shape(v)) {
      if (!e.known()) return false;
      shape.push_back(e.value());
    }
    if (op == opcode::expand) return broadcast_to(from, shape, into);
    if (count_of(shape) != from.elements.size()) return false;
    into = {std::move(shape), from.elements};
    return true;
  }

  Image const& image_;
  facts const& facts_;
};

}  // namespace fuse::inline v0::detail
