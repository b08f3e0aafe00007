// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/hash_index.hpp>
#include <fuse/core/mixed.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/infer/congruence.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/rewrite/constant_cones.hpp>

namespace fuse::inline v0 {

/// What `clean` does.
struct clean_options {
  bool fold_constants = true;      ///< what is computed of constants alone becomes one
  bool share_equal = true;         ///< of nodes that compute the same, one stays
  bool drop_unused = true;         ///< nodes whose results nobody uses go
  std::size_t most_growth = 1024;  ///< bytes by which one constant may be larger than those it takes the place of
};

/// What `clean` did, in nodes.
struct clean_report {
  std::size_t folded = 0, shared = 0, dropped = 0;
  std::string error{};  ///< why nothing was done

  [[nodiscard]] bool changed() const { return folded + shared + dropped != 0; }
};

namespace detail {

/// Cleans an image and the graph behind it, once: what is shared or dropped may leave something to fold.
class cleaning {
 public:
  cleaning(graph_image& image, dialect const& names, clean_options const& options)
      : image_(image), names_(names), options_(options), known_(image, names), same_(image, known_, names) {}

  clean_report run() {
    if (options_.drop_unused) drop();  // it may read constants
    known_.run();
    if (options_.fold_constants) report_.folded = constant_cones(image_, known_, names_, options_.most_growth).fold();
    if (options_.share_equal) each([&](node_id n) { share(n); });
    if (options_.drop_unused) drop();
    return report_;
  }

 private:
  // In order: operands before those who read them.
  template <class Visit>
  void each(Visit const& visit) {
    for (auto n = image_.first_node(); n != absent;) {
      auto const next = image_.node(n).next;
      visit(n);
      n = next;
    }
  }
  [[nodiscard]] bool is_output(node_id n) const {
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i)
      if (image_.value(image_.result(n, i)).outputs != 0) return true;
    return false;
  }
  // What it is that a node computes, and that it is the same each time.
  [[nodiscard]] bool has_meaning(node_id n) const {
    return op_of(image_, n) != opcode::opaque && !image_.node(n).has_bodies;
  }
  void replace(value_id from, value_id to) {
    image_.source->replace_uses(from, to);
    image_.redirect(from, to);
  }
  void erase(node_id n) {
    image_.source->erase(n);
    image_.erase(n);
  }

  // Equal nodes

