// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/traits.hpp>

namespace fuse::inline v0 {

/// Dense numbers of nodes and values in an image, in topological order where the image was built.
using node_id = std::uint32_t;
using value_id = std::uint32_t;
inline constexpr std::uint32_t absent = 0xffffffffu;

/// What an operator name means to whoever builds the image: the code of the name and of the neutral operator (0:
/// unknown).
struct operator_tag {
  std::uint16_t name = 0;
  std::uint16_t op = 0;
};

class graph_source;

/// Gives operator names their tags while an image is built.
struct operator_names {
  struct found {
    operator_tag tag;
    bool by_node = false;  ///< nodes of this name may have other tags, which `settle` tells
  };
  found (*find)(void const* context, std::string_view name, int version) = nullptr;
  /// The tag of a node of `graph` that `find` gave `tag`, with so many results.
  operator_tag (*settle)(void const* context, operator_tag tag, int version, graph_source const& graph, node_id n,
                         std::uint32_t results) = nullptr;
  void const* context = nullptr;
};

/// Tells graph types apart: an address for each.
template <class Graph>
[[nodiscard]] void const* graph_type_of() {
  static constexpr char mark = 0;
  return &mark;
}

/// The contents behind an image: constants, attributes, types, names, read from the user's graph when they are asked
/// for, and the edits, passed on to it. The one place where the graph's own type is erased.
class graph_source {
 public:
  graph_source() = default;
  graph_source(graph_source const&) = delete;
  graph_source& operator=(graph_source const&) = delete;
  virtual ~graph_source() = default;

  [[nodiscard]] virtual tensor_view constant(value_id) const = 0;
  [[nodiscard]] virtual attribute_view attribute_of(node_id, std::string_view) const = 0;
  /// Whether two nodes of one operator have equal attributes; false where that is not known.
  [[nodiscard]] virtual bool same_attributes(node_id, node_id) const = 0;
  [[nodiscard]] virtual element_type type(value_id) const = 0;
  [[nodiscard]] virtual bool shape(value_id, std::vector<dimension>&) const = 0;
  [[nodiscard]] virtual std::string_view op_name(node_id) const = 0;
  [[nodiscard]] virtual std::string node_name(node_id) const = 0;
  [[nodiscard]] virtual std::string value_name(value_id) const = 0;
  [[nodiscard]] virtual bool has_shapes() const = 0;  ///< whether the graph type can tell shapes at all
  [[nodiscard]] virtual void const* graph() const = 0;
  /// Which type the graph is of, see `graph_type_of`; and the graph's handle of a value, null of one that it lacks.
  [[nodiscard]] virtual void const* graph_type() const { return nullptr; }
  [[nodiscard]] virtual void const* handle(value_id) const { return nullptr; }

  /// The edits. `insert` and `add_constant` bind the new handles to the next free numbers of the image. They return
  /// false where the graph cannot do it or made something else; `forget` then takes back what was made. `region`, where
  /// all that read the constant see it: the graph itself, or a function.
  virtual bool insert(node_id place, std::string_view op, span<value_id const> operands,
                      span<attribute const> attributes, span<element_type const> results, std::string_view origin) = 0;
  virtual bool add_constant(std::uint32_t region, tensor_view contents, std::string_view origin) = 0;
  virtual void replace_uses(value_id from, value_id to) = 0;
  virtual void erase(node_id) = 0;
  /// Erases the nodes from `first` on, which nobody uses, and takes back the numbers of values from `first_value` on.
  virtual void forget(node_id first, value_id first_value) = 0;
  virtual bool declare(function_body const&) = 0;
};

/// A graph as the engine sees it: numbered nodes and values in flat arrays, with the users of every value. Bodies of
/// control flow are part of it (their nodes stand before the node that owns them), so a captured value has its users.
/// So are functions, after all else and callers before what they call: bodies that no node owns, and that see nothing
/// around them.
///
/// Reading is constant time and safe from many threads. Memory: about 40 bytes a node, 20 a value, 16 an operand.
template <class Source>
class basic_graph_image {
 public:
  struct node_record {
    operator_tag tag{};
    std::uint16_t operand_count = 0, result_count = 0;
    std::uint32_t first_operand = 0;  ///< slot of operand 0
    value_id first_result = absent;
    std::uint32_t region = 0;  ///< 0 the graph itself, else a body or a function
    bool alive = true;
    bool has_bodies = false;
    std::uint64_t order = 0;                   ///< position: operands have smaller ones
    node_id previous = absent, next = absent;  ///< neighbours in that order
  };
  struct value_record {
    node_id producer = absent;
    std::uint32_t first_use = absent, use_count = 0;
    std::uint32_t region = 0;
    std::uint16_t outputs = 0;     ///< how often it is an output of the graph or of a body
    bool constant = false;         ///< has contents that no caller may override
    mutable bool watched = false;  ///< a condition has looked at who uses it
  };
  struct use_record {
    value_id value = absent;
    node_id node = absent;
    std::uint32_t next = absent, previous = absent;
  };
  struct region_record {
    node_id owner = absent;
    std::uint32_t parent = absent;  ///< the region around it; the graph itself and functions have none
    std::uint32_t first_output = 0, output_count = 0;
  };
  struct function_record {
    std::uint32_t region = 0;
    node_id first_node = absent;              ///< its nodes, those of bodies inside among them, begin here
    detail::plain_vector<value_id> inputs{};  ///< input i is operand i of each call
    detail::plain_vector<node_id> calls{};    ///< all of them; none where not all are known
  };

