// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/layout.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/infer/unchanged.hpp>

namespace fuse::inline v0::detail {

/// Whether operators of this kind may do nothing but move, leave out and repeat elements of their first operand (a
/// Concat: of its operands).
[[nodiscard]] constexpr bool may_move_elements(opcode op) {
  switch (op) {
    case opcode::identity:
    case opcode::dropout:
    case opcode::reshape:
    case opcode::flatten:
    case opcode::squeeze:
    case opcode::unsqueeze:
    case opcode::transpose:
    case opcode::split:
    case opcode::slice:
    case opcode::gather:
    case opcode::concat:
    case opcode::expand:
    case opcode::tile:
    case opcode::depth_to_space:
    case opcode::space_to_depth: return true;
    default: return false;
  }
}

/// Reads chains of operators that only move elements as layouts. What an operator does follows from its parameters and
/// from the shapes that are known; where these do not prove it, it is no such operator. A chain stays in one body of
/// the graph. It reads facts only: any number of threads may do so.
template <class Image>
class basic_layouts {
 public:
  static constexpr int most_nodes = 64;  ///< that one layout is read of; what takes more is not read

  basic_layouts(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  /// The value that elements of `v` come from, one operator further down, where that may only move them; else absent.
  [[nodiscard]] value_id below(value_id v) const {
    auto const n = v == absent ? absent : image_.producer(v);
    if (n == absent || !may_move_elements(op_of(image_, n)) || image_.operand_count(n) == 0) return absent;
    // (Of several results only those of a Split are all parts of the operand.)
    if (image_.result_index(v) != 0 && op_of(image_, n) != opcode::split) return absent;
    auto const from = image_.operand(n, 0);
    return from != absent && facts_.has_rank(v) && facts_.has_rank(from) ? from : absent;
  }

  /// How `v` lies in `base`; false where it is not computed from that by moving elements alone, or nobody can prove
  /// how. `passed` are the nodes between, each once.
  [[nodiscard]] bool read(value_id v, value_id base, layout& into) {
    passed_.clear();
    unproven_ = polynomial();
    left_ = most_nodes;
    region_ = v == absent || image_.producer(v) == absent ? absent : image_.node(image_.producer(v)).region;
    return follow(v, base, into);
  }
  [[nodiscard]] span<node_id const> passed() const { return passed_; }
  /// Where `read` returned false for want of proof: the extent that is not known; else 0.
  [[nodiscard]] polynomial const& unproven() const { return unproven_; }

  /// Whether `v` is the beginning of `base` along each axis: its first elements, or all, provably.
  [[nodiscard]] bool is_beginning(value_id v, value_id base) {
    layout lies, whole;
    if (!read(v, base, lies) || !whole.row_major(facts_.polynomials(base)) || lies.rank() != whole.rank() ||
        !lies.offset().is(0))
      return false;
    auto const all = whole.all();
    auto const at_most = [](polynomial const& some, polynomial const& of) {
      std::int64_t a = 0, b = 0;
      return some == of || (some.known(a) && of.known(b) && a <= b);
    };
    auto of_whole = all.begin();
    for (auto const& d : lies.all()) {  // both in the order of axes
      while (of_whole != all.end() && of_whole->axis != d.axis) ++of_whole;
      if (of_whole == all.end() || !(of_whole->stride == d.stride)) return false;
      // The first axis that has several elements cannot be longer than it is in the base, which holds them all.
      if (of_whole != all.begin() && !at_most(d.extent, of_whole->extent)) return false;
      ++of_whole;
    }
    return true;
  }

  /// What node `n`, whose result `v` is, does to the layout of its first operand. Not of a Concat.
  [[nodiscard]] bool apply(node_id n, value_id v, layout& into) {
    return (unchanged(image_, facts_, n) || proven(moved(n, v, into), into)) && into.rank() == facts_.shape(v).size();
  }

  /// What broadcasting to the shape of `v` does to a layout: extents of 1 are repeated, others stay. False where
  /// neither is known to be so.
  [[nodiscard]] bool broadcast(value_id v, layout& into) const {
    auto const to = facts_.polynomials(v);
    if (to.size() < into.rank()) return false;
    auto const more = to.size() - into.rank();
    if (more != 0) into.add_axes(span<polynomial const>(to).first(more));
    for (auto i = more; i < to.size(); ++i)
      if (!(into.shape()[i] == to[i]) && !(into.shape()[i].is(1) && into.tile(static_cast<std::uint32_t>(i), to[i])))
        return false;
    return true;
  }

 private:
  [[nodiscard]] polynomial in_atoms(extent e) const { return facts_.symbols().polynomial_of(e); }

  [[nodiscard]] bool follow(value_id v, value_id base, layout& into) {
    if (v == base) return facts_.has_rank(base) && proven(into.row_major(facts_.polynomials(base)), into);
    auto const from = below(v);
    if (from == absent || left_-- == 0) return false;
    auto const n = image_.producer(v);
    if (image_.node(n).region != region_) return false;
    bool const made = op_of(image_, n) == opcode::concat
                          ? concatenated(n, base, into) && into.rank() == facts_.shape(v).size()
                          : follow(from, base, into) && apply(n, v, into);
    if (!made) return false;
    for (auto done : passed_)
      if (done == n) return true;
    passed_.push_back(n);
    return true;
  }
  [[nodiscard]] bool proven(bool done, layout const& by) {
    if (!done) unproven_ = by.unproven();
    return done;
  }

  /// What node `n` does to the layout of its first operand.
  [[nodiscard]] bool moved(node_id n, value_id v, layout& into) {
    switch (op_of(image_, n)) {
      case opcode::reshape:
      case opcode::flatten:
      case opcode::squeeze:
      case opcode::unsqueeze: return into.reshape(facts_.polynomials(v));
      case opcode::transpose: return transposed(n, into);
      case opcode::split: return parted(n, v, into);
      case opcode::slice: return sliced(n, v, into);
      case opcode::gather: return gathered(n, v, into);
      case opcode::expand: return broadcast(v, into);
      case opcode::tile: return tiled(v, into);
      case opcode::depth_to_space:
      case opcode::space_to_depth: return reblocked(n, v, into);
      default: return false;
    }
  }

  /// An axis of the first operand that a parameter names.
  [[nodiscard]] bool axis(node_id n, std::size_t rank, std::uint32_t& into) {
    double number = 0;
    if (!read_number(image_, facts_, names_, n, "axis", number)) return false;
    if (number < 0) number += static_cast<double>(rank);
    if (!(number >= 0 && number < static_cast<double>(rank))) return false;
    into = static_cast<std::uint32_t>(number);
    return true;
  }

  [[nodiscard]] bool transposed(node_id n, layout& into) {
    auto const rank = static_cast<std::int64_t>(into.rank());
    if (read_list(image_, facts_, names_, n, "perm", list_) != parameter_state::known || list_.size() != into.rank() ||
        !normalise_axes(list_, static_cast<int>(rank), axes_))
      return false;
    for (auto& each : list_) each += each < 0 ? rank : 0;
    into.permute(list_);
    return true;
  }

  [[nodiscard]] bool parted(node_id n, value_id v, layout& into) {
    std::uint32_t at = 0;
    if (!axis(n, into.rank(), at)) return false;
    polynomial start;
    for (auto part = image_.result(n); part != v; ++part)
      if (!facts_.has_rank(part) || facts_.shape(part).size() != into.rank() ||
          !start.add(in_atoms(facts_.shape(part)[at])))
        return false;
    return into.slice(at, start, in_atoms(facts_.shape(v)[at]), 1, facts_.symbols());
  }

  /// An index that may count from the end, of an axis that has it if any. -1 of nothing is never read.
  [[nodiscard]] bool from_front(extent index, polynomial const& whole, bool always_there, polynomial& into) const {
    auto const& symbols = facts_.symbols();
    into = in_atoms(index);
    if (symbols.nonnegative(index)) return true;
    polynomial back;
    if (!back.add(into, -1) || symbols.least(back) < 1 || !into.add(whole)) return false;
    return always_there || index == extent(-1) || symbols.least(into) >= 0;
  }

  [[nodiscard]] bool sliced(node_id n, value_id v, layout& into) {
    if (read_extents(image_, facts_, names_, n, "starts", starts_, list_) != parameter_state::known ||
        read_extents(image_, facts_, names_, n, "ends", ends_, list_) != parameter_state::known ||
        starts_.size() != ends_.size())
      return false;
    std::vector<std::int64_t> steps, axes;
    auto const listed = read_parameter(image_, facts_, names_, n, "axes", axes);
    if (listed == parameter_state::missing)
      for (std::size_t i = 0; i < starts_.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    auto const stepped = read_parameter(image_, facts_, names_, n, "steps", steps);
    if (stepped == parameter_state::missing) steps.assign(axes.size(), 1);
    if (listed == parameter_state::unknown || stepped == parameter_state::unknown || axes.size() != starts_.size() ||
        steps.size() != axes.size() || !normalise_axes(axes, static_cast<int>(into.rank()), axes_))
      return false;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      auto const at =
          static_cast<std::uint32_t>(axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(into.rank()) : axes[i]);
      polynomial const whole = into.shape()[at], length = in_atoms(facts_.shape(v)[at]);
      if (steps[i] == 1 && length == whole) continue;  // all of it, wherever it is said to begin
      polynomial start;
      if (steps[i] > 0 ? !from_front(starts_[i], whole, false, start)
                       : !last_of(starts_[i], ends_[i], whole, steps[i], start))
        return false;
      if (!into.slice(at, start, length, steps[i], facts_.symbols())) return false;
    }
    return true;
  }
  /// Where a slice begins that goes backwards: its ends are known, and the axis, or it is reversed as a whole.
  [[nodiscard]] static bool last_of(extent start, extent end, polynomial const& whole, std::int64_t step,
                                    polynomial& into) {
    constexpr std::int64_t far = 0x7fffffff;
    std::int64_t size = 0;
    if (step == 0 || !start.known() || !end.known()) return false;
    if (whole.known(size)) {
      auto const from = start.value() < 0 ? start.value() + size : start.value();
      into = polynomial(from > size - 1 ? size - 1 : from < 0 ? 0 : from);
      return size > 0 && from >= 0;
    }
    into = whole;
    return (start.value() >= far || start.value() == -1) && end.value() <= -far && step == -1 &&
           into.add(polynomial(-1));
  }

  [[nodiscard]] bool gathered(node_id n, value_id v, layout& into) {
    std::uint32_t at = 0;
    auto const picks = image_.operand_count(n) == 2 ? image_.operand(n, 1) : absent;
    if (picks == absent || !facts_.has_rank(picks) || !axis(n, into.rank(), at)) return false;
    auto const rank = facts_.shape(picks).size();
    if (facts_.shape(v).size() != into.rank() - 1 + rank) return false;
    polynomial const whole = into.shape()[at];
    polynomial first;
    layout::digits picked;
    if (!arithmetic(picks, whole, first, picked)) return false;
    return into.gather(at, first, picked, facts_.polynomials(picks), facts_.symbols());
  }
  /// Indices as a first one and digits that are added to it.
  [[nodiscard]] bool arithmetic(value_id picks, polynomial const& whole, polynomial& first,
                                layout::digits& picked) const {
    auto const n = image_.producer(picks);
    if (!facts_.has_integers(picks) && n != absent && op_of(image_, n) == opcode::range &&
        image_.operand_count(n) == 3) {
      auto const from = facts_.symbolic_integers(image_.operand(n, 0)),
                 by = facts_.symbolic_integers(image_.operand(n, 2));
      if (from.size() != 1 || by.size() != 1 || !facts_.symbols().nonnegative(from[0]) ||
          !facts_.symbols().nonnegative(by[0]))
        return false;  // (one that falls may go on below 0, from the end)
      first = in_atoms(from[0]);
      picked.push_back({0, in_atoms(facts_.shape(picks)[0]), in_atoms(by[0])});
      return true;
    }
    auto const given = facts_.symbolic_integers(picks);
    if (given.empty()) return false;
    plain_vector<polynomial> indices;
    for (auto each : given) {
      polynomial index;
      if (!from_front(each, whole, true, index)) return false;
      indices.push_back(index);
    }
    first = indices[0];
    // The digits from the last one up: each goes on as long as the steps are equal.
    layout::digits rising;
    for (std::size_t turn = 1; turn < indices.size();) {
      polynomial step = indices[turn];
      if (!step.add(first, -1)) return false;
      std::size_t run = 0;
      for (polynomial next = first; run * turn < indices.size() && indices[run * turn] == next; ++run)
        if (!next.add(step)) return false;
      if ((indices.size() / turn) % run != 0) return false;
      rising.push_back({0, polynomial(static_cast<std::int64_t>(run)), step});
      turn *= run;
    }
    for (auto i = rising.size(); i-- > 0;) picked.push_back(rising[i]);
    return follows(indices, rising);
  }
  /// Whether digits, the last one first, tell each of the indices.
  [[nodiscard]] static bool follows(plain_vector<polynomial> const& indices, layout::digits const& rising) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      polynomial told = indices[0];
      auto left = static_cast<std::int64_t>(i);
      for (auto const& d : rising) {
        std::int64_t run = 1;
        if (!d.extent.known(run) || !told.add(d.stride, left % run)) return false;
        left /= run;
      }
      if (!(told == indices[i])) return false;
    }
    return true;
  }

