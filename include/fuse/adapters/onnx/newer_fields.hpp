// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <fuse/adapters/onnx/wire_fields.hpp>

namespace fuse::inline v0::adapters::detail {

/// What a field holds: text, numbers, or a message of that name.
enum class onnx_part : std::uint8_t {
  text,
  integer,
  integers,
  model,
  graph,
  node,
  function,
  tensor,
  value_info,
  attribute,
  entry,
  device_configuration,
  node_configuration,
  sharding,
  device_group,
  sharded_dim,
  simple_sharded_dim,
};

[[nodiscard]] constexpr std::string_view message_name(onnx_part part) {
  switch (part) {
    case onnx_part::model: return "ModelProto";
    case onnx_part::graph: return "GraphProto";
    case onnx_part::node: return "NodeProto";
    case onnx_part::function: return "FunctionProto";
    case onnx_part::tensor: return "TensorProto";
    case onnx_part::value_info: return "ValueInfoProto";
    case onnx_part::attribute: return "AttributeProto";
    case onnx_part::entry: return "StringStringEntryProto";
    case onnx_part::device_configuration: return "DeviceConfigurationProto";
    case onnx_part::node_configuration: return "NodeDeviceConfigurationProto";
    case onnx_part::sharding: return "ShardingSpecProto";
    case onnx_part::device_group: return "IntIntListEntryProto";
    case onnx_part::sharded_dim: return "ShardedDimProto";
    case onnx_part::simple_sharded_dim: return "SimpleShardedDimProto";
    default: return "list of integers";
  }
}

struct newer_field {
  onnx_part in;
  std::uint32_t number;
  onnx_part holds;
  std::string_view name;
};

/// The fields that ONNX got after 1.12, up to 1.23. A parser of an older ONNX keeps them as unknown fields. A row that
/// the parser knows is never asked for.
inline constexpr newer_field newer_fields[] = {
    {onnx_part::model, 26, onnx_part::device_configuration, "configuration"},
    {onnx_part::graph, 16, onnx_part::entry, "metadata_props"},
    {onnx_part::node, 8, onnx_part::text, "overload"},
    {onnx_part::node, 9, onnx_part::entry, "metadata_props"},
    {onnx_part::node, 10, onnx_part::node_configuration, "device_configurations"},
    {onnx_part::function, 11, onnx_part::attribute, "attribute_proto"},
    {onnx_part::function, 12, onnx_part::value_info, "value_info"},
    {onnx_part::function, 13, onnx_part::text, "overload"},
    {onnx_part::function, 14, onnx_part::entry, "metadata_props"},
    {onnx_part::tensor, 16, onnx_part::entry, "metadata_props"},
    {onnx_part::value_info, 4, onnx_part::entry, "metadata_props"},
    {onnx_part::device_configuration, 1, onnx_part::text, "name"},
    {onnx_part::device_configuration, 2, onnx_part::integer, "num_devices"},
    {onnx_part::device_configuration, 3, onnx_part::text, "device"},
    {onnx_part::node_configuration, 1, onnx_part::text, "configuration_id"},
    {onnx_part::node_configuration, 2, onnx_part::sharding, "sharding_spec"},
    {onnx_part::node_configuration, 3, onnx_part::integer, "pipeline_stage"},
    {onnx_part::sharding, 1, onnx_part::text, "tensor_name"},
    {onnx_part::sharding, 2, onnx_part::integers, "device"},
    {onnx_part::sharding, 3, onnx_part::device_group, "index_to_device_group_map"},
    {onnx_part::sharding, 4, onnx_part::sharded_dim, "sharded_dim"},
    {onnx_part::device_group, 1, onnx_part::integer, "key"},
    {onnx_part::device_group, 2, onnx_part::integers, "value"},
    {onnx_part::sharded_dim, 1, onnx_part::integer, "axis"},
    {onnx_part::sharded_dim, 2, onnx_part::simple_sharded_dim, "simple_sharding"},
    {onnx_part::simple_sharded_dim, 1, onnx_part::integer, "dim_value"},
    {onnx_part::simple_sharded_dim, 2, onnx_part::text, "dim_param"},
    {onnx_part::simple_sharded_dim, 3, onnx_part::integer, "num_shards"},
};

/// Null for a field that the newest ONNX does not know either.
[[nodiscard]] constexpr newer_field const* find_newer_field(onnx_part in, std::uint32_t number) {
  for (auto const& field : newer_fields)
    if (field.in == in && field.number == number) return &field;
  return nullptr;
}

/// read_fields of what a parser did not know, which is a set of fields, or bytes where ONNX was built for
/// protobuf-lite.
template <class Unknown, class Visit>
[[nodiscard]] std::string read_unknown(Unknown const& fields, int deepest, Visit&& visit) {
  if constexpr (std::is_convertible_v<Unknown const&, std::string_view>) {
    return read_fields(fields, deepest, visit);
  } else {
    for (int i = 0; i < fields.field_count(); ++i) {
      auto const& field = fields.field(i);
      if (field.type() != std::remove_cvref_t<decltype(field)>::TYPE_LENGTH_DELIMITED) continue;
      if (!visit(static_cast<std::uint32_t>(field.number()), std::string_view(field.length_delimited()))) break;
    }
    return {};
  }
}

/// Which of several functions of one name a function is, or a node calls; nearly always empty.
template <class Message>
[[nodiscard]] std::string_view overload_of(Message const& message) {
  if constexpr (requires { message.overload(); }) {
    return message.overload();
  } else {
    constexpr std::uint32_t overload = requires { message.op_type(); }
    ? 8 : 13;
    std::string_view found;
    static_cast<void>(read_unknown(message.unknown_fields(), 100, [&](std::uint32_t number, std::string_view content) {
      if (number == overload) found = content;  // the last one counts
      return true;
    }));
    return found;
  }
}

}  // namespace fuse::inline v0::adapters::detail
