// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <fuse/adapters/onnx.hpp>
#include <fuse/fuse.hpp>
#include <fuse/graph/graph_text.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "../corpus/all.hpp"
#include "../corpus/summary.hpp"
#include "catch.hpp"

namespace spellings {

namespace {

/// An owned graph, in ONNX's dialect, as a model.
class copy {
 public:
  explicit copy(fuse::graph const& from) : from_(from) {
    model.set_ir_version(10);
    model.add_opset_import()->set_version(from.version());
    top_ = model.mutable_graph();
    for (auto const v : from.inputs()) describe(v, *top_->add_input());
    write(fuse::graph::main_body, *top_);
    for (auto const v : from.outputs()) describe(v, *top_->add_output());
  }

  onnx::ModelProto model{};

 private:
  std::string name(fuse::graph::value v) {
    if (!v) return {};
    auto const text = 'v' + std::to_string(v.id);
    if (auto const contents = from_.constant(v); contents && !from_.producer(v) && written_.insert(v.id).second) {
      auto& t = *top_->add_initializer();
      fill(contents, t);
      t.set_name(text);
    }
    return text;
  }
  static void fill(fuse::tensor_view contents, onnx::TensorProto& t) {
    t.set_data_type(static_cast<int>(contents.type));
    for (auto const extent : contents.shape) t.add_dims(extent);
    t.set_raw_data(contents.bytes.data(), contents.bytes.size());
  }
  void describe(fuse::graph::value v, onnx::ValueInfoProto& info) {
    info.set_name(name(v));
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(static_cast<int>(from_.type(v)));
    std::vector<fuse::dimension> shape;
    if (!from_.shape(v, shape)) return;
    (void)type.mutable_shape();
    for (auto const& d : shape) {
      auto& dim = *type.mutable_shape()->add_dim();
      if (d.extent >= 0)
        dim.set_dim_value(d.extent);
      else if (!d.symbol.empty())
        dim.set_dim_param(std::string(d.symbol));
    }
  }

  void write(fuse::graph::body b, onnx::GraphProto& into) {
    for (auto const n : from_.nodes(b)) {
      auto& node = *into.add_node();
      node.set_op_type(std::string(from_.op(n)));
      for (auto const v : from_.operands(n)) node.add_input(name(v));
      for (auto const v : from_.results(n)) {
        node.add_output(name(v));
        std::vector<fuse::dimension> shape;
        if (from_.type(v) != fuse::element_type::unknown || from_.shape(v, shape)) describe(v, *into.add_value_info());
      }
      for (auto const& a : from_.attributes(n)) write(a, *node.add_attribute());
      for (auto const inner : from_.bodies(n)) {
        auto& a = *node.add_attribute();
        a.set_name(std::string(from_.name(inner)));
        a.set_type(onnx::AttributeProto::GRAPH);
        write(inner, *a.mutable_g());
        for (auto const v : from_.outputs(inner)) describe(v, *a.mutable_g()->add_output());
      }
    }
  }
  static void write(fuse::graph::named const& from, onnx::AttributeProto& a) {
    a.set_name(from.name);
    std::visit(
        [&]<class T>(T const& content) {
          if constexpr (std::is_integral_v<T>) {
            a.set_type(onnx::AttributeProto::INT);
            a.set_i(content);
          } else if constexpr (std::is_floating_point_v<T>) {
            a.set_type(onnx::AttributeProto::FLOAT);
            a.set_f(static_cast<float>(content));
          } else if constexpr (std::is_same_v<T, std::string>) {
            a.set_type(onnx::AttributeProto::STRING);
            a.set_s(content);
          } else if constexpr (std::is_same_v<T, fuse::tensor>) {
            a.set_type(onnx::AttributeProto::TENSOR);
            fill(content, *a.mutable_t());
          } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
            a.set_type(onnx::AttributeProto::INTS);
            for (auto const one : content) a.add_ints(one);
          } else {
            a.set_type(onnx::AttributeProto::FLOATS);
            for (auto const one : content) a.add_floats(static_cast<float>(one));
          }
        },
        from.content);
  }

  fuse::graph const& from_;
  onnx::GraphProto* top_ = nullptr;
  std::set<std::uint32_t> written_{};
};

bool compare(fuse::graph const& from, fuse::target target) {
  fuse::rewrite_options options;
  options.target = target;
  auto owned = from;
  auto const expected = fuse::rewrite<fuse::rules::norms>(owned, options);
  copy made(from);
  fuse::adapters::onnx_graph graph(made.model);
  CAPTURE(graph.error(), to_text(from), to_text(owned));
  REQUIRE(graph.error() == "");
  auto const report = fuse::rewrite<fuse::rules::norms>(graph, options);
  REQUIRE(corpus::summary_of(report) == corpus::summary_of(expected));
  REQUIRE(report.nodes_after == expected.nodes_after);
  return true;
}

using namespace fuse::dsl;
inline constexpr auto by_length =
    fuse::rule<"by-length">(abs(op<"ReduceL2">(var<"x">) * var<"y">)).replace(op<"Max">(var<"x">, var<"y">));
inline constexpr auto by_squares =
    fuse::rule<"by-squares">(abs(sqrt(sum(square(var<"x">))) * var<"y">)).replace(op<"Max">(var<"x">, var<"y">));

}  // namespace

TEST_CASE("a length is the root of a sum of squares in a model, too") {
  using value = fuse::graph::value;
  auto const found = [](int version, auto const& spell) {
    fuse::graph g(version);
    auto const x = g.input("x", fuse::element_type::float32, {4, 8}),
               y = g.input("y", fuse::element_type::float32, {4, 1});
    auto const reduced = [&](char const* op, value v) {
      if (version >= 18) return g.add(op, {v, g.constant({-1})}, {{"keepdims", 1}});
      return g.add(op, {v}, {{"axes", {-1}}, {"keepdims", 1}});
    };
    g.output(g.add("Abs", {g.add("Mul", {spell(g, reduced, x), y})}), "z");
    copy made(g);
    fuse::adapters::onnx_graph const model(made.model);
    REQUIRE(model.error() == "");
    return fuse::match_all<by_length>(model).size() + 10 * fuse::match_all<by_squares>(model).size();
  };
  for (int const version : {12, 18}) {
    CHECK(found(version, [](auto&, auto const& reduced, value x) { return reduced("ReduceL2", x); }) == 11);
    CHECK(found(version, [](auto& g, auto const& reduced, value x) {
            return g.add("Sqrt", {reduced("ReduceSumSquare", x)});
          }) == 11);
    CHECK(found(version, [](auto& g, auto const& reduced, value x) {
            return g.add("Sqrt", {reduced("ReduceL1", g.add("Mul", {x, x}))});
          }) == 0);
  }
}

TEST_CASE("every spelling has the same verdict in a model as in the owned graph") {
  CHECK(corpus::all_spellings<fuse::graph>([](auto const& g, auto const&, std::uint64_t seed) {
          return compare(g, seed % 2 == 0 ? fuse::target::standard : fuse::target::onnxruntime);
        }) == corpus::spellings);
}

TEST_CASE("every look-alike has the same verdict in a model as in the owned graph") {
  CHECK(corpus::all_lookalikes<fuse::graph>([](auto const& g) { return compare(g, fuse::target::standard); }) ==
        corpus::lookalikes_in_onnx);
}

}  // namespace spellings
