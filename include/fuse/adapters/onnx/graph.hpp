// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/adapters/onnx/editor.hpp>
#include <fuse/adapters/onnx/messages.hpp>
#include <fuse/adapters/onnx/reader.hpp>
#include <fuse/adapters/onnx/tables.hpp>
#include <fuse/adapters/onnx/writer.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/traits.hpp>

namespace fuse::inline v0::adapters {

/// An ONNX model, adapted in place: reading looks into the messages of `model`, edits are written back by `commit`.
///
///     fuse::adapters::onnx_graph graph(model, folder);
///     if (!graph) return complain(graph.error());
///     fuse::rewrite<rules>(graph);
///     graph.commit();
///
/// `model` must outlive the graph and is not to be changed by others meanwhile. Construction checks the model and is
/// linear in it; tables take about 150 bytes per node. Nodes may stand in any order that has no cycle, and keep it.
class onnx_graph {
 public:
  /// `folder` is where the model's external data lie; without one, external tensors are values without contents.
  explicit onnx_graph(::onnx::ModelProto& model, std::filesystem::path folder = {})
      : tables_(model, std::move(folder)), editor_(tables_) {
    detail::onnx_reader(tables_, error_).read();
  }
  onnx_graph(onnx_graph const&) = delete;
  onnx_graph& operator=(onnx_graph const&) = delete;
  ~onnx_graph() {
    if (!committed_ && editor_.edited()) discard();
  }

  /// Whether the model is sound. One that is not may only be asked for its error.
  [[nodiscard]] explicit operator bool() const { return error_.empty(); }
  /// What is wrong with the model, in one sentence without a full stop; empty for a sound one.
  [[nodiscard]] std::string const& error() const { return error_; }

  /// Whether something was edited. An unedited model is left as it is, to the byte.
  [[nodiscard]] bool edited() const { return editor_.edited() || replaced_; }

  /// Whoever changes the model's messages says so: handles mean nothing afterwards, and a new onnx_graph goes on.
  void replaced() { replaced_ = true; }

  /// Writes the edits into the model. Once: afterwards handles mean nothing, and a new onnx_graph goes on. Linear in
  /// the graphs that were edited.
  void commit() {
    if (committed_ || !editor_.edited()) return;
    detail::onnx_writer(tables_, editor_).write();
    committed_ = true;
  }

  /// Whether functions of the model stand under names of standard operators. No dialect knows the version of such a
  /// model, 0, so that nothing is rewritten: a new operator would be taken for the model's function.
  [[nodiscard]] bool redefines_operators() const { return tables_.redefined; }

  /// Names of the model's functions that stay as they are, and that nobody looks into, because they import another
  /// version of the default domain than the model.
  [[nodiscard]] std::vector<std::string> const& foreign_functions() const { return tables_.foreign_functions; }

  /// Nodes of the graph, of functions that are looked into, and of all bodies.
  [[nodiscard]] std::size_t node_count() const {
    std::size_t count = 0;
    for (auto const& n : tables_.nodes) count += n.alive;
    return count - 1;  // number 0 is none
  }

  [[nodiscard]] detail::onnx_tables const& tables() const { return tables_; }
  [[nodiscard]] detail::onnx_editor& editor() { return editor_; }

 private:
  void discard() {
    for (auto const& entry : tables_.contents)
      if (entry.made) detail::discard_message(entry.initializer);
  }

  detail::onnx_tables tables_;
  detail::onnx_editor editor_;
  std::string error_;
  bool committed_ = false, replaced_ = false;
};

/// The nodes of a body, in its order.
class onnx_node_range {
 public:
  class iterator {
   public:
    using value_type = onnx_node;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(detail::onnx_node_record const* nodes, std::uint32_t at) : nodes_(nodes), at_(at) {}
    onnx_node operator*() const { return {at_}; }
    iterator& operator++() {
      at_ = nodes_[at_].next;
      return *this;
    }
    iterator operator++(int) {
      auto const before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(iterator const& a, iterator const& b) { return a.at_ == b.at_; }

   private:
    detail::onnx_node_record const* nodes_ = nullptr;
    std::uint32_t at_ = 0;
  };

  onnx_node_range(detail::onnx_node_record const* nodes, detail::onnx_graph_record const& of)
      : nodes_(nodes), first_(of.first), length_(of.length) {}
  [[nodiscard]] iterator begin() const { return {nodes_, first_}; }
  [[nodiscard]] iterator end() const { return {nodes_, 0}; }
  [[nodiscard]] std::size_t size() const { return length_; }

 private:
  detail::onnx_node_record const* nodes_;
  std::uint32_t first_, length_;
};

/// The bodies of a node.
class onnx_body_range {
 public:
  class iterator {
   public:
    using value_type = onnx_body;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(std::uint32_t at) : at_(at) {}
    onnx_body operator*() const { return {at_}; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) { return iterator(at_++); }
    friend bool operator==(iterator const& a, iterator const& b) { return a.at_ == b.at_; }

