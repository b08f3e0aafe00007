// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <fuse/core/plain_vector.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0::detail {

/// A set of kinds of operators, a bit each.
class kind_set {
 public:
  constexpr kind_set() = default;
  template <class... Kinds>
  constexpr explicit kind_set(op_kind first, Kinds... more)
      : bits_(static_cast<std::uint8_t>((bit(first) | ... | bit(more)))) {}

  [[nodiscard]] constexpr bool has(op_kind kind) const { return (bits_ & bit(kind)) != 0; }
  [[nodiscard]] constexpr bool within(kind_set allowed) const { return (bits_ & ~unsigned{allowed.bits_}) == 0; }
  [[nodiscard]] friend constexpr kind_set operator|(kind_set a, kind_set b) {
    a.bits_ = static_cast<std::uint8_t>(a.bits_ | b.bits_);
    return a;
  }
  constexpr kind_set& operator|=(kind_set more) { return *this = *this | more; }

  /// The kind that decides what else may come into a group.
  [[nodiscard]] constexpr op_kind leading() const {
    for (auto const kind : {op_kind::anchor, op_kind::reduction, op_kind::injective, op_kind::broadcast})
      if (has(kind)) return kind;
    return has(op_kind::elementwise) ? op_kind::elementwise : op_kind::opaque;
  }

 private:
  static constexpr unsigned bit(op_kind kind) { return 1u << static_cast<unsigned>(kind); }
  std::uint8_t bits_ = 0;
};

/// The kinds of the operators of an image: of the dialect's row where it states one, else of the neutral operator. What
/// changes the shape alone is elementwise. An operator without a row, and one with bodies, is opaque. A batch norm that
/// gives out statistics makes them.
class operator_kinds {
 public:
  operator_kinds(graph_image const& image, dialect const& names)
      : image_(image), by_code_(names.rows.size() + 1, entry{}), by_node_(image.node_count()) {
    for (std::uint16_t code = 1; code < by_code_.size(); ++code) {
      auto const* row = names.row(code, image.version);
      if (row == nullptr) continue;
      auto& made = by_code_[code];
      made.op = row->op;
      made.has_formula = !row->kind && has_formula(row->op);
      made.view = fuse::is_view(row->op);
      made.keeps_elements = made.view || row->op == opcode::transpose || row->op == opcode::depth_to_space ||
                            row->op == opcode::space_to_depth;
      made.kind = row->kind ? *row->kind : neutral_kind(row->op);
      made.data = row->operands >= 0 ? static_cast<std::uint32_t>(row->operands) : data_operands(row->op);
    }
    for (node_id n = 0; n < image.node_count(); ++n) {
      auto const& known = by_code_[image.node(n).tag.name];
      bool const trains = known.op == opcode::batch_norm && image.node(n).result_count > 1;
      by_node_[n] = {image.node(n).has_bodies ? op_kind::opaque
                     : trains                 ? op_kind::reduction
                                              : known.kind,
                     known.data == absent, false};
      constants_ += is_constant(n);
    }
  }

  /// How many nodes hold a constant, and compute nothing.
  [[nodiscard]] std::uint32_t constants() const { return constants_; }

  /// From now on nothing is known of `n`.
  void make_opaque(node_id n) { by_node_[n].kind = op_kind::opaque; }

  /// Whether `n` may take part by its formula: one element of its result is made of one element of its first operand
  /// and of statistics, which are all that is made of many. Not a softmax, whose statistics need each exponential that
  /// the result needs again.
  [[nodiscard]] bool may_go_by_formula(node_id n) const {
    return of(n) == op_kind::reduction && by_code_[image_.node(n).tag.name].has_formula &&
           image_.node(n).result_count == 1 && image_.operand_count(n) != 0 && image_.operand(n, 0) != absent;
  }
  /// Takes `n` by its formula, or again as one operator: its statistics are known before it begins, so its first
  /// operand is, too, and what is left of it is made element by element.
  void go_by_formula(node_id n, bool by_formula) {
    by_node_[n].kind = by_formula ? op_kind::broadcast : op_kind::reduction;
    by_node_[n].all_data = !by_formula;
    by_node_[n].by_formula = by_formula;
  }
  [[nodiscard]] bool goes_by_formula(node_id n) const { return by_node_[n].by_formula; }

  [[nodiscard]] op_kind of(node_id n) const { return by_node_[n].kind; }
  [[nodiscard]] bool is_view(node_id n) const { return by_code_[image_.node(n).tag.name].view; }
  /// Whether the result of `n` has the elements of its first operand, each once, in whatever shape and order.
  [[nodiscard]] bool keeps_elements(node_id n) const { return by_code_[image_.node(n).tag.name].keeps_elements; }
  /// Whether all operands of `n` are data, or operand `i`, and no parameter that must be known before the operator
  /// begins.
  [[nodiscard]] bool all_data(node_id n) const { return by_node_[n].all_data; }
  [[nodiscard]] bool is_data(node_id n, std::uint32_t i) const {
    return i < by_code_[image_.node(n).tag.name].data && !(i == 0 && goes_by_formula(n));
  }

 private:
  // `operator_info::kind`, but for what means more there: that operands of broadcasting meet from their last axis,
  // which those of a batch norm do not, and that parameters are known.
  static constexpr op_kind neutral_kind(opcode op) {
    if (fuse::is_view(op)) return op_kind::elementwise;
    if (op == opcode::batch_norm) return op_kind::broadcast;
    if (op == opcode::opaque_layout) return op_kind::injective;
    return info(op).kind;
  }
  // Where a row does not say: what is computed of a shape waits for it.
  static constexpr std::uint32_t data_operands(opcode op) {
    return op == opcode::expand || op == opcode::tile ? 1 : op == opcode::constant_of_shape ? 0 : absent;
  }
  static constexpr bool has_formula(opcode op) {
    return op == opcode::layer_norm || op == opcode::rms_norm || op == opcode::instance_norm ||
           op == opcode::group_norm || op == opcode::mean_variance_norm || op == opcode::lp_normalization ||
           op == opcode::log_softmax;
  }
  [[nodiscard]] bool is_constant(node_id n) const {
    return image_.operand_count(n) == 0 && image_.node(n).result_count == 1 && image_.value(image_.result(n)).constant;
  }
  struct entry {
    opcode op = opcode::opaque;
    op_kind kind = op_kind::opaque;
    bool view = false, keeps_elements = false, has_formula = false;
    std::uint32_t data = absent;
  };
  graph_image const& image_;
  plain_vector<entry> by_code_;
  // Apart from the image: each user of a value is looked at.
  struct node_kind {
    op_kind kind = op_kind::opaque;
    bool all_data = true, by_formula = false;
  };
  plain_vector<node_kind> by_node_;
  std::uint32_t constants_ = 0;
};

}  // namespace fuse::inline v0::detail
