// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fuse/adapters/onnx/kept_texts.hpp>
#include <fuse/adapters/onnx/name_endings.hpp>
#include <fuse/adapters/onnx/scoped_names.hpp>
#include <fuse/adapters/onnx/tensors.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/tensor_view.hpp>

namespace fuse::inline v0::adapters {

/// Handles of an onnx_graph: small numbers, 0 means none. A body is the model's graph (0), a subgraph of a node, or one
/// of the model's functions.
struct onnx_node {
  std::uint32_t id = 0;
  [[nodiscard]] explicit operator bool() const { return id != 0; }
  friend bool operator==(onnx_node, onnx_node) = default;
};
struct onnx_value {
  std::uint32_t id = 0;
  [[nodiscard]] explicit operator bool() const { return id != 0; }
  friend bool operator==(onnx_value, onnx_value) = default;
};
struct onnx_body {
  std::uint32_t id = 0;
  friend bool operator==(onnx_body, onnx_body) = default;
};

namespace detail {

inline constexpr std::uint32_t no_slot = 0xffffffffu;

struct onnx_node_record {
  ::onnx::NodeProto* proto = nullptr;                      // of a new node: none until the edits are written
  std::uint32_t first_attribute = 0, attribute_count = 0;  // of a node that was read; of a new one, its list
  std::string_view name;                                   // kept apart from the message, which lies far away
  // What every edit looks at, side by side:
  std::uint32_t first_body = 0, body_count = 0;
  std::uint32_t op = 0;
  std::uint32_t body = 0;
  std::uint32_t next = 0, previous = 0;               // in the body's order
  std::uint32_t first_operand = 0, first_result = 0;  // among the slots; among the results
  std::uint16_t operand_count = 0, result_count = 0;
  bool alive = true;
  bool made = false;   // by a rewrite
  bool stale = false;  // the names in its message are not those of its values
};

struct onnx_value_record {
  std::string_view name;  // empty: named when the edits are written
  ::onnx::TypeProto const* type = nullptr;
  std::uint32_t producer = 0;
  std::uint32_t first_use = no_slot;
  std::uint32_t body = 0;
  std::uint32_t contents = 0;  // 1 + number of a contents record
  element_type element = element_type::unknown;
  bool input = false;        // of its body
  bool overridable = false;  // an input that has contents
  bool hides = false;        // has the name of a value around its body
  bool pinned = false;       // named by what fuse does not edit
  bool lost_use = false;     // a rewrite took a use away
};

/// An attribute with the beginning of its name and of its integers: rules ask for many that a node has not, and
/// messages lie far away.
struct onnx_attribute_record {
  enum class kind : std::uint8_t { other, integer, integers };

  std::uint64_t head;   // of the name
  std::uint32_t size;   // of the name
  std::uint32_t count;  // of integers
  std::int64_t first;   // of them
  ::onnx::AttributeProto const* proto;
  kind what;

  explicit onnx_attribute_record(::onnx::AttributeProto const& a)
      : head(head_of(a.name())), size(static_cast<std::uint32_t>(a.name().size())), count(0), first(0), proto(&a) {
    what = kind::other;
    if (!a.ref_attr_name().empty()) return;
    if (a.type() == ::onnx::AttributeProto::INT) {
      what = kind::integer;
      first = a.i();
    } else if (a.type() == ::onnx::AttributeProto::INTS) {
      what = kind::integers;
      count = static_cast<std::uint32_t>(a.ints_size());
      if (count != 0) first = a.ints(0);
    }
  }
  [[nodiscard]] span<std::int64_t const> integers() const {
    return {count == 1 ? &first : proto->ints().data(), count};
  }
  [[nodiscard]] static std::uint64_t head_of(std::string_view name) {
    std::uint64_t head = 0;
    std::memcpy(&head, name.data(), name.size() < sizeof head ? name.size() : sizeof head);
    return head;
  }
  [[nodiscard]] bool is(std::string_view name, std::uint64_t its_head) const {
    return head == its_head && size == name.size() && (size <= sizeof head || proto->name() == name);
  }
};

struct onnx_contents {
  tensor_view view{};  // null for strings and the like
  element_type type = element_type::unknown;
  span<std::int64_t const> shape{};
  ::onnx::TensorProto* initializer = nullptr;  // null for the results of Constant nodes
  std::uint32_t value = 0;
  bool made = false;
};

struct onnx_graph_record {
  ::onnx::GraphProto* proto = nullptr;
  ::onnx::FunctionProto* function = nullptr;         // instead, where it is one
  std::uint32_t owner = 0;                           // node
  std::uint32_t parent = 0;                          // body around it
  std::uint32_t scope = 0;                           // the outermost one: the model's graph, or a function
  std::uint32_t first = 0, last = 0, length = 0;     // its nodes
  std::uint32_t first_output = 0, output_count = 0;  // among the slots
  std::vector<onnx_value> inputs{};     // those of bodies include their initializers, which nobody else sees
  std::vector<onnx_value> named{};      // what the names of the outputs meant when the model was read
  std::vector<onnx_value> described{};  // the values of value_info
  std::vector<onnx_node> calls{};       // of a function: all of them; none where not all are known
  bool edited = false;