   private:
    std::uint32_t at_ = 0;
  };

  onnx_body_range(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {}
  [[nodiscard]] iterator begin() const { return iterator(first_); }
  [[nodiscard]] iterator end() const { return iterator(first_ + count_); }

 private:
  std::uint32_t first_, count_;
};

}  // namespace fuse::inline v0::adapters

namespace fuse::inline v0 {

/// ONNX models as graphs. An operator of the default domain has its bare name, others "domain::Name"; a call of one of
/// the model's own functions never has the name of a standard operator.
///
/// The functions are part of the graph, but those of the domain "fuse", which stand in for operators, and those that
/// import another version of the default domain than the model does.
template <>
struct graph_traits<adapters::onnx_graph> {
  using graph = adapters::onnx_graph;
  using node = adapters::onnx_node;
  using value = adapters::onnx_value;
  using body = adapters::onnx_body;

  static adapters::onnx_node_range nodes(graph const& g) { return nodes(g, body{}); }
  static adapters::onnx_node_range nodes(graph const& g, body b) {
    return {g.tables().nodes.data(), g.tables().graphs[b.id]};
  }
  static std::string_view op_name(graph const& g, node n) { return g.tables().ops[record(g, n).op]; }
  static std::uint32_t op_key(graph const& g, node n) { return record(g, n).op; }
  static span<value const> operands(graph const& g, node n) { return g.tables().operands(record(g, n)); }
  static span<value const> results(graph const& g, node n) { return g.tables().results_of(record(g, n)); }
  static node producer(graph const& g, value v) { return {g.tables().values[v.id].producer}; }
  static span<value const> inputs(graph const& g) { return inputs(g, body{}); }
  static span<value const> inputs(graph const& g, body b) { return g.tables().graphs[b.id].inputs; }
  static span<value const> outputs(graph const& g) { return outputs(g, body{}); }
  static span<value const> outputs(graph const& g, body b) { return g.tables().outputs(g.tables().graphs[b.id]); }
  static adapters::onnx_body_range bodies(graph const& g, node n) {
    return {record(g, n).first_body, record(g, n).body_count};
  }
  static span<body const> functions(graph const& g) { return g.tables().functions; }
  static std::vector<node> calls(graph const& g, body b) {
    std::vector<node> all;
    for (auto const n : g.tables().graphs[b.id].calls)
      if (record(g, n).alive) all.push_back(n);
    return all;
  }
  static std::size_t index(graph const&, value v) { return v.id; }
  static int version(graph const& g) { return g.tables().version; }

  static std::vector<node> users(graph const& g, value v) {
    std::vector<node> all;
    g.tables().for_each_use(v, [&](std::uint32_t slot) {
      if (auto const n = g.tables().slot_node[slot]; n != 0) all.push_back({n});
    });
    return all;
  }

  static tensor_view constant(graph const& g, value v) {
    auto const at = g.tables().values[v.id].contents;
    return at == 0 ? tensor_view{} : g.tables().contents[at - 1].view;
  }
  static bool overridable(graph const& g, value v) { return g.tables().values[v.id].overridable; }
  static element_type type(graph const& g, value v) { return g.tables().values[v.id].element; }

  static bool shape(graph const& g, value v, std::vector<dimension>& into) {
    auto const& record = g.tables().values[v.id];
    into.clear();
    if (record.contents != 0 && !record.overridable) {
      for (auto const extent : g.tables().contents[record.contents - 1].shape)
        into.push_back({extent < 0 ? -1 : extent, {}});
      return true;
    }
    if (record.type == nullptr || !record.type->has_tensor_type() || !record.type->tensor_type().has_shape())
      return false;
    for (auto const& extent : record.type->tensor_type().shape().dim())
      into.push_back({extent.has_dim_value() && extent.dim_value() >= 0 ? extent.dim_value() : -1,
                      extent.has_dim_param() ? std::string_view(extent.dim_param()) : std::string_view()});
    return true;
  }

  static attribute_view attribute(graph const& g, node n, std::string_view name) {
    using known = adapters::detail::onnx_attribute_record;
    if (record(g, n).made) {
      for (auto const& a : g.tables().made_attributes[record(g, n).first_attribute])
        if (a.name == name) return content_of(a);
      return {};
    }
    auto const* const found = g.tables().attribute_of(record(g, n), name);
    if (found == nullptr) return {};
    if (found->what == known::kind::integer) return found->first;
    if (found->what == known::kind::integers) return found->integers();
    return content_of(g, *found->proto);
  }

