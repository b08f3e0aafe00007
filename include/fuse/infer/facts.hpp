// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/infer/calls.hpp>
#include <fuse/infer/contents.hpp>
#include <fuse/infer/declared_facts.hpp>
#include <fuse/infer/fact_table.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/infer/shape_context.hpp>
#include <fuse/infer/shape_functions.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>

namespace fuse::inline v0::detail {

/// Element types, shapes and small contents of all values of an image, propagated from inputs and constants by each
/// operator's shape function. It never guesses: what none of them tells is unknown, and what the graph declares of a
/// computed value counts only where none says otherwise. Of a function's inputs it knows what all calls share. Linear
/// in the size of the graph; an image must not be cyclic.
template <class Image>
class basic_facts : public fact_table {
 public:
  /// `image` and the rows of `names` must outlive this; nothing is known before `run`.
  basic_facts(Image const& image, dialect const& names) : fact_table(image), at_(*this, names) {}
  basic_facts(basic_facts const&) = delete;
  basic_facts& operator=(basic_facts const&) = delete;

  /// All nodes that are alive, in order.
  void run() {
    resize(0);
    reserve(image().value_count() + image().value_count() / 8);
    read_inputs_and_constants();
    auto function = image().functions().begin();
    auto const last = image().functions().end();
    for (node_id n = 0; n < image().node_count(); ++n) {
      for (; function != last && function->first_node <= n; ++function) detail::meet_calls(at_, *function);
      if (image().node(n).alive) infer(n);
    }
  }

  /// Inputs and constants that were added after `run`.
  void read_inputs_and_constants() {
    auto const from = static_cast<value_id>(size());
    resize(image().value_count());
    for (auto v = from; v < image().value_count(); ++v)
      if (image().producer(v) == absent) detail::read_declared(at_, v, declared_);
  }

  /// One node again, or one that was added after `run`, with the constants it reads. Its operands must be known before.
  void update(node_id n) {
    read_inputs_and_constants();
    infer(n);
  }

  /// The contents of one node's results again, whose operands may have lost theirs. Shapes that followed from them stay
  /// what they are. Returns whether they are others.
  bool update_contents(node_id n) {
    auto& at = at_;
    at.at_node(n);
    before_.clear();
    for (std::uint32_t i = 0; i < at.result_count(); ++i) {
      before_.push_back(contents_number(at.result(i)));
      forget_contents(at.result(i));
    }
    detail::propagate_contents(at, op_of(image(), n));
    for (std::uint32_t i = 0; i < at.result_count(); ++i)
      if (contents_number(at.result(i)) != before_[i]) return true;
    return false;
  }

 private:
  // A result of an If is what both branches agree on.
  void choose() {
    auto& at = at_;
    auto const first = first_body(at.n);
    if (first == absent || next_body_[first] == absent) return;
    for (auto region = first; region != absent; region = next_body_[region]) {
      if (image().region_outputs(region).size() != at.result_count()) return;
      for (auto v : image().region_outputs(region))
        if (v == absent || v >= size()) return;
    }
    for (auto region = first; region != absent; region = next_body_[region])
      for (std::uint32_t i = 0; i < at.result_count(); ++i) {
        auto const v = at.result(i), from = image().region_outputs(region)[i];
        if (region == first) {
          set_type(v, type(from));
          share_shape(v, from);
          continue;
        }
        if (type(v) != type(from)) set_type(v, element_type::unknown);
        if (!same_shape(v, from)) detail::meet_shapes(at, v, from);
      }
  }

  [[nodiscard]] std::uint32_t first_body(node_id n) {
    auto const& regions = image().regions();
    if (next_body_.size() != regions.size()) {
      first_body_.assign(image().node_count(), absent);
      next_body_.assign(regions.size(), absent);
      for (auto region = regions.size() - 1; region > 0; --region)
        if (auto const owner = regions[region].owner; owner != absent) {
          next_body_[region] = first_body_[owner];
          first_body_[owner] = static_cast<std::uint32_t>(region);
        }
    }
    return n < first_body_.size() ? first_body_[n] : absent;
  }

  void infer(node_id n) {
    auto& at = at_;
    at.at_node(n);
    for (std::uint32_t i = 0; i < at.result_count(); ++i) forget(at.result(i));
    forget_reduction(n);
    set_takes_all(n, false);
    auto const before = symbols().symbol_count();
    auto const op = op_of(image(), n);
    if (op == opcode::if_else)
      choose();
    else
      detail::apply_shape_function(at, op);
    for (std::uint32_t i = 0; i < at.result_count(); ++i)
      detail::refine_by_declaration(at, at.result(i), before, declared_);
    detail::propagate_contents(at, op);
  }

  detail::shape_context at_;  // one for all nodes: its buffers stay
  std::vector<dimension> declared_;
  detail::plain_vector<std::uint32_t> before_;                  // numbers of contents
  detail::plain_vector<std::uint32_t> first_body_, next_body_;  // of a node, of a region: the bodies that one node owns
};
using facts = basic_facts<graph_image>;

#ifdef FUSE_REWRITE_SEPARATE
extern template class basic_facts<graph_image>;
#endif

}  // namespace fuse::inline v0::detail
