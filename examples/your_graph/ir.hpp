// SPDX-License-Identifier: BSL-1.0
#pragma once

// A little compiler's intermediate representation, as somebody else might have written it: it knows nothing of fuse.
// Instructions are shared, have one result each, know their users, and keep their attributes in a map.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ir {

enum class element { unknown, boolean, i32, i64, f16, bf16, f32, f64 };

inline constexpr std::array<std::string_view, 8> element_names{"unknown", "boolean", "i32", "i64",
                                                               "f16",     "bf16",    "f32", "f64"};

inline std::string_view name_of(element type) { return element_names[static_cast<std::size_t>(type)]; }

enum class opcode {
  parameter,
  literal,
  add,
  subtract,
  multiply,
  divide,
  negate,
  reciprocal,
  square,
  sqrt,
  rsqrt,
  power,
  absolute,
  average,
  sum,
  insert_axes,
  broadcast,
  convert,
  matrix_product,
  relu,
  layer_norm,
  rms_norm
};

inline constexpr std::array<std::string_view, 22> opcode_names{
    "parameter",      "literal", "add",        "subtract", "multiply", "divide", "negate",      "reciprocal", "square",
    "sqrt",           "rsqrt",   "power",      "absolute", "average",  "sum",    "insert_axes", "broadcast",  "convert",
    "matrix_product", "relu",    "layer_norm", "rms_norm"};

inline std::string_view name_of(opcode op) { return opcode_names[static_cast<std::size_t>(op)]; }

inline std::optional<opcode> opcode_named(std::string_view name) {
  auto const found = std::find(opcode_names.begin(), opcode_names.end(), name);
  if (found == opcode_names.end()) return std::nullopt;
  return static_cast<opcode>(found - opcode_names.begin());
}

using attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;
using attribute_map = std::map<std::string, attribute, std::less<>>;

struct instruction;
using ref = std::shared_ptr<instruction>;

struct instruction {
  opcode op{};
  std::string name{};
  std::vector<ref> operands{};
  std::vector<instruction*> users{};  // one entry per use
  ir::attribute_map attributes{};
  element type = element::unknown;   // of the result
  std::vector<std::int64_t> dims{};  // of the result; -1 where only a run tells
  bool has_dims = false;
  std::vector<std::byte> contents{};  // of a literal, or what a parameter is unless the caller says otherwise
  std::list<ref>::iterator place{};   // in the body; literals and parameters stand in none

  bool is_leaf() const { return op == opcode::parameter || op == opcode::literal; }
};

class function {
 public:
  std::list<ref> body{};
  std::vector<std::pair<std::string, ref>> results{};
  std::vector<ref> parameters{};

  ref parameter(std::string name, std::vector<std::int64_t> dims, element type = element::f32,
                std::vector<std::byte> contents = {}) {
    auto made = leaf(opcode::parameter, type, std::move(dims), std::move(contents), std::move(name));
    parameters.push_back(made);
    return made;
  }
  ref literal(element type, std::vector<std::int64_t> dims, std::vector<std::byte> contents) {
    return leaf(opcode::literal, type, std::move(dims), std::move(contents));
  }
  ref literal(std::vector<std::int64_t> dims, std::vector<float> const& contents) {
    auto const bytes = std::as_bytes(std::span(contents));
    return literal(element::f32, std::move(dims), {bytes.begin(), bytes.end()});
  }
  ref convert(ref const& from, element to) { return insert(body.end(), opcode::convert, to, {from}); }
  // The result is of the first operand's type.
  ref append(opcode op, std::vector<ref> operands, ir::attribute_map attributes = {}) {
    auto const type = operands.front()->type;
    return insert(body.end(), op, type, std::move(operands), std::move(attributes));
  }
  ref insert(std::list<ref>::iterator before, opcode op, element type, std::vector<ref> operands,
             ir::attribute_map attributes = {}) {
    auto made = make(op, type, std::move(operands));
    made->attributes = std::move(attributes);
    made->place = body.insert(before, made);
    return made;
  }
  void replace_all_uses(ref const& from, ref const& to) {
    for (auto* user : std::exchange(from->users, {}))
      for (auto& operand : user->operands)
        if (operand == from) {
          operand = to;
          to->users.push_back(user);
        }
    for (auto& [name, result] : results)
      if (result == from) result = to;
  }
  void erase(ref const& i) {
    for (auto const& operand : i->operands) std::erase(operand->users, i.get());
    body.erase(i->place);
  }

 private:
  ref make(opcode op, element type, std::vector<ref> operands, std::string name = {}) {
    auto made = std::make_shared<instruction>();
    made->op = op;
    made->type = type;
    made->name = name.empty() ? "v" + std::to_string(++made_) : std::move(name);
    made->operands = std::move(operands);
    for (auto const& operand : made->operands) operand->users.push_back(made.get());
    return made;
  }
  ref leaf(opcode op, element type, std::vector<std::int64_t> dims, std::vector<std::byte> contents,
           std::string name = {}) {
    auto made = make(op, type, {}, std::move(name));
    made->dims = std::move(dims);
    made->has_dims = true;
    made->contents = std::move(contents);
    return made;
  }
  int made_ = 0;
};

inline std::ostream& operator<<(std::ostream& out, instruction const& i) {
  if (i.op != opcode::literal) return out << i.name;
  if (i.type == element::f32 && i.contents.size() == sizeof(float)) {
    float number;
    std::memcpy(&number, i.contents.data(), sizeof number);
    return out << number;
  }
  out << "literal";
  for (auto const extent : i.dims) out << '[' << extent << ']';
  return out;
}

inline std::ostream& operator<<(std::ostream& out, function const& f) {
  for (auto const& i : f.body) {
    out << "  " << i->name << " = " << name_of(i->op);
    for (auto const& operand : i->operands) out << ' ' << *operand;
    if (i->op == opcode::convert) out << " to " << name_of(i->type);
    for (auto const& [name, content] : i->attributes) {
      out << ' ' << name << '=';
      if (auto const* whole = std::get_if<std::int64_t>(&content)) out << *whole;
      if (auto const* number = std::get_if<double>(&content)) out << *number;
      if (auto const* text = std::get_if<std::string>(&content)) out << *text;
      if (auto const* list = std::get_if<std::vector<std::int64_t>>(&content))
        for (auto const element : *list) out << (element == list->front() ? "" : ",") << element;
    }
    out << '\n';
  }
  for (auto const& [name, result] : f.results) out << "  return " << name << " = " << *result << '\n';
  return out;
}

}  // namespace ir