  int version = 1;
  Source* source = nullptr;

  [[nodiscard]] std::uint32_t node_count() const { return node_count_; }
  [[nodiscard]] std::uint32_t value_count() const { return value_count_; }
  [[nodiscard]] std::uint32_t alive_count() const { return alive_count_; }  ///< nodes that were not erased
  [[nodiscard]] node_id first_node() const { return first_; }               ///< in order; others by `next`
  [[nodiscard]] node_record const& node(node_id n) const { return nodes_[n]; }
  [[nodiscard]] value_record const& value(value_id v) const { return values_[v]; }
  [[nodiscard]] node_id producer(value_id v) const { return values_[v].producer; }
  [[nodiscard]] value_id operand(node_id n, std::uint32_t i) const { return uses_[nodes_[n].first_operand + i].value; }
  [[nodiscard]] value_id result(node_id n, std::uint32_t i = 0) const { return nodes_[n].first_result + i; }
  [[nodiscard]] std::uint32_t result_index(value_id v) const { return v - nodes_[values_[v].producer].first_result; }
  [[nodiscard]] std::uint32_t operand_count(node_id n) const { return nodes_[n].operand_count; }
  [[nodiscard]] use_record const& use_at(std::uint32_t slot) const { return uses_[slot]; }
  [[nodiscard]] span<region_record const> regions() const { return regions_; }
  /// No node uses `v`, and it is no output.
  [[nodiscard]] bool unused(value_id v) const { return values_[v].use_count == 0 && values_[v].outputs == 0; }
  /// A result of `n` is used, or is an output.
  [[nodiscard]] bool is_read(node_id n) const {
    for (std::uint32_t i = 0; i < nodes_[n].result_count; ++i)
      if (!unused(result(n, i))) return true;
    return false;
  }
  /// `users` is how many use `v`, outputs among them, and nothing else of its node is used.
  [[nodiscard]] bool used_by(value_id v, std::uint32_t users) const {
    if (v == absent || values_[v].use_count + values_[v].outputs != users) return false;
    auto const n = producer(v);
    for (std::uint32_t k = 0; n != absent && k < nodes_[n].result_count; ++k)
      if (result(n, k) != v && !unused(result(n, k))) return false;
    return true;
  }
  /// The outputs of a body as they were when the image was built, in order.
  [[nodiscard]] span<value_id const> region_outputs(std::uint32_t region) const {
    return span(region_outputs_).subspan(regions_[region].first_output, regions_[region].output_count);
  }

