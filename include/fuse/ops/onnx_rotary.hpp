// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/ops/dialect.hpp>
#include <fuse/ops/onnx_function_writer.hpp>

/// What ONNX says of rotary embeddings, and the function that stands in for one where the operator set has no such
/// operator.
namespace fuse::inline v0::detail::onnx_rotary {

/// Of (batch, heads, sequence, size), or of (batch, sequence, heads * size) with a parameter `num_heads`, by tables of
/// (batch, sequence, size / 2). The function takes tables of one batch for all, too; so does onnxruntime's operator,
/// which has them as (sequence, size / 2) and is told the first position.
[[nodiscard]] inline std::string_view refuse(emission const& e) {
  bool const at = e.op == opcode::rotary_embedding_at;
  if ((e.op != opcode::rotary_embedding && !at) || e.operands.size() < 3 || (!at && e.has(3))) return {};
  auto const &x = e.operands[0], &cosines = e.operands[at ? 2 : 1], &sines = e.operands[at ? 3 : 2];
  if (at && (!(e.operands[1].number == 0) || e.operands[1].shape.size() != 1))
    return "the first position is not provably 0, in one element of one axis";
  if (x.type == element_type::unknown) return "the element type of what is turned is not known";
  if (!is_floating(x.type) || x.type == element_type::float64)
    return "the operator takes float, half and bfloat16, and no other type";
  if (cosines.type != x.type || sines.type != x.type) return "the operator takes operands of one element type";
  if (!x.has_rank || (x.shape.size() != 3 && x.shape.size() != 4))
    return "the operator takes inputs of three or four axes";
  std::size_t const rank = at ? 2 : 3;
  if (!cosines.has_rank || !sines.has_rank || cosines.shape.size() != rank || sines.shape.size() != rank)
    return at ? "cosines and sines are not of two axes" : "cosines and sines are not of three axes";
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (!(cosines.shape[axis] == sines.shape[axis])) return "cosines and sines have provably not one shape";
  auto const row = x.shape.back(), half = cosines.shape[rank - 1];
  auto const heads = x.shape.size() == 4 ? 1.0 : e.number("num_heads");
  if (!row.known() || !half.known() ||
      !(static_cast<double>(row.value()) == heads * 2.0 * static_cast<double>(half.value())))
    return "cosines and sines have not, or not provably, half as many columns as a head";
  if (!(cosines.shape[rank - 2] == x.shape[x.shape.size() - 2]))
    return "cosines and sines are not provably as long as the sequence";
  bool const one_for_all = at || (e.version < 23 && cosines.shape[0] == extent(1));
  if (!one_for_all && !(cosines.shape[0] == x.shape[0])) return "cosines and sines are not provably of as many batches";
  return {};
}

/// Composes the body, half by half, or for neighbours: (x1 * cos - x2 * sin, x2 * cos + x1 * sin). Of three axes, heads
/// are what the tables' columns say.
template <class Body>
class body_writer : onnx_function_writer<Body> {
  using base = onnx_function_writer<Body>;

 public:
  body_writer(emission const& e, Body& into)
      : base(e, into), neighbours_(e.number("interleaved") == 1), joined_(e.number("num_heads") > 0) {}

  void write() {
    base::begin("RotaryEmbedding");
    if (neighbours_) body_.name += "_interleaved";
    if (joined_) body_.name += "_joined";
    body_.inputs = {"X", "Cosines", "Sines"};
    body_.attributes = {"interleaved"};
    // (batch, heads, sequence, 2, pairs), or with pairs before the 2; of three axes, the sequence before the heads.
    std::int64_t const two = neighbours_ ? 4 : 3, heads = joined_ ? 2 : 1;
    base::list("Two", {2});
    base::list("Three", {3});
    base::step("Shape", {"X"}, "Whole");
    base::step("Shape", {"Cosines"}, "Extents");
    base::step("Slice", {"Extents", "Two", "Three"}, "Pairs");
    texts parted{"Kept"};
    if (joined_) {
      body_.attributes.push_back("num_heads");
      base::step("Constant", {}, "HeadCount", {}, {{"value_int", "num_heads"}});
      base::list("One", {1});
      base::step("Reshape", {"HeadCount", "One"}, "Heads");
      parted.push_back("Heads");
    }
    base::list("Kept", joined_ ? integers{0, 0} : integers{0, 0, 0});
    parted.insert(parted.end(), {neighbours_ ? "Pairs" : "Two", neighbours_ ? "Two" : "Pairs"});
    base::step("Concat", std::move(parted), "Parted", along(0));
    base::step("Reshape", {"X", "Parted"}, "ByPairs");
    auto parts = along(two);
    if (e_.version >= 18) parts.push_back({"num_outputs", std::int64_t{2}});
    body_.steps.push_back({"Split", {"ByPairs"}, {"First", "Second"}, std::move(parts), {}});
    unsqueezed("Cosines", "C", {heads, two});
    unsqueezed("Sines", "S", {heads, two});
    base::step("Mul", {"First", "C"}, "FirstC");
    base::step("Mul", {"Second", "S"}, "SecondS");
    base::step("Mul", {"Second", "C"}, "SecondC");
    base::step("Mul", {"First", "S"}, "FirstS");
    base::step("Sub", {"FirstC", "SecondS"}, "NewFirst");
    base::step("Add", {"SecondC", "FirstS"}, "NewSecond");
    base::step("Concat", {"NewFirst", "NewSecond"}, "Turned", along(two));
    base::step("Reshape", {"Turned", "Whole"}, "Y");
  }

 private:
  using texts = std::vector<std::string>;
  using integers = std::vector<std::int64_t>;

  static std::vector<attribute> along(std::int64_t axis) { return {{"axis", axis}}; }
  void unsqueezed(std::string const& from, std::string const& to, integers axes) {
    if (e_.version < 13) return base::step("Unsqueeze", {from}, to, {{"axes", std::move(axes)}});
    base::list(to + "Axes", axes);
    base::step("Unsqueeze", {from, to + "Axes"}, to);
  }

  using base::body_, base::e_;
  bool neighbours_, joined_;
};

template <class Body>
[[nodiscard]] bool function(emission const& e, Body& into) {
  if (e.op != opcode::rotary_embedding || e.operands.size() != 3 || e.version < 12) return false;
  into = {};
  body_writer<Body>(e, into).write();
  return true;
}

}  // namespace fuse::inline v0::detail::onnx_rotary
