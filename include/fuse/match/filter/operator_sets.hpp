// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <fuse/core/math.hpp>
#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout_of.hpp>
#include <fuse/infer/unchanged.hpp>
#include <fuse/match/filter/operator_meanings.hpp>
#include <fuse/ops/algebra.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

/// The bits of reductions.
inline constexpr std::uint64_t reduction_bits = [] {
  std::uint64_t all = 0;
  for (auto const& known : operator_table)
    if (known.shape == shape_function::reduce) all |= operator_bit(known.op);
  return all;
}();

/// For each value the operators that stand there: its own, or those below a sum or product (`deep`: below any nesting
/// of them, with bits for their kinds, and, but for reductions, below what moves elements; `direct`: below one that is
/// of the value's own kind, with a bit for that kind) and below what rules look through, and whether constants stand
/// there; and `below`, what is `deep` at the operands of these operators. What a pattern needs and a set lacks cannot
/// match, so most nodes are done with at a glance. 24 bytes a value.
template <class Image>
class basic_operator_sets {
 public:
  struct sets {
    std::uint64_t deep, direct, below;

    [[nodiscard]] bool has(sets const& other) const {
      return ((other.deep & ~deep) | (other.direct & ~direct) | (other.below & ~below)) == 0;
    }
    void add(sets const& other) {
      deep |= other.deep;
      direct |= other.direct;
      below |= other.below;
    }
    /// What is left of it where elements are moved.
    [[nodiscard]] sets moved() const { return {deep & ~reduction_bits, 0, below}; }
  };

  /// No value: anything may stand there.
  static constexpr value_id of_anything = absent - 1;
  static constexpr sets all{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};

  basic_operator_sets(operator_meanings const& means, Image const& image, facts const& known)
      : image_(image), facts_(known), means_(means) {
    update();
  }

  /// Whether it tells what stands at values, or that everything may.
  void tell(bool tells) {
    tells_ = tells;
    size_ = tells ? of_.size() : 0;
  }

  [[nodiscard]] sets const& operator[](value_id v) const { return v < size_ ? of_[v] : v == absent ? none_ : all; }

  /// The same of a power of it: of the square of a value nothing is told.
  [[nodiscard]] sets const& at(value_id v, std::uint8_t power) const { return power == 1 ? (*this)[v] : all; }

  /// The bits one of which is direct at whatever opens as a sum or product, or as what set `through` looks through.
  [[nodiscard]] std::uint64_t openers(op_group kind, std::uint8_t through) const {
    return (kind == op_group::sum ? sum_bit : product_bit) | means_.bits_through(through);
  }

  /// Whether a reduction, or an operator that shares the bit of one, stands at or below `v`, whatever is told.
  [[nodiscard]] bool has_reduction_below(value_id v) const {
    return v < of_.size() && (of_[v].deep & reduction_bits) != 0;
  }

  /// The same of the sets before those of `v` as `expect_before` of an image.
  [[gnu::always_inline]] void expect_before(value_id v) const {
    if (v >= Image::ahead && v < size_) __builtin_prefetch(of_.data() + (v - Image::ahead));
  }