  /// For whoever goes from the last node to the first: has nodes some way before `n`, and their operands and results,
  /// fetched while something else is done. As far ahead as sums of sums reach: 96 took 3 % longer with a large graph.
  /// Always inlined: else g++ leaves out what does nothing.
  [[gnu::always_inline]] void expect_before(node_id n) const {
    auto const& record = nodes_[n];
    if (n >= ahead) __builtin_prefetch(nodes_.data() + (n - ahead));
    if (record.first_operand >= ahead) __builtin_prefetch(uses_.data() + (record.first_operand - ahead));
    if (record.first_result >= ahead) __builtin_prefetch(values_.data() + (record.first_result - ahead));
  }
  static constexpr std::uint32_t ahead = 192;

  /// Calls `visit(node_id)` once per use of `v`, the latest use first.
  template <class Visit>
  void for_each_user(value_id v, Visit&& visit) const {
    for (auto at = values_[v].first_use; at != absent; at = uses_[at].next) visit(uses_[at].node);
  }

  /// Whether a value that lives in region `inner` may be read in region `from`: its own or one around it.
  [[nodiscard]] bool visible(std::uint32_t inner, std::uint32_t from) const {
    while (from != inner && from != absent) from = regions_[from].parent;
    return from == inner;
  }
  /// The outermost region around `region`: the graph itself, or a function.
  [[nodiscard]] std::uint32_t scope_of(std::uint32_t region) const {
    while (regions_[region].parent != absent) region = regions_[region].parent;
    return region;
  }
  [[nodiscard]] std::vector<function_record> const& functions() const { return functions_; }

  // Building and editing. Whoever edits an image edits the source in the same order: rewrite/transaction.hpp does both
  // for new nodes and constants, rewrite/application.hpp for what they replace.

  std::uint32_t add_region(node_id owner, std::uint32_t parent) {
    regions_.push_back({owner, parent, 0, 0});
    return static_cast<std::uint32_t>(regions_.size() - 1);
  }
  void set_region_owner(std::uint32_t at, node_id owner) { regions_[at].owner = owner; }
  void add_function(function_record made) { functions_.push_back(std::move(made)); }

  value_id add_value(std::uint32_t region = 0, node_id producer = absent) {
    auto& made = values_.emplace_back();
    made.region = region;
    made.producer = producer;
    return value_count_++;
  }

  void set_constant(value_id v, bool constant) { values_[v].constant = constant; }
  void add_output(value_id v) { ++values_[v].outputs; }
  /// Also counts as `add_output`, unless it is `absent`. The outputs of one region are added one after the other.
  void add_region_output(std::uint32_t region, value_id v) {
    if (v != absent) add_output(v);
    auto& record = regions_[region];
    if (record.output_count++ == 0) record.first_output = static_cast<std::uint32_t>(region_outputs_.size());
    region_outputs_.push_back(v);
  }
  void set_has_bodies(node_id n) { nodes_[n].has_bodies = true; }

  /// Adds a node with fresh results, without a place yet. Operands are attached by `attach_operands`, after all results
  /// are known.
  node_id add_node(operator_tag tag, std::uint32_t result_count, std::uint32_t region) {
    auto const id = node_count_++;
    ++alive_count_;
    auto& made = nodes_.emplace_back();
    made.tag = tag;
    made.result_count = static_cast<std::uint16_t>(result_count);
    made.region = region;
    made.first_result = value_count_;
    made.first_operand = static_cast<std::uint32_t>(uses_.size());
    for (std::uint32_t i = 0; i < result_count; ++i) add_value(region, id);
    return id;
  }

  /// Puts node `n` after all others, or right before another. Positions leave gaps; one that is full is made anew,
  /// which is rare.
  void place_last(node_id n) {
    nodes_[n].previous = last_;
    nodes_[n].order = last_ == absent ? gap : nodes_[last_].order + gap;
    (last_ == absent ? first_ : nodes_[last_].next) = n;
    last_ = n;
  }
  void place_before(node_id n, node_id place) {
    auto const previous = nodes_[place].previous;
    auto const low = previous == absent ? 0 : nodes_[previous].order, high = nodes_[place].order;
    nodes_[n].previous = previous;
    nodes_[n].next = place;
    nodes_[place].previous = n;
    (previous == absent ? first_ : nodes_[previous].next) = n;
    nodes_[n].order = low + (high - low) / 2;
    if (high - low > 1) return;
    std::uint64_t order = 0;
    for (auto at = first_; at != absent; at = nodes_[at].next) nodes_[at].order = order += gap;
  }