  void share(node_id n) {
    if (!has_meaning(n) || !image_.is_read(n)) return;
    if (auto const m = found(equal_, hash_of(n), n, [&](node_id other) { return equal(n, other); }); m != absent)
      return take(n, m);
    // What is told by the same extents is the same, whatever they were read of.
    auto const told = image_.node(n).result_count == 1 ? known_.contents_number(image_.result(n)) : 0;
    if (told == 0) return;
    if (auto const m =
            found(told_, mixed(told, image_.node(n).region), n, [&](node_id other) { return told_alike(n, other); });
        m != absent)
      take(n, m);
  }
  // One before `n` that is the same; where there is none, `n` may be that for those to come.
  template <class Same>
  [[nodiscard]] node_id found(hash_index<node_id>& among, std::uint64_t hash, node_id n, Same const& same) {
    auto const m = among.find(static_cast<std::size_t>(hash), same);
    if (m != among.none) return m;
    among.add(static_cast<std::size_t>(hash), n);
    return absent;
  }
  void take(node_id n, node_id m) {
    if (is_output(n) && is_output(m)) return;  // each has a name of its own
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) replace(image_.result(n, i), image_.result(m, i));
    erase(n);
    ++report_.shared;
  }
  [[nodiscard]] bool told_alike(node_id n, node_id m) const {
    auto const v = image_.result(n), w = image_.result(m);
    return image_.node(m).alive && image_.node(n).region == image_.node(m).region && known_.type(v) == known_.type(w) &&
           known_.contents_number(v) == known_.contents_number(w) && known_.same_shape(v, w);
  }
  [[nodiscard]] bool equal(node_id n, node_id m) {
    auto const &p = image_.node(n), &q = image_.node(m);
    if (!q.alive || p.region != q.region || p.operand_count != q.operand_count || p.result_count != q.result_count)
      return false;
    for (std::uint32_t i = 0; i < p.result_count; ++i)
      if (known_.type(image_.result(n, i)) != known_.type(image_.result(m, i))) return false;
    if (!same_.agree(n, m) || op_of(image_, n) == opcode::dropout || !image_.source->same_attributes(n, m))
      return false;
    auto const at = [&](std::uint32_t i, std::uint32_t k) {
      return equal_values(image_.operand(n, i), image_.operand(m, k));
    };
    bool straight = true;
    for (std::uint32_t i = 0; i < p.operand_count; ++i) straight = straight && at(i, i);
    return straight || (commutes(n) && at(0, 1) && at(1, 0));
  }
  [[nodiscard]] bool equal_values(value_id a, value_id b) const {
    if (a == b) return true;
    if (a == absent || b == absent || !image_.value(a).constant || !image_.value(b).constant) return false;
    auto const s = image_.source->constant(a), t = image_.source->constant(b);
    return s && t && same_contents(s, t);
  }
  [[nodiscard]] bool commutes(node_id n) const {
    return image_.operand_count(n) == 2 && info(op_of(image_, n)).commutative;
  }
  [[nodiscard]] std::size_t hash_of(node_id n) const {
    auto const of_operand = [&](std::uint32_t i) -> std::uint64_t {
      auto const v = image_.operand(n, i);
      return v == absent ? 1 : image_.value(v).constant ? image_.source->constant(v).bytes.size() * 2 + 1 : v * 2ull;
    };
    auto h = mixed(image_.node(n).tag.op, image_.node(n).tag.name);
    if (commutes(n)) return static_cast<std::size_t>(mixed(h, of_operand(0) + of_operand(1)));
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) h = mixed(h, of_operand(i));
    return static_cast<std::size_t>(h);
  }

  // What nobody uses

  void drop() {
    std::vector<node_id> all;
    each([&](node_id n) { all.push_back(n); });
    while (!all.empty()) {
      auto const n = all.back();
      all.pop_back();
      if (!has_meaning(n) || image_.is_read(n)) continue;
      erase(n);
      ++report_.dropped;
    }
  }

  graph_image& image_;
  dialect const& names_;
  clean_options const& options_;
  facts known_;
  congruence same_;
  hash_index<node_id> equal_, told_;
  clean_report report_;
};

}  // namespace detail

/// Takes out of `graph` what is there in vain, until nothing changes: nodes whose operands are constants, or whose
/// results follow from shapes, become constants; of nodes that compute the same, or the same extents of whatever, one
/// stays; nodes whose results nobody uses go. Results that are outputs stay computed, operators without a meaning, with
/// bodies, or that draw numbers stay as they are. Constants are not made where they are larger than those which they
/// take the place of by more than `most_growth` bytes each. They are computed in double precision and rounded to their
/// type, node by node. Linear in the graph, but for what is evaluated, as often as there is something left to do.
template <class Graph>
clean_report clean(Graph& graph, clean_options const& options = {}) {
  static_assert(rewritable_graph<Graph>, "fuse: only a graph whose traits have the edits can be cleaned");
  static constexpr auto const& names = dialect_of<Graph>;
  graph_binding<Graph> bound(graph, names_in(names), names.newest);
  if (bound.cyclic()) return {.error = "the graph has a cycle"};
  clean_report done;
  while (true) {
    auto const more = detail::cleaning(bound.image, names, options).run();
    if (!more.changed()) return done;
    done.folded += more.folded;
    done.shared += more.shared;
    done.dropped += more.dropped;
  }
}

}  // namespace fuse::inline v0
