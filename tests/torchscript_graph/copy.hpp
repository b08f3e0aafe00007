// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <fuse/graph/graph.hpp>

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include "../corpus/names.hpp"

/// Graphs of the corpus, spelled in the second dialect, written as TorchScript by libtorch's own means.
namespace copied {

using corpus::opcode;
using torch::jit::NamedValue;
using torch::jit::Value;

inline constexpr c10::ScalarType scalar_types[] = {c10::ScalarType::Undefined, c10::kFloat, c10::kByte, c10::kChar,
                                                   c10::ScalarType::Undefined, c10::kShort, c10::kInt,  c10::kLong,
                                                   c10::ScalarType::Undefined, c10::kBool,  c10::kHalf, c10::kDouble};
[[nodiscard]] inline c10::ScalarType scalar_type(fuse::element_type type) {
  if (type == fuse::element_type::bfloat16) return c10::kBFloat16;
  return static_cast<std::size_t>(type) < std::size(scalar_types) ? scalar_types[static_cast<std::size_t>(type)]
                                                                  : c10::ScalarType::Undefined;
}
[[nodiscard]] inline at::Tensor tensor(fuse::tensor_view contents) {
  auto made = at::empty({contents.shape.data(), contents.shape.size()}, scalar_type(contents.type));
  std::copy(contents.bytes.begin(), contents.bytes.end(), static_cast<std::byte*>(made.data_ptr()));
  return made;
}

/// An owned graph as TorchScript. `numbers`: constants without axes that are added, as epsilons are, are numbers there.
/// (Factors stay tensors: a number is a double, and one that is folded into a row must not be rounded by it.)
class script {
 public:
  script(fuse::graph const& from, bool numbers) : from_(from), numbers_(numbers) {
    for (auto const v : from.inputs()) {
      auto* const input = values_[v.id] = ir->addInput(std::string(from.name(v)));
      input->setType(type_of(v));
    }
    write(fuse::graph::main_body, ir->block());
    for (auto const v : from.outputs()) ir->registerOutput(value(v));
    ir->lint();
  }

  std::shared_ptr<torch::jit::Graph> ir = std::make_shared<torch::jit::Graph>();

 private:
  c10::TypePtr type_of(fuse::graph::value v) {
    std::vector<fuse::dimension> shape;
    auto const type = c10::TensorType::get()->withScalarType(scalar_type(from_.type(v)));
    if (!from_.shape(v, shape)) return type;
    std::vector<c10::ShapeSymbol> extents;
    for (auto const& d : shape) {
      if (d.extent >= 0)
        extents.push_back(c10::ShapeSymbol::fromStaticSize(d.extent));
      else if (d.symbol.empty())
        extents.push_back(c10::ShapeSymbol::newSymbol());
      else
        extents.push_back(symbols_.try_emplace(std::string(d.symbol), c10::ShapeSymbol::newSymbol()).first->second);
    }
    return type->withSymbolicShapes(c10::SymbolicShape(extents));
  }

  void write(fuse::graph::body b, torch::jit::Block* into) {
    for (auto const n : from_.nodes(b)) {
      torch::jit::WithInsertPoint const at(into);
      values_[from_.result(n).id] = node(n);
    }
  }

  Value* value(fuse::graph::value v) {
    if (auto const at = values_.find(v.id); at != values_.end()) return at->second;
    torch::jit::WithInsertPoint const first(*ir->block()->nodes().begin());
    return values_[v.id] = ir->insertConstant(tensor(from_.constant(v)));
  }

  // What every element of a constant is, cast or not.
  bool known(fuse::graph::value v, double& number) const {
    while (from_.producer(v)) {
      auto const op = corpus::op_named(from_.op(from_.producer(v)));
      if (op != opcode::cast && op != opcode::identity) return false;
      v = from_.operands(from_.producer(v))[0];
    }
    auto const held = from_.constant(v);
    if (!held || held.size() == 0 || (held.size() == 1 && held.shape.size() > 2) || from_.overridable(v)) return false;
    number = held.number(0);
    for (std::size_t i = 1; i < held.size(); ++i)
      if (held.number(i) != number) return false;
    return true;
  }

  // Without axes, whatever it is computed from: beside such a tensor a number would have a say in the result's type.
  bool scalar(fuse::graph::value v) const {
    std::vector<fuse::dimension> shape;
    if (from_.shape(v, shape)) return shape.empty();
    auto const n = from_.producer(v);
    if (from_.attribute(n, "squeeze") != nullptr) return true;  // it may have dropped them all
    auto const operands = from_.operands(n);
    return std::all_of(operands.begin(), operands.end(), [this](auto o) { return scalar(o); });
  }

