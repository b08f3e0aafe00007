// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fuse/adapters/onnx/graph.hpp>
#include <fuse/adapters/onnx/messages.hpp>
#include <fuse/partition/partition.hpp>

namespace fuse::inline v0::adapters {

/// The domain of functions that `outline` makes.
inline constexpr std::string_view outlined_domain = "fuse.group";

namespace detail {

using node_list = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// Calls `visit(nodes)` for the nodes of each function of a model that is no group, of its graph, and of all graphs
/// below them; and `visit_graph` for these graphs.
template <class Visit, class VisitGraph>
void for_each_list(::onnx::ModelProto& model, Visit const& visit, VisitGraph const& visit_graph) {
  std::vector<::onnx::GraphProto*> graphs;
  auto const visit_nodes = [&](node_list& nodes) {
    visit(nodes);
    for (auto& node : nodes)
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) graphs.push_back(attribute.mutable_g());
        for (auto& body : *attribute.mutable_graphs()) graphs.push_back(&body);
      }
  };
  for (auto& function : *model.mutable_functions())
    if (function.domain() != outlined_domain) visit_nodes(*function.mutable_node());
  graphs.push_back(model.mutable_graph());
  while (!graphs.empty()) {
    auto& graph = *graphs.back();
    graphs.pop_back();
    visit_graph(graph);
    visit_nodes(*graph.mutable_node());
  }
}
template <class Visit>
void for_each_list(::onnx::ModelProto& model, Visit const& visit) {
  for_each_list(model, visit, [](::onnx::GraphProto const&) {});
}

/// What the nodes of a function refer to of its caller's attributes is handed on to the call.
inline void hand_on_attributes(::onnx::FunctionProto& function, ::onnx::NodeProto& call) {
  std::unordered_set<std::string_view> known;
  for (auto const& node : function.node())
    for (auto const& attribute : node.attribute()) {
      auto const& name = attribute.ref_attr_name();
      if (name.empty() || !known.insert(name).second) continue;
      function.add_attribute(name);
      auto& given = *call.add_attribute();
      given.set_name(name);
      given.set_ref_attr_name(name);
      given.set_type(attribute.type());
    }
}
inline void import_outlined(operator_sets& into) {
  for (auto const& import : into)
    if (import.domain() == outlined_domain) return;
  auto& import = *into.Add();
  import.set_domain(std::string(outlined_domain));
  import.set_version(1);
}

/// The numbers in a text of numbers and blanks; none where it is something else.
[[nodiscard]] inline std::vector<std::size_t> numbers_in(std::string const& text) {
  std::vector<std::size_t> numbers;
  auto const* at = text.data();
  auto const* const end = at + text.size();
  while (at != end) {
    std::size_t number = 0;
    auto const [rest, wrong] = std::from_chars(at, end, number);
    if (wrong != std::errc{} || (rest != end && *rest != ' ')) return {};
    numbers.push_back(number);
    at = rest == end ? rest : rest + 1;
  }
  return numbers;
}

}  // namespace detail

/// Makes a function of the model of each group, in the domain `fuse.group`, and a call of it where the group's last
/// node stood, in the graph or in a function, whose attributes it hands on. Names stay what they are, inside and
/// outside; inputs and outputs of a function are the group's. Groups inside of functions that are groups stay where
/// they are, and those that nobody reads.
///
/// `groups` are those of `graph`, which has no edits that are not committed; else nothing is done. The IR version rises
/// to 8 where it is lower. Returns how many functions were made; `graph` tells nothing afterwards. Linear in the model.
inline std::size_t outline(onnx_graph& graph, partitioned<onnx_graph> const& groups) {
  using traits = graph_traits<onnx_graph>;
  if (!graph || graph.edited()) return 0;
  auto const& tables = graph.tables();
  auto& model = *tables.model;
  std::unordered_set<std::string> taken;
  for (auto const& function : model.functions())
    if (function.domain() == outlined_domain) taken.insert(function.name());

  struct outlined {
    ::onnx::FunctionProto *function, *caller;
    std::size_t left;  // of its nodes
  };
  std::vector<outlined> made;
  std::unordered_map<::onnx::NodeProto const*, std::size_t> group_of;
  std::size_t number = 0;
  for (auto const& group : groups.groups) {
    auto* const caller = tables.graphs[tables.graphs[tables.nodes[group.nodes[0].id].body].scope].function;
    if (group.outputs.empty() || (caller != nullptr && caller->domain() == outlined_domain)) continue;
    auto& function = *model.add_functions();
    do function.set_name(std::string(name_of(group.kind)) + '_' + std::to_string(number++));
    while (taken.contains(function.name()));
    function.set_domain(std::string(outlined_domain));
    for (auto const v : group.inputs) function.add_input(traits::name(graph, v));
    for (auto const v : group.outputs) function.add_output(traits::name(graph, v));
    for (auto const n : group.nodes) group_of.emplace(tables.nodes[n.id].proto, made.size());
    made.push_back({&function, caller, group.nodes.size()});
  }
  if (made.empty()) return 0;

  auto const call = [&](::onnx::FunctionProto& function) {
    auto* const node = detail::make_message<::onnx::NodeProto>(model);
    node->set_op_type(function.name());
    node->set_domain(function.domain());
    *node->mutable_input() = function.input();
    *node->mutable_output() = function.output();
    detail::hand_on_attributes(function, *node);
    return node;
  };
  auto const outline_in = [&](detail::node_list& nodes) {
    auto const all = detail::take_all(nodes);
    for (std::size_t at = 0; at < all.size(); ++at) {
      auto const found = group_of.find(all[at]);
      if (found == group_of.end()) {
        nodes.UnsafeArenaAddAllocated(all[at]);
        continue;
      }
      auto& of = made[found->second];
      of.function->mutable_node()->UnsafeArenaAddAllocated(all[at]);
      auto& places = *of.function->mutable_doc_string();
      places += (places.empty() ? "" : " ") + std::to_string(at);
      if (--of.left == 0) nodes.UnsafeArenaAddAllocated(call(*of.function));
    }
  };
  detail::for_each_list(model, outline_in, [&](::onnx::GraphProto& in) {
    if (model.ir_version() < detail::functions_since) detail::allow_functions(model, in);
  });
  for (auto const& each : made) {
    auto& imports = each.caller == nullptr ? *model.mutable_opset_import() : *each.caller->mutable_opset_import();
    detail::import_domains(*each.function, imports);
    detail::import_outlined(imports);
  }
  detail::import_outlined(*model.mutable_opset_import());
  if (model.ir_version() < detail::functions_since) model.set_ir_version(detail::functions_since);
  graph.replaced();
  return made.size();
}

