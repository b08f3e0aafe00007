// SPDX-License-Identifier: BSL-1.0
#pragma once

// The parts of TorchScript's IR in fuse's terms: types, constants, the names of operators and of their arguments.

#include <fuse/graph/attribute.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/tensor.hpp>

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace torchscript {

namespace jit = torch::jit;

inline constexpr std::pair<c10::ScalarType, fuse::element_type> element_types[] = {
    {c10::kFloat, fuse::element_type::float32}, {c10::kDouble, fuse::element_type::float64},
    {c10::kHalf, fuse::element_type::float16},  {c10::kBFloat16, fuse::element_type::bfloat16},
    {c10::kLong, fuse::element_type::int64},    {c10::kInt, fuse::element_type::int32},
    {c10::kShort, fuse::element_type::int16},   {c10::kChar, fuse::element_type::int8},
    {c10::kByte, fuse::element_type::uint8},    {c10::kBool, fuse::element_type::boolean},
};
[[nodiscard]] inline fuse::element_type element_of(c10::ScalarType type) {
  for (auto const& [theirs, ours] : element_types)
    if (theirs == type) return ours;
  return fuse::element_type::other;
}
[[nodiscard]] inline c10::ScalarType scalar_of(fuse::element_type type) {
  for (auto const& [theirs, ours] : element_types)
    if (ours == type) return theirs;
  return c10::ScalarType::Undefined;
}
/// Whether TorchScript has tensors of all these.
[[nodiscard]] inline bool are_types(fuse::span<fuse::element_type const> types) {
  return std::all_of(types.begin(), types.end(), [](auto type) {
    return type == fuse::element_type::unknown || scalar_of(type) != c10::ScalarType::Undefined;
  });
}
[[nodiscard]] inline c10::TypePtr tensor_of(fuse::element_type type) {
  auto const known = scalar_of(type);
  return known == c10::ScalarType::Undefined ? c10::TensorType::get() : c10::TensorType::get()->withScalarType(known);
}

/// A text that stays: TorchScript keeps each name once, for ever.
[[nodiscard]] inline char const* kept(std::string const& name) {
  return c10::Symbol::fromQualString(name).toQualString();
}
[[nodiscard]] inline std::string_view symbol_of(c10::ShapeSymbol const& extent) {
  return kept("extent::" + std::to_string(-extent.value()));
}

template <class Visit>
void for_each_node(jit::Block& block, Visit const& visit) {
  for (auto* const n : block.nodes()) {
    visit(n);
    for (auto* const inner : n->blocks()) for_each_node(*inner, visit);
  }
}

/// The input that the operator's schema calls `name`, or null.
[[nodiscard]] inline jit::Value* argument(jit::Node* n, std::string_view name) {
  auto const* const schema = n->maybeSchema();
  if (schema == nullptr) return nullptr;
  auto const& arguments = schema->arguments();
  for (std::size_t i = 0; i < arguments.size() && i < n->inputs().size(); ++i)
    if (arguments[i].name() == name) return n->input(i);
  return nullptr;
}

/// Whether libtorch would take `n` to write to memory: a schema says so, or nothing says that it does not.
[[nodiscard]] inline bool may_write(jit::Node* n) {
  if (n->kind() == c10::prim::Constant) return false;  // most of those that no schema tells of
  if (auto const* const schema = n->maybeSchema(); schema != nullptr)
    return schema->is_mutable() || (schema->aliasAnalysis() != c10::AliasAnalysisKind::FROM_SCHEMA &&
                                    schema->aliasAnalysis() != c10::AliasAnalysisKind::PURE_FUNCTION);
  static c10::Symbol const harmless[] = {c10::prim::GetAttr,       c10::prim::If,           c10::prim::Loop,
                                         c10::prim::ListConstruct, c10::prim::ListUnpack,   c10::prim::TupleConstruct,
                                         c10::prim::TupleUnpack,   c10::prim::DictConstruct};
  return std::find(std::begin(harmless), std::end(harmless), n->kind()) == std::end(harmless);
}

/// An operator with its overload, and whatever makes it another one than the schema's name tells.
[[nodiscard]] inline char const* operator_name(jit::Node* n, bool written) {
  auto const* const schema = n->maybeSchema();
  if (schema == nullptr) return n->kind().toQualString();
  std::string name = n->kind().toQualString();
  if (!schema->overload_name().empty()) name += '.' + schema->overload_name();
  if (written) return kept(name + " of memory that is written to");
  if (auto* const alpha = argument(n, "alpha")) {
    auto const factor = jit::toIValue(alpha);
    if (!factor || !factor->isScalar() || factor->toScalar().toDouble() != 1) return kept(name + " with alpha");
  }
  if (auto* const type = argument(n, "dtype"); type != nullptr && !type->mustBeNone() && n->kind() != c10::aten::to)
    return kept(name + " with dtype");
  return kept(name);
}

/// The operator and the schema of a name with its overload; no schema where nobody has registered it.
[[nodiscard]] inline std::pair<c10::Symbol, c10::FunctionSchema const*> operator_named(std::string_view name) {
  auto const dot = name.find('.');
  auto const kind = c10::Symbol::fromQualString(std::string(name.substr(0, dot)));
  auto const overload = dot == name.npos ? std::string_view{} : name.substr(dot + 1);
  for (auto const& known : jit::getAllOperatorsFor(kind))
    if (known->schema().overload_name() == overload) return {kind, &known->schema()};
  return {kind, nullptr};
}

/// Whether a new node's argument `at` is one of its attributes, and no operand.
[[nodiscard]] inline bool is_attribute(c10::FunctionSchema const* schema, std::size_t at,
                                       fuse::span<fuse::attribute const> attributes) {
  if (schema == nullptr || at >= schema->arguments().size()) return false;
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](auto const& given) { return given.name == schema->arguments()[at].name(); });
}