  fuse::element_type floating_type(fuse::graph::value v) const {
    if (auto const type = from_.type(v); type != fuse::element_type::unknown) return type;
    auto const n = from_.producer(v);
    if (auto const* cast = from_.attribute(n, "dtype"); cast != nullptr)
      return static_cast<fuse::element_type>(std::get<std::int64_t>(cast->content));
    return floating_type(from_.operands(n)[0]);
  }

  Value* node(fuse::graph::node n) {
    auto const operands = from_.operands(n);
    auto const list = [&](char const* name) -> c10::IValue {
      auto const* found = from_.attribute(n, name);
      if (found == nullptr) return {};
      return std::get<std::vector<std::int64_t>>(found->content);
    };
    auto const integer = [&](char const* name, std::int64_t fallback) {
      auto const* found = from_.attribute(n, name);
      return found == nullptr ? fallback : std::get<std::int64_t>(found->content);
    };
    auto const op = corpus::op_named(from_.op(n));
    std::vector<NamedValue> in;
    for (auto const v : operands) {
      auto const held = from_.constant(v);
      double number = 0;
      if (op == opcode::pow && !in.empty() && known(v, number) && scalar(operands[0]))
        in.emplace_back(ir->insertConstant(at::scalar_tensor(number, scalar_type(floating_type(operands[0])))));
      else if (op == opcode::pow && !in.empty() && known(v, number))
        in.emplace_back(c10::IValue(number));  // a tensor of another type would make the result one of that type
      else if (numbers_ && (op == opcode::add || op == opcode::sub) && !in.empty() && held && !from_.overridable(v) &&
               !scalar(operands[0]) && scalar(v))
        in.emplace_back(c10::IValue(held.number(0)));
      else
        in.emplace_back(value(v));
    }
    auto const call = [&](char const* name, std::vector<NamedValue> const& more = {}) {
      in.insert(in.end(), more.begin(), more.end());
      return ir->insert(c10::Symbol::fromQualString(name), in);
    };
    switch (op) {
      case opcode::add: return call("aten::add");
      case opcode::sub: return call("aten::sub");
      case opcode::mul: return call("aten::mul");
      case opcode::div: return call("aten::div");
      case opcode::neg: return call("aten::neg");
      case opcode::reciprocal: return call("aten::reciprocal");
      case opcode::sqrt: return call("aten::sqrt");
      case opcode::rsqrt: return call("aten::rsqrt");
      case opcode::pow: return call("aten::pow");
      case opcode::square: return call("aten::square");
      case opcode::abs: return call("aten::abs");
      case opcode::relu: return call("aten::relu");
      case opcode::matmul: return call("aten::matmul");
      case opcode::identity: return call("aten::contiguous");
      case opcode::mean: return call("aten::mean", {list("dim"), c10::IValue(integer("squeeze", 0) == 0)});
      case opcode::sum: return call("aten::sum", {list("dim"), c10::IValue(integer("squeeze", 0) == 0)});
      case opcode::cast:
        return call("aten::to", {c10::IValue(static_cast<std::int64_t>(
                                    scalar_type(static_cast<fuse::element_type>(integer("dtype", 0)))))});
      case opcode::unsqueeze: {
        auto dims = list("dim").toIntVector();
        std::sort(dims.begin(), dims.end());
        auto* v = in[0].value(*ir);
        for (auto const dim : dims)  // one at a time; those from the end are the last ones
          v = ir->insert(c10::aten::unsqueeze, {v, c10::IValue(dim < 0 ? std::int64_t{-1} : dim)});
        return v;
      }
      case opcode::if_else: {
        auto* const branch = ir->insertNode(ir->create(c10::prim::If, {ir->insert(c10::aten::Bool, in)}, 1));
        for (auto const b : from_.bodies(n)) {
          auto* const block = branch->addBlock();
          write(b, block);
          block->registerOutput(value(from_.outputs(b)[0]));
        }
        branch->output()->setType(branch->blocks()[0]->outputs()[0]->type());
        return branch->output();
      }
      default: throw std::logic_error("no such operator in TorchScript: " + std::string(from_.op(n)));
    }
  }

  fuse::graph const& from_;
  bool numbers_;
  std::map<std::uint32_t, Value*> values_;
  std::map<std::string, c10::ShapeSymbol> symbols_;
};

}  // namespace copied