/// Takes back what `outline` did: the nodes of its functions stand where their calls are, in a model that nobody
/// changed since each at its old place, and the functions are gone. A call that somebody renamed, or made a second one
/// of, stays. Returns how many calls went. Linear in the model.
inline std::size_t inline_groups(::onnx::ModelProto& model) {
  std::unordered_map<std::string, ::onnx::FunctionProto*> functions;
  for (auto& function : *model.mutable_functions())
    if (function.domain() == outlined_domain) functions.emplace(function.name(), &function);
  auto const same = [](auto const& a, auto const& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  std::unordered_map<::onnx::FunctionProto const*, std::size_t> calls;
  detail::for_each_list(model, [&](detail::node_list const& all) {
    for (auto const& node : all)
      if (auto const at = functions.find(node.op_type()); node.domain() == outlined_domain && at != functions.end())
        calls[at->second] +=
            same(node.input(), at->second->input()) && same(node.output(), at->second->output()) ? 1 : 2;
  });

  std::unordered_set<::onnx::FunctionProto const*> gone;
  detail::for_each_list(model, [&](detail::node_list& all) {
    struct placed {
      ::onnx::NodeProto* node;
      std::size_t place;  // where it stood, or none
    };
    constexpr auto none = static_cast<std::size_t>(-1);
    std::vector<placed> nodes;
    bool known = true;
    for (auto* const node : detail::take_all(all)) {
      auto const at = node->domain() == outlined_domain ? functions.find(node->op_type()) : functions.end();
      if (at == functions.end() || calls[at->second] != 1) {
        nodes.push_back({node, none});
        continue;
      }
      gone.insert(at->second);
      auto const places = detail::numbers_in(at->second->doc_string());
      auto const inside = detail::take_all(*at->second->mutable_node());
      known = known && places.size() == inside.size();
      for (std::size_t i = 0; i < inside.size(); ++i) nodes.push_back({inside[i], known ? places[i] : none});
      detail::discard_message(node);
    }
    std::vector<::onnx::NodeProto*> order(nodes.size(), nullptr);
    for (auto const& [node, place] : nodes) {
      if (place == none) continue;
      known = known && place < order.size() && order[place] == nullptr;
      if (known) order[place] = node;
    }
    std::size_t free = 0;
    for (auto const& [node, place] : nodes) {
      if (known && place != none) continue;
      while (known && order[free] != nullptr) ++free;
      order[free++] = node;
    }
    for (auto* const node : order) all.UnsafeArenaAddAllocated(node);
  });
  if (gone.empty()) return 0;
  bool needed = false;
  for (auto const& [name, function] : functions) needed = needed || !gone.contains(function);
  detail::keep_if(*model.mutable_functions(),
                  [&](auto const& function, std::size_t) { return !gone.contains(&function); });
  if (needed) return gone.size();
  auto const forget = [](detail::operator_sets& imports) {
    detail::keep_if(imports, [](auto const& import, std::size_t) { return import.domain() != outlined_domain; });
  };
  forget(*model.mutable_opset_import());
  for (auto& function : *model.mutable_functions()) forget(*function.mutable_opset_import());
  return gone.size();
}

}  // namespace fuse::inline v0::adapters