  /// Takes in what has changed in the image: all of it, or one node. What is new there reaches those who use it,
  /// directly or not; what is gone stays in their sets, where it does no harm. `add` is for a new node, whose users are
  /// updated after it.
  void update() {
    of_.reserve(image_.value_count() + image_.value_count() / 8);  // growing would copy all at the first new node
    take_in_leaves(0);
    for (auto n = image_.first_node(); n != absent; n = image_.node(n).next) find(n);
  }
  void update(node_id changed) {
    take_in_leaves(of_.size());
    waiting_.push_back(changed);
    while (!waiting_.empty()) {
      auto const n = waiting_.back();
      waiting_.pop_back();
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) {
        auto const v = image_.result(n, i);
        auto const before = of_[v];
        find(n, v);
        // (Which terms are alike may be another matter below the same operators.)
        bool const multiple = means_.opens() && (n == changed || is_multiple(v));
        if (multiple || !before.has(of_[v])) image_.for_each_user(v, [&](node_id user) { waiting_.push_back(user); });
        if (n != changed) of_[v].add(before);
      }
    }
  }

  void add(node_id made) {
    take_in_leaves(of_.size());
    find(made);
  }

 private:
  void find(node_id n) {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) find(n, image_.result(n, i));
  }
  void take_in_leaves(std::size_t from) {
    if (image_.value_count() - of_.size() == 1)
      of_.push_back(none_);  // resizing takes ten times as long
    else
      of_.resize(image_.value_count(), none_);
    tell(tells_);
    for (auto v = static_cast<value_id>(from); v < of_.size(); ++v)
      if (image_.producer(v) == absent) of_[v] = constant_at(v);
  }
  [[nodiscard]] sets constant_at(value_id v) const {
    auto const bits = facts_.is_uniform(v)       ? number_bit | added_number_bit | constant_bit
                      : image_.value(v).constant ? constant_bit
                                                 : 0;
    return {bits, bits, 0};
  }

  // What stands at a value, whether that is told or not.
  [[nodiscard]] sets const& of(value_id v) const { return v < of_.size() ? of_[v] : v == absent ? none_ : all; }

  // What stands at result `v` of node `n`, written where it belongs: on processors of today, a copy of what was just
  // written in parts waits for all of them.
  void find(node_id n, value_id v) {
    auto const& means = means_[image_.node(n).tag.op];
    if (means.kinds == 0)
      find_operator(n, means, of_[v]);
    else
      find_group(n, means, of_[v]);
    if (auto const constant = constant_at(v); constant.deep != 0) of_[v].add(constant);
  }
  void find_operator(node_id n, operator_meanings::meaning const& means, sets& into) const {
    auto const& record = image_.node(n);
    auto const op = static_cast<opcode>(record.tag.op);
    sets found{means.bits, means.bits, means.below};
    for (std::uint32_t i = 0; i < record.operand_count; ++i) found.below |= of(image_.operand(n, i)).deep;
    bool const alone = record.operand_count == 1 && may_keep_elements(op);
    if (means.transparent || alone || means_.has_transparent_name(record.tag))
      found.add(of(kept_operand(image_, facts_, n)));
    else if (means.moves && record.operand_count != 0)
      found.add(of(image_.operand(n, 0)).moved());
    if (means.layout && (alone || means.transparent)) found.direct |= sum_bit | product_bit;  // it may be opened
    if (means.logarithm && record.operand_count == 1 && means_.opens() && may_be_logarithm(image_.operand(n, 0))) {
      auto const& inside = of(image_.operand(n, 0));
      auto const there = inside.deep | inside.below | product_bit | root_bit;  // whatever it is of
      found.add({there, there & ~(sum_bit | terms_bit), inside.below});
    }
    if (means_.clips() && may_clip(op))
      if (auto const whole = positive_part_of(image_, facts_, n); whole != absent)
        found.add(of(whole)), found.direct |= sum_bit;
    into = found;
  }
  void find_group(node_id n, operator_meanings::meaning const& means, sets& into) const {
    auto const& record = image_.node(n);
    auto const op = static_cast<opcode>(record.tag.op);
    sets found{means.bits, means.bits, means.below};
    if (op == opcode::sum_of && record.operand_count == 1) {  // whatever it adds, which may be opened below it
      found.add(of(image_.operand(n, 0)));
      found.add({sum_bit | operator_bit(op), sum_bit | product_bit | operator_bit(op), 0});
      into = found;
      return;
    }
    auto kinds = means.kinds;
    double number = 0.5;
    if (means.power &&
        (record.operand_count < 2 || !facts_.uniform(image_.operand(n, 1), number) || !math::is_whole(number)))
      found.deep = found.direct = root_bit;
    auto const scales = [&](std::uint32_t i) { return means.scaled != 0 && facts_.is_uniform(image_.operand(n, i)); };
    for (std::uint32_t i = 0; i < record.operand_count; ++i)
      if (scales(i)) kinds |= means.scaled;
    if (means.alike != 0 && means_.opens() && may_be_alike(n)) kinds |= means.alike;
    // (A number by one over a sum is a multiple of that.)
    bool const inverts = op == opcode::reciprocal || (means.power && number == -1);
    for (std::uint32_t i = 0; i < record.operand_count; ++i) {
      auto const& inside = of(image_.operand(n, i));
      found.deep |= inside.deep;
      found.below |= inside.below;
      auto const other = inside.direct & (sum_bit | product_bit);
      if (other == 0 || (other & kinds) != 0 || inverts)
        found.direct |= inside.direct & ~(sum_bit | product_bit | (scales(i) ? added_number_bit : 0));
      else {  // a number, or a sum times one, is one part, however it is computed
        if ((other & product_bit) != 0) found.direct |= inside.direct & sum_and_mean;
        // What is looked through may itself be asked for.
        auto const producer = image_.producer(image_.operand(n, i));
        if (producer != absent && info(op_of(image_, producer)).group == op_group::none)
          found.direct |= operator_bit(op_of(image_, producer));
        if ((inside.direct & number_bit) != 0) found.add(constant_at(image_.operand(n, i)));
      }
    }
    found.direct |= kinds;
    found.deep |= kinds;
    into = found;
  }
  // Whether node `n` may be its operand.
  [[nodiscard]] bool may_pass_on(node_id n) const {
    switch (op_of(image_, n)) {
      case opcode::mean_of:
      case opcode::sum_of:
      case opcode::maximum:
      case opcode::minimum: return image_.operand_count(n) == 1;
      default: return may_keep_elements(op_of(image_, n));
    }
  }
  // Whether `v` is a multiple of something else: a number times that, or the sum of terms that are alike.
  [[nodiscard]] bool is_multiple(value_id v) const {
    auto const n = image_.producer(v);
    constexpr auto both = sum_bit | product_bit;
    return n != absent && info(op_of(image_, n)).group != op_group::none && (of(v).direct & both) == both;
  }
  // What it may be a multiple of; of_anything where that is not seen here, as below a quotient.
  [[nodiscard]] value_id term_below(value_id v) const {
    for (int i = 0; i < 8; ++i) {
      auto const n = v == absent ? absent : image_.producer(v);
      if (n != absent && may_pass_on(n)) return of_anything;
      if (n == absent || !is_multiple(v)) return v;
      bool const second = image_.operand_count(n) > 1 && facts_.is_uniform(image_.operand(n, 0));
      if (second && op_of(image_, n) == opcode::div) return of_anything;
      v = image_.operand(n, second ? 1 : 0);
    }
    return of_anything;
  }
  // Whether `v` may be a logarithm or a multiple of one.
  [[nodiscard]] bool may_be_logarithm(value_id v) const {
    auto const term = term_below(v);
    if (term == of_anything) return (of(v).deep & operator_bit(opcode::log)) != 0;
    auto const n = term == absent ? absent : image_.producer(term);
    return n != absent && op_of(image_, n) == opcode::log;
  }
  // Whether all that a sum adds may be multiples of one value: it is the same, the same operator computes it, or
  // constants may hold the same.
  [[nodiscard]] bool may_be_alike(node_id n) const {
    if (image_.operand_count(n) < 2) return false;
    auto const first = term_below(image_.operand(n, 0));
    if (first == absent) return false;
    for (std::uint32_t i = 1; i < image_.operand_count(n); ++i) {
      auto const other = term_below(image_.operand(n, i));
      if (other == first || first == of_anything || other == of_anything) continue;
      if (other != absent && image_.value(first).constant && image_.value(other).constant) continue;
      auto const a = image_.producer(first), b = other == absent ? absent : image_.producer(other);
      if (a == absent || b == absent || image_.node(a).tag.name != image_.node(b).tag.name ||
          opening_of(op_of(image_, a), op_group::sum).when == opens_with::any)
        return false;
    }
    return true;
  }
  static constexpr sets none_{0, 0, 0};
  Image const& image_;
  facts const& facts_;
  operator_meanings const& means_;
  plain_vector<sets> of_;
  std::size_t size_ = 0;  // a vector would divide
  bool tells_ = true;
  plain_vector<node_id> waiting_;
};
using operator_sets = basic_operator_sets<graph_image>;

}  // namespace fuse::inline v0::detail
