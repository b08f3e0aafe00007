// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/tensor_view.hpp>

namespace fuse::inline v0 {

/// One extent of a shape as a graph tells it: known (>= 0), symbolic (a name; equal names are equal extents), or
/// unknown.
struct dimension {
  std::int64_t extent = -1;
  std::string_view symbol{};
};

/// A node that a rewrite inserts. `Value{}` among the operands is an absent optional operand.
template <class Value>
struct new_node {
  std::string_view
      op;  ///< name in the graph's dialect, with its domain where the dialect writes one ("com.microsoft::Gelu")
  span<Value const> operands;
  span<attribute const> attributes;
  span<element_type const> result_types;  ///< one per result; `unknown` marks a result that nobody uses
  std::string_view origin;                ///< name of the node that it replaces, for whoever names nodes
};

/// A function with a body, for graphs that can hold one: what an operator becomes where the operator set lacks it.
struct function_body {
  struct step {
    std::string op;
    std::vector<std::string> operands, results;
    std::vector<attribute> attributes;
    std::vector<std::pair<std::string, std::string>>
        references;  ///< attribute of the step <- attribute of the function

    friend bool operator==(step const&, step const&) = default;
  };
  std::string name;  ///< with its domain: "fuse::RMSNormalization_scale"
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<step> steps;

  friend bool operator==(function_body const&, function_body const&) = default;
};

/// The one customisation point: how fuse reads and edits a graph of type `Graph`, which it need not own.
///
/// Specialise it with static members. REQUIRED, the least that can be matched and rewritten:
///
///     using node = ...;   using value = ...;      // regular and cheap to copy; a value-initialised one means "none"
///     range of node   nodes(Graph const&)                     each node once, in a stable order
///     string_view     op_name(Graph const&, node)             as the dialect spells it
///     range of value  operands(Graph const&, node)            value{} where an optional operand is absent
///     range of value  results(Graph const&, node)
///     node            producer(Graph const&, value)           node{} for graph inputs and constants
///     range of value  outputs(Graph const&)
///     node            insert(Graph&, node place, new_node<value> const&)   before `place`, in its body; node{}
///                                                                          refuses what the graph cannot hold: the
///                                                                          rewrite is taken back
///     void            replace_uses(Graph&, value from, value to)           a graph output keeps its name
///     void            erase(Graph&, node)                                  nobody uses its results any more
///
/// OPTIONAL, with what it costs to leave one out:
///
///     static constexpr auto& dialect = ...;             a constexpr fuse::dialect_table in a namespace; else ONNX's
///     int             version(Graph const&)             operator set version; else the newest
///     range of value  inputs(Graph const&)              else the values that nothing produces
///     tensor_view     constant(Graph const&, value)     null when it is none; else no constants: no epsilon matches
///     bool            overridable(Graph const&, value)  a caller may replace the constant; else false
///     value           add_constant(Graph&, tensor_view, string_view origin)    value{} refuses; else rules that need
///                                                       one are refused
///     element_type    type(Graph const&, value)         else known only where it follows; rewrites need it
///     bool            shape(Graph const&, value, vector<dimension>&)
///                                                       false when not even the rank is known; else `trust_shapes`
///     attribute_view  attribute(Graph const&, node, string_view)               else each attribute has its default;
///                                                       what it shows is read before the next is asked for
///     bool            same_attributes(Graph const&, node, node)                else such nodes never compute one value
///     string          name(Graph const&, value), name(Graph const&, node)      else numbers in reports
///     size_t          index(Graph const&, value)        dense and stable; else a hash table of values (std::hash)
///     integral        op_key(Graph const&, node)        equal keys, equal names: a name is looked up once a key
///     range of node   users(Graph const&, value)        else nothing: fuse keeps its own index; graph_laws compares
///     range of body   bodies(Graph const&, node)        with nodes(g, body), inputs(g, body), outputs(g, body); of an
///                                                       If, first what is done where it is true; else nodes have none
///     range of body   functions(Graph const&)           bodies that no node owns and that see nothing around them,
///                                                       callers before what they call; besides, calls(g, body), the
///                                                       nodes whose operand i is input i: all of them, or none where
///                                                       not all are known; else nothing is found inside of functions
///     value           add_constant(Graph&, body, tensor_view, string_view origin)
///                                                       ... for the nodes of a function; else as without the above
///     bool            declare(Graph&, function_body const&)
///                                                       whether the graph has it now; else operators that need one
///                                                       are refused
template <class Graph>
struct graph_traits;

}  // namespace fuse::inline v0