  /// Gives node `n` its operands, once. `absent` is an absent operand.
  void attach_operands(node_id n, span<value_id const> operands) {
    for (auto v : operands) attach_operand(n, v);
  }
  /// The same, one by one: the next operand of `n`, before another node is given any.
  [[gnu::always_inline]] void attach_operand(node_id n, value_id v) {
    auto const slot = static_cast<std::uint32_t>(uses_.size());
    auto& record = nodes_[n];
    if (record.operand_count++ == 0) record.first_operand = slot;
    auto& use = uses_.emplace_back();
    use.value = v;
    use.node = n;
    if (v != absent) link(slot, use, values_[v]);
  }

  /// Makes every use of `from`, outputs included, one of `to`.
  void redirect(value_id from, value_id to) {
    auto& source_record = values_[from];
    for (auto at = source_record.first_use; at != absent;) {
      auto const next = uses_[at].next;
      uses_[at].value = to;
      link(at);
      at = next;
    }
    source_record.first_use = absent;
    source_record.use_count = 0;
    values_[to].outputs = static_cast<std::uint16_t>(values_[to].outputs + source_record.outputs);
    source_record.outputs = 0;
  }

  /// Removes a node none of whose results is used.
  void erase(node_id n) {
    auto& record = nodes_[n];
    for (std::uint32_t i = 0; i < record.operand_count; ++i) {
      auto const slot = record.first_operand + i;
      if (uses_[slot].value != absent) unlink(slot);
      uses_[slot].value = absent;
    }
    record.alive = false;
    --alive_count_;
    take_out(record);
  }

  /// Takes back the last node, whose results nobody uses, or the last value, which no node produced.
  void pop_node() {
    auto const& record = nodes_.back();
    if (record.next != absent) take_out(record);  // it was given a place
    for (std::uint32_t i = 0; i < record.operand_count; ++i)
      if (uses_[record.first_operand + i].value != absent) unlink(record.first_operand + i);
    uses_.resize(record.first_operand);
    values_.resize(record.first_result);
    value_count_ = record.first_result;
    nodes_.pop_back();
    --node_count_;
    --alive_count_;
  }
  void pop_value() {
    values_.pop_back();
    --value_count_;
  }

  void reserve(std::size_t nodes, std::size_t values, std::size_t uses) {
    nodes_.reserve(nodes);
    values_.reserve(values);
    uses_.reserve(uses);
  }

 private:
  void take_out(node_record const& record) {
    (record.previous == absent ? first_ : nodes_[record.previous].next) = record.next;
    (record.next == absent ? last_ : nodes_[record.next].previous) = record.previous;
  }

  // Every list is in the order of its own history, newest first, never of addresses.
  void link(std::uint32_t slot) { link(slot, uses_[slot], values_[uses_[slot].value]); }
  void link(std::uint32_t slot, use_record& use, value_record& of) {
    use.previous = absent;
    use.next = of.first_use;
    if (of.first_use != absent) uses_[of.first_use].previous = slot;
    of.first_use = slot;
    ++of.use_count;
  }
  void unlink(std::uint32_t slot) {
    auto& record = values_[uses_[slot].value];
    auto const [value, node, next, previous] = uses_[slot];
    (previous == absent ? record.first_use : uses_[previous].next) = next;
    if (next != absent) uses_[next].previous = previous;
    --record.use_count;
  }

  static constexpr std::uint64_t gap = std::uint64_t{1} << 24;
  node_id first_ = absent, last_ = absent;
  std::uint32_t node_count_ = 0, value_count_ = 0, alive_count_ = 0;  // a vector would divide
  detail::plain_vector<node_record> nodes_;
  detail::plain_vector<value_record> values_;
  detail::plain_vector<use_record> uses_;
  detail::plain_vector<region_record> regions_{1};
  detail::plain_vector<value_id> region_outputs_;
  std::vector<function_record> functions_;
};
using graph_image = basic_graph_image<graph_source>;

#ifdef FUSE_REWRITE_SEPARATE
extern template class basic_graph_image<graph_source>;
#endif

}  // namespace fuse::inline v0