  [[nodiscard]] auto& nodes() const { return function != nullptr ? *function->mutable_node() : *proto->mutable_node(); }
};

/// "domain::name", as calls say it.
[[nodiscard]] inline std::string name_of(::onnx::FunctionProto const& function) {
  return function.domain() + "::" + function.name();
}

/// A model in numbers. Slots hold operands and outputs; the uses of a value are a list of slots.
struct onnx_tables {
  explicit onnx_tables(::onnx::ModelProto& m, std::filesystem::path folder) : model(&m), tensors(std::move(folder)) {}

  ::onnx::ModelProto* model;
  tensor_store tensors;
  kept_texts texts;
  scoped_names names{texts};
  onnx_name_endings node_names;  // as they were read
  int version = 1;
  bool redefined = false;  // a function of the model stands in for a standard operator
  bool sorted = true;
  bool hiding = false;  // some value hides another
  std::vector<onnx_node_record> nodes{onnx_node_record{}};
  std::vector<onnx_value_record> values{onnx_value_record{}};
  std::vector<onnx_graph_record> graphs;
  std::vector<onnx_body> functions;            // that were read, callers before what they call
  std::vector<std::string> foreign_functions;  // that were not, since they import another version of the default domain
  std::vector<onnx_attribute_record> attributes;
  std::deque<std::vector<attribute>> made_attributes;  // by new node
  std::vector<onnx_contents> contents;
  std::vector<onnx_value> slots;
  std::vector<std::uint32_t> slot_next, slot_node;  // node 0: an output
  std::vector<onnx_value> results;
  std::deque<std::string> ops{std::string()};
  std::vector<std::string const*> training_names;  // values that training_info reads; kept like outputs
  std::vector<onnx_value> leaves;                  // constants of the graph itself

  [[nodiscard]] span<onnx_value const> operands(onnx_node_record const& n) const {
    return {slots.data() + n.first_operand, n.operand_count};
  }
  /// Of a node that was read; null where it has none of that name.
  [[nodiscard]] onnx_attribute_record const* attribute_of(onnx_node_record const& n, std::string_view name) const {
    auto const head = onnx_attribute_record::head_of(name);
    for (auto at = n.first_attribute; at < n.first_attribute + n.attribute_count; ++at)
      if (attributes[at].is(name, head)) return &attributes[at];
    return nullptr;
  }
  [[nodiscard]] span<onnx_value const> results_of(onnx_node_record const& n) const {
    return {results.data() + n.first_result, n.result_count};
  }
  [[nodiscard]] span<onnx_value const> outputs(onnx_graph_record const& g) const {
    return {slots.data() + g.first_output, g.output_count};
  }

  std::uint32_t add_slot(onnx_value v, std::uint32_t node) {
    auto const slot = static_cast<std::uint32_t>(slots.size());
    slots.push_back(v);
    slot_node.push_back(node);
    slot_next.push_back(no_slot);
    if (v) link(slot);
    return slot;
  }
  void link(std::uint32_t slot) {
    auto& record = values[slots[slot].id];
    slot_next[slot] = record.first_use;
    record.first_use = slot;
  }

  /// Calls `visit(slot)` for each use. A slot that was released stays in its list until that list moves.
  template <class Visit>
  void for_each_use(onnx_value v, Visit&& visit) const {
    for (auto slot = values[v.id].first_use; slot != no_slot;) {
      auto const next = slot_next[slot];
      if (slots[slot] == v) visit(slot);
      slot = next;
    }
  }
  [[nodiscard]] bool used(onnx_value v) const {
    for (auto slot = values[v.id].first_use; slot != no_slot; slot = slot_next[slot])
      if (slots[slot] == v) return true;
    return false;
  }

  onnx_value add_value(std::string_view name, std::uint32_t body, std::uint32_t producer = 0) {
    auto& made = values.emplace_back();
    made.name = name;
    made.body = body;
    made.producer = producer;
    return {static_cast<std::uint32_t>(values.size() - 1)};
  }

  /// The name of output `i` of a body; outputs that training reads stand behind those of the graph.
  [[nodiscard]] std::string const& output_name(onnx_graph_record const& g, std::uint32_t i) const {
    if (g.function != nullptr) return g.function->output(static_cast<int>(i));
    auto const listed = static_cast<std::uint32_t>(g.proto->output_size());
    return i < listed ? g.proto->output(static_cast<int>(i)).name() : *training_names[i - listed];
  }

  /// What reports say behind the names of a body: which function it belongs to, nothing where that is none.
  [[nodiscard]] std::string where(std::uint32_t body) const {
    auto const* const function = graphs[graphs[body].scope].function;
    return function == nullptr ? std::string() : std::string(in_function) + name_of(*function);
  }
  static constexpr std::string_view in_function = " in function ";

  [[nodiscard]] std::string describe(onnx_node_record const& n) const {
    auto const& op = ops[n.op];
    if (!n.proto->name().empty()) return "node '" + n.proto->name() + "' (" + op + ")";
    for (auto const& output : n.proto->output())
      if (!output.empty()) return "the node (" + op + ") that computes '" + output + "'";
    return "a node (" + op + ") without name or results";
  }
};

/// "" and "ai.onnx" are one domain.
[[nodiscard]] inline bool is_default_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

}  // namespace detail
}  // namespace fuse::inline v0::adapters