/// Whether a new node can be given these: each is an argument of its schema, a number, a list of integers or a text.
[[nodiscard]] inline bool are_arguments(c10::FunctionSchema const* schema,
                                        fuse::span<fuse::attribute const> attributes) {
  return std::all_of(attributes.begin(), attributes.end(), [&](auto const& given) {
    bool const kept = !std::holds_alternative<fuse::tensor>(given.content) &&
                      !std::holds_alternative<std::vector<float>>(given.content);
    return kept && schema != nullptr && schema->argumentIndexWithName(given.name).has_value();
  });
}

/// What a new node reads as argument `at`: an attribute of that name, or what the schema says.
[[nodiscard]] inline c10::IValue argument_value(c10::FunctionSchema const* schema, std::size_t at,
                                                fuse::span<fuse::attribute const> attributes) {
  if (schema == nullptr || at >= schema->arguments().size()) return {};
  auto const& wanted = schema->arguments()[at];
  for (auto const& given : attributes) {
    if (given.name != wanted.name()) continue;
    if (auto const* list = std::get_if<std::vector<std::int64_t>>(&given.content)) return *list;
    if (auto const* number = std::get_if<double>(&given.content)) return *number;
    if (auto const* text = std::get_if<std::string>(&given.content)) return *text;
    if (auto const* number = std::get_if<std::int64_t>(&given.content)) {
      if (given.name == "dtype") return static_cast<std::int64_t>(scalar_of(static_cast<fuse::element_type>(*number)));
      if (wanted.type()->kind() == c10::TypeKind::BoolType) return *number != 0;
      if (wanted.type()->kind() == c10::TypeKind::FloatType) return static_cast<double>(*number);
      if (wanted.type()->kind() == c10::TypeKind::ListType) return std::vector<std::int64_t>{*number};
      return *number;
    }
  }
  return wanted.default_value() ? *wanted.default_value() : c10::IValue{};
}

/// A constant that is no tensor: a number, or a list of integers whether it is one constant or made of them.
/// `number(value)`: a pointer to what one in front of it holds, or null.
template <class Number>
[[nodiscard]] fuse::tensor number_or_list(jit::Value const* v, Number const& number) {
  auto const list_of = [](std::vector<std::int64_t> const& all) {
    return fuse::make_tensor<std::int64_t>({static_cast<std::int64_t>(all.size())}, all);
  };
  if (v->node()->kind() == c10::prim::ListConstruct) {
    std::vector<std::int64_t> all;
    for (auto* const element : v->node()->inputs()) {
      fuse::tensor const* const held = number(element);
      if (held == nullptr || held->type != fuse::element_type::int64) return {};
      all.push_back(fuse::tensor_view(*held).integer(0));
    }
    return v->type()->isSubtypeOf(*c10::ListType::ofInts()) ? list_of(all) : fuse::tensor{};
  }
  if (v->node()->kind() != c10::prim::Constant) return {};
  auto const held = jit::toIValue(v);
  if (!held) return {};
  if (held->isDouble()) return fuse::make_tensor<double>({}, std::array{held->toDouble()});
  if (held->isInt()) return fuse::make_tensor<std::int64_t>({}, std::array{held->toInt()});
  if (held->isBool()) return fuse::make_tensor<bool>({}, std::array{held->toBool()});
  return held->isIntList() ? list_of(held->toIntVector()) : fuse::tensor{};
}

/// What a constant tensor holds, where fuse can read it: in memory, its elements side by side.
[[nodiscard]] inline fuse::tensor_view contents(jit::Value const* v) {
  auto const* const n = v->node();
  if (n->kind() != c10::prim::Constant || !n->hasAttribute(c10::attr::value) ||
      n->kindOf(c10::attr::value) != jit::AttributeKind::t)
    return {};
  at::Tensor const& t = n->t(c10::attr::value);
  if (!t.defined() || t.layout() != c10::kStrided || !t.device().is_cpu() || !t.is_contiguous() || t.is_neg())
    return {};
  return {element_of(t.scalar_type()),
          {t.sizes().data(), t.sizes().size()},
          {static_cast<std::byte const*>(t.data_ptr()), t.nbytes()}};
}

/// A constant for an operator to read. Vectors of int64 are lists: what extents and axes are.
[[nodiscard]] inline c10::IValue constant_of(fuse::tensor_view held) {
  if (held.type == fuse::element_type::int64 && held.shape.size() == 1) {
    std::vector<std::int64_t> list;
    for (std::size_t i = 0; i < held.size(); ++i) list.push_back(held.integer(i));
    return list;
  }
  auto made = at::empty({held.shape.data(), held.shape.size()}, scalar_of(held.type));
  if (!held.bytes.empty()) std::memcpy(made.data_ptr(), held.bytes.data(), held.bytes.size());
  return made;
}

/// The operator and the line of the program that it comes from.
[[nodiscard]] inline std::string place_of(jit::Node* n) {
  std::string text = n->kind().toQualString();
  if (auto const at = n->sourceRange().file_line_col())
    text += " at " + std::get<0>(*at) + ':' + std::to_string(std::get<1>(*at));
  return text;
}

/// A value by its name in the program, or by where it was made: numbers tell nobody anything.
[[nodiscard]] inline std::string name_of(jit::Value* v) {
  return v->hasDebugName() ? '%' + v->debugName() : place_of(v->node());
}

}  // namespace torchscript