  /// Whether two nodes have the same attributes, in whatever order. A reference to a caller's attribute equals nothing.
  static bool same_attributes(graph const& g, node n, node m) {
    auto const &a = record(g, n), &b = record(g, m);
    auto const& t = g.tables();
    if (a.made && b.made) return t.made_attributes[a.first_attribute] == t.made_attributes[b.first_attribute];
    if (a.made || b.made) return a.made ? reads_as_made(t, b, a) : reads_as_made(t, a, b);
    if (a.attribute_count != b.attribute_count) return false;
    for (auto at = a.first_attribute; at < a.first_attribute + a.attribute_count; ++at)
      if (!is_attribute_of(t, b, *t.attributes[at].proto)) return false;
    return true;
  }

  static std::string name(graph const& g, value v) {
    auto const& record = g.tables().values[v.id];
    if (!record.name.empty()) return std::string(record.name);
    return record.producer == 0 ? std::string() : "a result of " + name(g, node{record.producer});
  }
  /// The node's name, or that of its first result where it has none; and the function that it is in.
  static std::string name(graph const& g, node n) {
    return std::string(own_name(g, n)) + g.tables().where(record(g, n).body);
  }

  static node insert(graph& g, node place, new_node<value> const& made) { return g.editor().insert(place, made); }
  static void replace_uses(graph& g, value from, value to) { g.editor().replace_uses(from, to); }
  static void erase(graph& g, node n) { g.editor().erase(n); }
  static value add_constant(graph& g, tensor_view contents, std::string_view origin) {
    return add_constant(g, body{}, contents, origin);
  }
  static value add_constant(graph& g, body b, tensor_view contents, std::string_view origin) {
    return g.editor().add_constant(b, contents, origin);
  }
  static bool declare(graph& g, function_body const& function) { return g.editor().declare(function); }

 private:
  static std::string_view own_name(graph const& g, node n) {
    if (auto const own = record(g, n).name; !own.empty()) return own;
    for (auto const v : results(g, n))
      if (v && !g.tables().values[v.id].name.empty()) return g.tables().values[v.id].name;
    return record(g, n).proto->op_type();
  }
  // Whether a node that was read has this attribute.
  static bool is_attribute_of(adapters::detail::onnx_tables const& t, adapters::detail::onnx_node_record const& read,
                              ::onnx::AttributeProto const& wanted) {
    auto const* const found = t.attribute_of(read, wanted.name());
    std::string one, other;
    return found != nullptr && wanted.ref_attr_name().empty() && adapters::detail::serialize(wanted, one) &&
           adapters::detail::serialize(*found->proto, other) && one == other;
  }
  // Whether a node that was read has what a new one will be written with.
  static bool reads_as_made(adapters::detail::onnx_tables const& t, adapters::detail::onnx_node_record const& read,
                            adapters::detail::onnx_node_record const& made) {
    auto const& attributes = t.made_attributes[made.first_attribute];
    if (attributes.size() != read.attribute_count) return false;
    for (auto const& each : attributes) {
      ::onnx::AttributeProto wanted;
      adapters::detail::fill_attribute(wanted, each);
      if (!is_attribute_of(t, read, wanted)) return false;
    }
    return true;
  }
  // As it will be written.
  static attribute_view content_of(fuse::attribute const& a) {
    auto const* const number = std::get_if<double>(&a.content);
    return number != nullptr ? static_cast<double>(static_cast<float>(*number)) : view_of(a);
  }
  static attribute_view content_of(graph const& g, ::onnx::AttributeProto const& a) {
    if (!a.ref_attr_name().empty()) return opaque_attribute{};
    auto const type = a.type();
    bool const untyped = type == ::onnx::AttributeProto::UNDEFINED;  // as the first versions of ONNX wrote them
    if (type == ::onnx::AttributeProto::INT || (untyped && a.has_i())) return std::int64_t{a.i()};
    if (type == ::onnx::AttributeProto::FLOAT || (untyped && a.has_f())) return static_cast<double>(a.f());
    if (type == ::onnx::AttributeProto::STRING || (untyped && a.has_s())) return std::string_view(a.s());
    if (type == ::onnx::AttributeProto::INTS || (untyped && a.ints_size() != 0))
      return span<std::int64_t const>(a.ints().data(), static_cast<std::size_t>(a.ints_size()));
    if (type == ::onnx::AttributeProto::FLOATS || (untyped && a.floats_size() != 0))
      return span<float const>(a.floats().data(), static_cast<std::size_t>(a.floats_size()));
    if (type == ::onnx::AttributeProto::TENSOR || (untyped && a.has_t()))
      if (auto const view = g.tables().tensors.view(a.t()); view && a.has_t()) return view;
    return opaque_attribute{};
  }
  static adapters::detail::onnx_node_record const& record(graph const& g, node n) { return g.tables().nodes[n.id]; }
};

}  // namespace fuse::inline v0
