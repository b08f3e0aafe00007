// SPDX-License-Identifier: BSL-1.0
#include "load.hpp"

#include <onnx/onnx_pb.h>
#include <Eigen/Core>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <unordered_map>

namespace mini {
namespace {

using onnx::TensorProto;

// What the runtime computes in: all numbers as floats, which hold halves exactly, all integers in 64 bits.
char type_of(int data_type) {
  switch (data_type) {
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
    case TensorProto::DOUBLE:
    case TensorProto::FLOAT: return 'f';
    case TensorProto::INT64:
    case TensorProto::INT32: return 'i';
    case TensorProto::BOOL: return 'b';
    case TensorProto::UINT8: return 'u';
    case TensorProto::INT8: return 's';
    default: return '?';
  }
}

std::int64_t kept(std::int64_t data_type) {
  switch (type_of(static_cast<int>(data_type))) {
    case 'f': return TensorProto::FLOAT;
    case 'i': return TensorProto::INT64;
    default: return data_type;
  }
}

// Elements are packed in `raw_data`, or one by one in the field of their type.
template <class Stored, class Element, class Field>
elements<Element> elements_of(TensorProto const& t, Field const& field) {
  elements<Element> all;
  if (!t.has_raw_data()) {
    for (auto const element : field) all.push_back(static_cast<Element>(element));
    return all;
  }
  for (std::size_t at = 0; at + sizeof(Stored) <= t.raw_data().size(); at += sizeof(Stored)) {
    Stored element;
    std::memcpy(&element, t.raw_data().data() + at, sizeof(Stored));
    all.push_back(static_cast<Element>(element));
  }
  return all;
}

template <class Half>
floats floats_of(TensorProto const& t) {
  floats all;
  for (auto const bits : elements_of<std::uint16_t, std::int64_t>(t, t.int32_data()))
    all.push_back(static_cast<float>(Eigen::numext::bit_cast<Half>(static_cast<std::uint16_t>(bits))));
  return all;
}

template <class Elements>
tensor checked(TensorProto const& t, Elements all) {
  shape dims(t.dims().begin(), t.dims().end());
  if (count(dims) != static_cast<std::int64_t>(all.size()))
    throw std::runtime_error("tensor '" + t.name() + "' has " + std::to_string(all.size()) + " elements, expected " +
                             std::to_string(count(dims)));
  return {std::move(dims), std::move(all)};
}

tensor read(TensorProto const& t) {
  if (t.data_location() == TensorProto::EXTERNAL)
    throw std::runtime_error("tensor '" + t.name() + "' lies in another file, expected all in one");
  switch (t.data_type()) {
    case TensorProto::FLOAT: return checked(t, elements_of<float, float>(t, t.float_data()));
    case TensorProto::DOUBLE: return checked(t, elements_of<double, float>(t, t.double_data()));
    case TensorProto::FLOAT16: return checked(t, floats_of<Eigen::half>(t));
    case TensorProto::BFLOAT16: return checked(t, floats_of<Eigen::bfloat16>(t));
    case TensorProto::INT64: return checked(t, elements_of<std::int64_t, std::int64_t>(t, t.int64_data()));
    case TensorProto::INT32: return checked(t, elements_of<std::int32_t, std::int64_t>(t, t.int32_data()));
    case TensorProto::BOOL:
    case TensorProto::UINT8: return checked(t, elements_of<std::uint8_t, std::uint8_t>(t, t.int32_data()));
    case TensorProto::INT8: return checked(t, elements_of<std::int8_t, std::int8_t>(t, t.int32_data()));
    default:
      throw std::runtime_error("tensor '" + t.name() + "' has elements of type " +
                               TensorProto::DataType_Name(static_cast<TensorProto::DataType>(t.data_type())) +
                               ", expected float, double, float16, bfloat16, int32, int64, bool, uint8 or int8");
  }
}

attribute read(onnx::AttributeProto const& a) {
  switch (a.type()) {
    case onnx::AttributeProto::INT: return a.i();
    case onnx::AttributeProto::FLOAT: return a.f();
    case onnx::AttributeProto::STRING: return a.s();
    case onnx::AttributeProto::INTS: return std::vector<std::int64_t>(a.ints().begin(), a.ints().end());
    case onnx::AttributeProto::TENSOR: return read(a.t());
    default: throw std::runtime_error("attribute '" + a.name() + "' is of a kind that no operator here has");
  }
}

void describe(onnx::ValueInfoProto const& from, value& to) {
  auto const& type = from.type().tensor_type();
  to.type = type_of(type.elem_type());
  to.has_dims = type.has_shape();
  to.dims.clear();
  for (auto const& d : type.shape().dim()) {
    if (d.has_dim_value())
      to.dims.emplace_back(d.dim_value());
    else
      to.dims.emplace_back(d.dim_param());
  }
}

void read(onnx::ModelProto const& model, graph& into) {
  for (auto const& set : model.opset_import())
    if (set.domain().empty()) into.version = static_cast<int>(set.version());
  std::unordered_map<std::string, value*> by_name;
  auto const named = [&](std::string const& name) -> value* {
    if (name.empty()) return nullptr;
    auto& v = by_name[name];
    if (v == nullptr) v = into.make_value(name);
    return v;
  };

  auto const& from = model.graph();
  for (auto const& t : from.initializer()) {
    auto* const v = named(t.name());
    if (t.data_type() == TensorProto::FLOAT16) into.tolerance = std::max(into.tolerance, 5e-3);
    if (t.data_type() == TensorProto::BFLOAT16) into.tolerance = std::max(into.tolerance, 4e-2);
    v->constant = read(t);
    v->type = type_of(t.data_type());
  }
  for (auto const& input : from.input()) {
    auto* const v = named(input.name());
    describe(input, *v);
    if (!v->constant) into.inputs.push_back(v);
  }
  for (auto const& n : from.node()) {
    std::vector<value*> operands, results;
    for (auto const& name : n.input()) operands.push_back(named(name));
    for (auto const& name : n.output()) results.push_back(named(name));
    if (n.op_type() == "Constant" && n.attribute_size() == 1 && n.attribute(0).has_t()) {
      results[0]->constant = read(n.attribute(0).t());
      results[0]->type = type_of(n.attribute(0).t().data_type());
      continue;
    }
    auto* const made = into.insert(into.nodes.end(), n.domain().empty() ? n.op_type() : n.domain() + "::" + n.op_type(),
                                   std::move(operands), std::move(results));
    for (auto const& a : n.attribute()) made->attributes.emplace(a.name(), read(a));
    if (n.op_type() == "Cast") made->attributes["to"] = kept(made->get<std::int64_t>("to", 0));
  }
  for (auto const& v : from.value_info()) describe(v, *named(v.name()));
  for (auto const& output : from.output()) into.outputs.push_back(named(output.name()));
}

template <class Message>
void parse(std::string const& file, Message& into) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot be opened");
  if (!into.ParseFromIstream(&stream)) throw std::runtime_error("is not a serialised " + into.GetTypeName());
}

template <class Read>
std::string told(std::string const& file, Read const& read_it) {
  try {
    read_it();
    return {};
  } catch (std::exception const& error) {
    return file + ": " + error.what();
  }
}

}  // namespace

std::string load_model(std::string const& file, graph& into) {
  return told(file, [&] {
    onnx::ModelProto model;
    parse(file, model);
    read(model, into);
  });
}

std::string load_tensor(std::string const& file, std::string& name, tensor& into) {
  return told(file, [&] {
    TensorProto t;
    parse(file, t);
    name = t.name();
    into = read(t);
  });
}

}  // namespace mini