  [[nodiscard]] bool tiled(value_id v, layout& into) {
    auto const to = facts_.polynomials(v);
    if (to.size() != into.rank()) return false;
    for (std::size_t i = 0; i < to.size(); ++i) {
      polynomial times;
      if (into.shape()[i] == to[i]) continue;
      if (!polynomial::divide(to[i], into.shape()[i], times) || !into.tile(static_cast<std::uint32_t>(i), times))
        return false;
    }
    return true;
  }

  [[nodiscard]] bool concatenated(node_id n, value_id base, layout& into) {
    std::uint32_t at = 0;
    auto const count = image_.operand_count(n);
    std::vector<layout> parts(count);
    plain_vector<layout const*> all;
    for (std::uint32_t i = 0; i < count; ++i) {
      auto const part = image_.operand(n, i);
      if (part == absent || !follow(part, base, parts[i])) return false;
      all.push_back(&parts[i]);
    }
    return axis(n, parts[0].rank(), at) && layout::concatenate(all, at, into);
  }

  /// DepthToSpace and SpaceToDepth, which part axes and put them elsewhere.
  [[nodiscard]] bool reblocked(node_id n, value_id v, layout& into) {
    std::vector<std::int64_t> block;
    if (into.rank() != 4 || !read_integers(image_, facts_, names_, n, "blocksize", block) || block.size() != 1 ||
        block[0] < 1)
      return false;
    auto const mode = image_.source->attribute_of(n, "mode");
    auto const* text = std::get_if<std::string_view>(&mode);
    bool const by_depth = text == nullptr || *text == "DCR";
    polynomial const b(block[0]);
    polynomial s[4] = {into.shape()[0], into.shape()[1], into.shape()[2], into.shape()[3]};
    if (op_of(image_, n) == opcode::depth_to_space) {
      polynomial kept;
      if (!polynomial::divide(s[1], polynomial(block[0] * block[0]), kept)) return false;
      polynomial const depth_first[] = {s[0], b, b, kept, s[2], s[3]}, column_first[] = {s[0], kept, b, b, s[2], s[3]};
      std::int64_t const depth_order[] = {0, 3, 4, 1, 5, 2}, column_order[] = {0, 1, 4, 2, 5, 3};
      if (!into.reshape(by_depth ? span<polynomial const>(depth_first) : span<polynomial const>(column_first)))
        return false;
      into.permute(by_depth ? span<std::int64_t const>(depth_order) : span<std::int64_t const>(column_order));
    } else {
      polynomial high, wide;
      if (!polynomial::divide(s[2], b, high) || !polynomial::divide(s[3], b, wide)) return false;
      polynomial const split[] = {s[0], s[1], high, b, wide, b};
      std::int64_t const depth_order[] = {0, 3, 5, 1, 2, 4}, column_order[] = {0, 1, 3, 5, 2, 4};
      if (!into.reshape(split)) return false;
      into.permute(by_depth ? span<std::int64_t const>(depth_order) : span<std::int64_t const>(column_order));
    }
    return into.reshape(facts_.polynomials(v));
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  plain_vector<node_id> passed_;
  polynomial unproven_;
  int left_ = 0;
  std::uint32_t region_ = 0;
  std::vector<std::int64_t> list_;
  std::vector<extent> starts_, ends_;
  std::vector<int> axes_;
};
using layouts = basic_layouts<graph_image>;

}  // namespace fuse::inline v0::detail
