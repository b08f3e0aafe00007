// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/core/math.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/onnx_function_writer.hpp>

/// What ONNX and onnxruntime say of norms of channels, InstanceNormalization and GroupNormalization, and the function
/// that stands in for the latter where the operator set has no such operator.
namespace fuse::inline v0::detail::onnx_channel_norms {

[[nodiscard]] constexpr bool is_norm(opcode op) { return op == opcode::instance_norm || op == opcode::group_norm; }

/// Of (batch, channels, one axis or more), with a scale and a bias for each channel.
[[nodiscard]] inline std::string_view refuse(emission const& e) {
  if (!is_norm(e.op) || e.operands.size() != 3) return {};
  auto const& x = e.operands[0];
  if (x.type == element_type::unknown) return "the element type of the norm's input is not known";
  if (!is_floating(x.type)) return "the norm's input is not of a floating element type";
  if (e.to == target::onnxruntime && x.type != element_type::float32 && x.type != element_type::float16)
    return "onnxruntime has a kernel for float and half, and for no other type";
  if (!x.has_rank || x.shape.size() < 3) return "the operator takes inputs of three axes or more";
  for (std::size_t i = 1; i < 3; ++i) {
    auto const& row = e.operands[i];
    if (row.type != x.type) return "scale or bias has another element type than the norm's input";
    if (!row.has_rank || row.shape.size() != 1 || !(row.shape[0] == x.shape[1]))
      return "scale or bias is not provably one element for each channel";
  }
  auto const epsilon = e.number("epsilon");
  if (!(epsilon >= 0) || !math::fits_float(epsilon)) return "the epsilon does not fit the operator's float32 attribute";
  if (e.op == opcode::instance_norm) return {};
  auto const groups = e.number("num_groups");
  if (!x.shape[1].known() || !(groups >= 1) || x.shape[1].value() % static_cast<std::int64_t>(groups) != 0)
    return "the channels are not, or not provably, as many in each group";
  if (e.to == target::onnxruntime)
    return "onnxruntime expands a group norm: an instance norm and what stands around it are faster";
  return {};
}

/// The statistics of a group norm in double, where the input is double.
template <class Attribute>
void complete(emission const& e, std::vector<Attribute>& attributes) {
  if (e.op == opcode::group_norm && !e.operands.empty() && e.operands[0].type == element_type::float64)
    attributes.push_back({"stash_type", std::int64_t{11}});
}

/// Composes the body of a group norm: the instance norm of x as (batch, groups, all else), scale and bias of that as
/// (batch, channels, all else).
template <class Body>
class body_writer : onnx_function_writer<Body> {
  using base = onnx_function_writer<Body>;

 public:
  body_writer(emission const& e, Body& into) : base(e, into) {}

  void write() {
    base::begin("GroupNormalization");
    body_.inputs = {"X", "Scale", "Bias"};
    body_.attributes = {"num_groups", "epsilon"};
    auto const x = base::widened();
    base::list("One", {1});
    base::list("Kept", {0});
    base::list("Others", {-1});
    base::list("Column", {-1, 1});
    base::step("Constant", {}, "GroupCount", {}, {{"value_int", "num_groups"}});
    base::step("Reshape", {"GroupCount", "One"}, "Groups");
    base::step("Shape", {"Scale"}, "Channels");
    of_groups("Ones", 1);
    of_groups("Zeros", 0);
    apart(x, "Groups", "ByGroups");
    base::step("InstanceNormalization", {"ByGroups", "Ones", "Zeros"}, "NormalisedU", {}, {{"epsilon", "epsilon"}});
    auto const n = type_ != computed_ ? base::cast("NormalisedU", "Normalised", type_) : std::string("NormalisedU");
    apart(n, "Channels", "ByChannels");
    base::step("Reshape", {"Scale", "Column"}, "Scales");
    base::step("Reshape", {"Bias", "Column"}, "Biases");
    base::step("Mul", {"ByChannels", "Scales"}, "Scaled");
    base::step("Add", {"Scaled", "Biases"}, "Shifted");
    base::step("Shape", {"X"}, "Whole");
    base::step("Reshape", {"Shifted", "Whole"}, "Y");
  }

 private:
  // With so many elements along axis 1, and one axis behind it.
  void apart(std::string const& of, std::string const& count, std::string const& name) {
    base::step("Concat", {"Kept", count, "Others"}, name + "Shape", {{"axis", std::int64_t{0}}});
    base::step("Reshape", {of, name + "Shape"}, name);
  }
  // That number for each group.
  void of_groups(std::string const& name, double number) {
    base::step("Constant", {}, name + "Once", {{"value", make_tensor(computed_, {1}, {&number, 1})}});
    base::step("Expand", {name + "Once", "Groups"}, name);
  }

  using base::body_, base::computed_, base::e_, base::type_;
};

/// Its parameters reach constants of the body from operator set 12 on.
template <class Body>
[[nodiscard]] bool function(emission const& e, Body& into) {
  if (e.op != opcode::group_norm || e.operands.size() != 3 || e.version < 12) return false;
  into = {};
  body_writer<Body>(e, into).write();
  return true;
}

}  // namespace fuse::inline v0::detail::onnx_channel_norms
