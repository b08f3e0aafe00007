// SPDX-License-Identifier: BSL-1.0
#include <fuse/adapters/onnx.hpp>
#include <fuse/graph/binding.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/onnx.hpp>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "parsed.hpp"

namespace functions {

using namespace fuse;
using adapters::onnx_graph;
using traits = graph_traits<onnx_graph>;

namespace {

function_body centered(double factor) {
  tensor const number = make_tensor(element_type::float32, {}, std::vector<double>{factor});
  return {"fuse::Centered",
          {"x"},
          {"y", "m"},
          {"axes"},
          {{"Constant", {}, {"c"}, {{"value", number}}, {}},
           {"ReduceMean", {"x"}, {"m"}, {{"keepdims", std::int64_t{1}}}, {{"axes", "axes"}}},
           {"Sub", {"x", "m"}, {"y"}, {}, {}}}};
}
char const* const model_text = R"(graph { input { name: "x" type { tensor_type { elem_type: 1 } } }
    node { name: "root" op_type: "Neg" input: "x" output: "y" } output { name: "y" } })";

void call(onnx_graph& g, std::string_view op) {
  auto const root = *traits::nodes(g).begin();
  std::vector<adapters::onnx_value> const operands{traits::inputs(g)[0]};
  attribute const axes[]{{"axes", std::vector<std::int64_t>{-1}}};
  element_type const types[]{element_type::float32, element_type::unknown};
  auto const made = traits::insert(g, root, {op, operands, axes, types, "root"});
  traits::replace_uses(g, traits::results(g, root)[0], traits::results(g, made)[0]);
  traits::erase(g, root);
}

}  // namespace

TEST_CASE("overloads of a function are told apart, and are no operators") {
  auto model = parsed(R"(opset_import { version: 17 } opset_import { domain: "f" version: 1 } graph {
    node { op_type: "Neg" output: "a" } node { op_type: "Neg" output: "b" } node { op_type: "Neg" output: "c" }
    node { op_type: "G" domain: "f" output: "d" } node { op_type: "G" domain: "f" output: "e" }
    node { op_type: "G" domain: "f" output: "g" } }
    functions { name: "G" domain: "f" } functions { name: "Neg" })");
  for (auto const& [node, field] : {std::pair(1, "\x42\x03one"), {4, "\x42\x03one"}, {5, "\x42\x03two"}})
    REQUIRE(model.mutable_graph()->mutable_node(node)->MergeFromString(field));
  REQUIRE(model.mutable_functions(1)->MergeFromString("\x6a\x03one"));
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  CHECK_FALSE(g.redefines_operators());
  std::vector<std::string> names;
  for (auto const n : traits::nodes(g)) names.emplace_back(traits::op_name(g, n));
  CHECK(names == std::vector<std::string>{"Neg", "overload 'one' of function ::Neg", "Neg", "function f::G",
                                          "overload 'one' of function f::G", "overload 'two' of function f::G"});
}

TEST_CASE("a call tells of the function that it calls, and of no overload") {
  char const* const function = R"(functions { name: "F" domain: "f" input: "a" output: "b"
    node { op_type: "Neg" input: "a" output: "b" } opset_import { version: 17 } })";
  auto model = parsed(std::string(R"(opset_import { version: 17 } opset_import { domain: "f" version: 1 }
    graph { input { name: "x" type { tensor_type { elem_type: 1 } } } output { name: "y" } output { name: "z" }
    node { op_type: "F" domain: "f" input: "x" output: "y" } node { op_type: "F" domain: "f" input: "x" output: "z" } })") +
                      function + function);
  REQUIRE(model.mutable_graph()->mutable_node(1)->MergeFromString("\x42\x03one"));
  REQUIRE(model.mutable_functions(0)->MergeFromString("\x6a\x03one"));
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  auto const looked_into = traits::functions(g);
  REQUIRE(looked_into.size() == 1);
  CHECK(traits::calls(g, looked_into[0]).size() == 1);
  CHECK(g.tables().graphs[looked_into[0].id].function == &model.functions(1));
}

TEST_CASE("a function is written with the model's own operator set") {
  auto model = parsed(std::string("ir_version: 7 opset_import { version: 12 } ") + model_text);
  onnx_graph g(model);
  REQUIRE(traits::declare(g, centered(2)));
  call(g, "fuse::Centered");
  g.commit();
  CHECK(model.ir_version() == 8);
  REQUIRE(model.functions_size() == 1);
  auto const& function = model.functions(0);
  CHECK(function.name() == "Centered");
  CHECK(function.domain() == "fuse");
  REQUIRE(function.opset_import_size() == 1);
  CHECK(function.opset_import(0).version() == 12);
  CHECK(function.attribute(0) == "axes");
  CHECK(function.node(1).attribute(1).ref_attr_name() == "axes");
  CHECK(function.node(1).attribute(1).type() == ::onnx::AttributeProto::INTS);
  CHECK(function.node(0).attribute(0).t().data_type() == 1);
  REQUIRE(model.opset_import_size() == 2);
  CHECK(model.opset_import(1).domain() == "fuse");
  auto const& node = model.graph().node(0);
  CHECK(node.domain() == "fuse");
  REQUIRE(node.output_size() == 2);  // a call names every result
  CHECK(node.output(0) == "y");
  CHECK(node.output(1).empty());
  CHECK(onnx_graph(model).error() == "");
  SECTION("a second run uses the equal one") {
    onnx_graph again(model);
    REQUIRE(traits::declare(again, centered(2)));
    call(again, "fuse::Centered");
    again.commit();
    CHECK(model.functions_size() == 1);
  }
  SECTION("it goes with its last call") {
    onnx_graph again(model);
    call(again, "Neg");
    again.commit();
    CHECK(model.functions_size() == 0);
    CHECK(model.opset_import_size() == 1);
  }
  SECTION("another one of the same name gets a name of its own") {
    onnx_graph again(model);
    REQUIRE(traits::declare(again, centered(3)));
    call(again, "fuse::Centered");
    again.commit();
    REQUIRE(model.functions_size() == 1);  // nothing calls the first any more
    CHECK(model.functions(0).name() == "Centered_1");
    CHECK(model.graph().node(0).op_type() == "Centered_1");
  }
}

TEST_CASE("a function that nothing calls is not written") {
  auto model = parsed(std::string("ir_version: 3 ") + model_text);
  auto const before = model.SerializeAsString();
  onnx_graph g(model);
  CHECK(traits::declare(g, centered(2)));
  g.commit();
  CHECK(model.SerializeAsString() == before);
}

TEST_CASE("raising the IR version past 3 keeps constants constant") {
  auto model =
      parsed(R"(ir_version: 3 graph { input { name: "x" type { tensor_type { elem_type: 1 } } } input { name: "w" }
    initializer { name: "w" data_type: 1 float_data: 1 }
    node { name: "root" op_type: "Neg" input: "x" output: "y" } node { op_type: "Mul" input: "y" input: "w" output: "z" } output { name: "z" } })");
  onnx_graph g(model);
  traits::declare(g, centered(2));
  call(g, "fuse::Centered");
  g.commit();
  CHECK(model.ir_version() == 8);
  REQUIRE(model.graph().input_size() == 1);
  CHECK(model.graph().input(0).name() == "x");
  CHECK(model.graph().initializer_size() == 1);
}

TEST_CASE("a call of a norm's function is known by its body, not by its name") {
  for (int const version : {9, 14, 18}) {
    INFO("operator set " << version);
    auto model = parsed("ir_version: 8 opset_import { version: " + std::to_string(version) + R"( }
      graph { input { name: "x" } input { name: "w" } node { name: "root" op_type: "Neg" input: "x" output: "y" } output { name: "y" } })");
    emission norm;
    norm.op = opcode::rms_norm;
    norm.version = version;
    norm.negative_axes = version >= 11;
    norm.operands.assign(2, {.present = true, .type = element_type::float16});
    extent const shape[] = {2, 3, 4};
    norm.operands[0].has_rank = true;
    norm.operands[0].shape = shape;
    norm.parameters = {{"axis", -2}, {"epsilon", 1e-5}};
    function_body body;
    REQUIRE(fuse::dialect(fuse::onnx).function(norm, body));
    {
      onnx_graph g(model);
      REQUIRE(traits::declare(g, body));
      auto const root = *traits::nodes(g).begin();
      std::vector<adapters::onnx_value> const operands{traits::inputs(g)[0], traits::inputs(g)[1]};
      attribute const attributes[]{{"axis", std::int64_t{-2}}, {"epsilon", 1e-5}};
      element_type const types[]{element_type::float16};
      auto const made = traits::insert(g, root, {body.name, operands, attributes, types, "root"});
      traits::replace_uses(g, traits::results(g, root)[0], traits::results(g, made)[0]);
      traits::erase(g, root);
      g.commit();
    }
    auto const name = [](::onnx::ModelProto& m) {
      onnx_graph const g(m);
      return g ? std::string(traits::op_name(g, *traits::nodes(g).begin())) : g.error();
    };
    CHECK(name(model) == body.name);
    auto other = model;
    other.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_i(-1);
    CHECK(name(other).starts_with("function fuse::RMSNormalization"));
    if (version < 12) {
      other = model;
      other.mutable_graph()->mutable_node(0)->mutable_attribute(1)->set_f(1e-6f);
      CHECK(name(other).starts_with("function fuse::RMSNormalization"));
    }
    other = model;
    auto& function = *other.mutable_functions(0);
    std::swap(*function.mutable_node(0)->mutable_output(0), *function.mutable_node(1)->mutable_output(0));
    CHECK(name(other).starts_with("function fuse::RMSNormalization"));
    other = model;
    *other.add_functions() = model.functions(0);
    CHECK(name(other).starts_with("function fuse::RMSNormalization"));
  }
}

TEST_CASE("a norm's function is recognised where its axes count from the first one, too") {
  for (int const version : {9, 10, 11, 17}) {
    CAPTURE(version);
    emission e;
    e.op = opcode::rms_norm;
    e.version = version;
    e.negative_axes = version >= 11;
    extent const shape[] = {2, 3, 4};
    e.operands = {{.present = true, .type = element_type::float32, .has_rank = true, .shape = shape},
                  {.present = true, .type = element_type::float32}};
    e.parameters = {{"axis", -2}, {"epsilon", 0.5}};
    function_body body;
    REQUIRE(detail::onnx_norms::function(e, body));
    auto model = parsed("ir_version: 8 opset_import { version: " + std::to_string(version) +
                        " } opset_import { domain: \"fuse\" version: 1 } " + model_text);
    adapters::detail::fill_function(*model.add_functions(), body, model);
    auto const found = adapters::detail::recognise(model.functions(0), model, version);
    CHECK(found.op == opcode::rms_norm);
    CHECK(found.axis == -2);
    CHECK(found.name == body.name);
    bool negative = false;
    for (auto const& node : model.functions(0).node())
      for (auto const& a : node.attribute())
        for (auto const axis : a.ints()) negative = negative || axis < 0;
    CHECK(negative == (version >= 11));
  }
}

namespace {

// What is known of a function's inputs, and of what is computed inside.
struct inside {
  explicit inside(onnx_graph const& g)
      : names(dialect_of<onnx_graph>), bound(g, names_in(names), names.newest), known(bound.image, names) {
    REQUIRE(!bound.cyclic());
    known.run();
  }
  // "float32[2,a]": equal letters are equal extents.
  [[nodiscard]] std::string value(std::string_view name) {
    for (value_id v = 0; v < bound.image.value_count(); ++v)
      if (bound.value_name(v) == name) return text(v);
    return "no such value";
  }
  [[nodiscard]] std::string text(value_id v) {
    std::string made(name_of(known.type(v)));
    if (!known.has_rank(v)) return made;
    made += '[';
    for (auto const e : known.shape(v)) {
      std::size_t at = 0;
      while (at < letters.size() && !(letters[at] == e)) ++at;
      if (!e.known() && at == letters.size()) letters.push_back(e);
      made += (made.back() == '[' ? "" : ",") +
              (e.known() ? std::to_string(e.value()) : std::string(1, static_cast<char>('a' + at)));
    }
    return made + ']';
  }

  dialect const& names;
  graph_binding<onnx_graph const> bound;
  detail::facts known;
  std::vector<extent> letters;
};

// The function pair(p, q), and what else is given; `graph` has the calls.
std::string with_functions(std::string const& graph, std::string const& more = {}) {
  return R"(opset_import { version: 17 } opset_import { domain: "own" version: 1 }
    functions { domain: "own" name: "pair" input: "p" input: "q" output: "s"
      node { name: "negative" op_type: "Neg" input: "p" output: "m" }
      node { name: "sum" op_type: "Add" input: "m" input: "q" output: "s" } opset_import { version: 17 } }
    graph {
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 4 } } } } }
      input { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 1 } } } } }
      input { name: "h" type { tensor_type { elem_type: 10 shape { dim { dim_value: 3 } dim { dim_value: 4 } } } } }
      input { name: "row" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
      input { name: "flag" type { tensor_type { elem_type: 9 shape { } } } } )" +
         graph + " } " + more;
}
// outer(u) calls pair(u, u).
char const* const outer = R"(functions { domain: "own" name: "outer" input: "u" output: "w"
  node { name: "inner" op_type: "pair" domain: "own" input: "u" input: "u" output: "w" }
  opset_import { version: 17 } opset_import { domain: "own" version: 1 } } )";
std::string call_of(std::string const& function, std::string const& operands, std::string const& result) {
  std::string made = R"(node { domain: "own" op_type: ")" + function + "\"";
  for (std::size_t at = 0; at < operands.size();
       at = operands.find(' ', at) == operands.npos ? operands.size() : operands.find(' ', at) + 1)
    made += " input: \"" + operands.substr(at, operands.find(' ', at) - at) + "\"";
  return made + " output: \"" + result + "\" } output { name: \"" + result + "\" } ";
}

}  // namespace

TEST_CASE("of a function's inputs is known what all calls share") {
  auto const inputs_of = [](std::string const& calls) {
    auto model = parsed(with_functions(calls));
    onnx_graph const g(model);
    REQUIRE(g.error() == "");
    inside found(g);
    auto const p = found.value("p"), q = found.value("q");
    return p + " " + q;
  };
  CHECK(inputs_of(call_of("pair", "x y", "a")) == "float32[a,4] float32[a,1]");
  CHECK(inputs_of(call_of("pair", "x y", "a") + call_of("pair", "x x", "b")) == "float32[a,4] float32[a,b]");
  CHECK(inputs_of(call_of("pair", "x x", "a") + call_of("pair", "y y", "b")) == "float32[a,b] float32[a,b]");
  CHECK(inputs_of(call_of("pair", "x x", "a") + call_of("pair", "h h", "b")) == "unknown[a,4] unknown[a,4]");
  CHECK(inputs_of(call_of("pair", "x row", "a") + call_of("pair", "row row", "b")) == "float32 float32[4]");
  CHECK(inputs_of(call_of("pair", "x", "a")) == "float32[a,4] unknown");
  CHECK(inputs_of(call_of("pair", "x y", "a") + call_of("pair", "x", "b")) == "float32[a,4] unknown");
  CHECK(inputs_of("") == "unknown unknown");
}

TEST_CASE("callers come before what they call") {
  auto model = parsed(with_functions(call_of("outer", "h", "a"), outer));
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  inside found(g);
  CHECK(found.value("u") == "float16[3,4]");
  CHECK(found.value("q") == "float16[3,4]");
  CHECK(found.value("s") == "float16[3,4]");
  CHECK(traits::name(g, *traits::nodes(g, traits::functions(g)[1]).begin()) == "negative in function own::pair");
}

TEST_CASE("calls in bodies count") {
  auto model = parsed(with_functions(call_of("pair", "x x", "a") + R"(node { op_type: "If" input: "flag" output: "b"
      attribute { name: "then_branch" type: GRAPH g { )" +
                                     call_of("pair", "h h", "t") + R"( } }
      attribute { name: "else_branch" type: GRAPH g { node { op_type: "Identity" input: "x" output: "e" } output { name: "e" } } } })"));
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  CHECK(inside(g).value("p") == "unknown[a,4]");
}

TEST_CASE("where not all calls are known, nothing is") {
  for (
      std::string const more :
      {R"(functions { domain: "own" name: "older" input: "o" output: "r" node { op_type: "pair" domain: "own" input: "o" input: "o" output: "r" }
             opset_import { version: 16 } opset_import { domain: "own" version: 1 } })",
       R"(training_info { algorithm { node { op_type: "pair" domain: "own" input: "x" input: "x" output: "r" } } })",
       R"(training_info { initialization { node { op_type: "If" attribute { name: "then_branch" type: GRAPH g {
             node { op_type: "pair" domain: "own" input: "x" input: "x" output: "r" } } } } } })"}) {
    auto model = parsed(with_functions(call_of("pair", "x y", "a"), more));
    onnx_graph const g(model);
    REQUIRE(g.error() == "");
    CHECK(inside(g).value("p") == "unknown");
  }
}

TEST_CASE("an erased call counts no more") {
  auto model = parsed(with_functions(call_of("pair", "x y", "a") + call_of("pair", "h h", "b")));
  onnx_graph g(model);
  auto const last = *std::next(traits::nodes(g).begin());
  traits::replace_uses(g, traits::results(g, last)[0], traits::inputs(g)[2]);
  traits::erase(g, last);
  CHECK(inside(g).value("p") == "float32[a,4]");
}

TEST_CASE("the operators of a function stand in any order, names are its own") {
  auto model = parsed(with_functions(call_of("mess", "h", "m"),
                                     R"(functions { domain: "own" name: "mess" input: "x" output: "m"
      node { op_type: "Abs" input: "y" output: "m" } node { op_type: "Exp" input: "x" output: "y" } opset_import { version: 17 } })"));
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  inside found(g);
  REQUIRE(found.bound.image.functions().size() == 2);
  for (auto const& f : found.bound.image.functions())
    if (auto const v = f.inputs[0]; found.bound.value_name(v) == "x") CHECK(found.text(v) == "float16[3,4]");
  for (value_id v = 0; v < found.bound.image.value_count(); ++v)
    if (auto const n = found.bound.image.producer(v); n != absent && found.bound.image.source->op_name(n) == "Abs")
      CHECK(found.text(v) == "float16[3,4]");
}

TEST_CASE("constants of the caller and attributes of a call are none inside") {
  auto model = parsed(with_functions(
      R"(node { op_type: "Constant" output: "axes" attribute { name: "value_ints" type: INTS ints: -1 } }
         node { domain: "own" op_type: "reduced" input: "x" input: "axes" output: "r" attribute { name: "keep" type: INT i: 0 } } output { name: "r" })",
      R"(functions { domain: "own" name: "reduced" input: "data" input: "given" output: "total" output: "mean" attribute: "keep"
      node { op_type: "ReduceSum" input: "data" input: "given" output: "total" }
      node { op_type: "Constant" output: "one" attribute { name: "value_float" type: FLOAT ref_attr_name: "keep" } }
      node { name: "reduction" op_type: "ReduceMean" input: "data" output: "mean" attribute { name: "axes" type: INTS ints: -1 }
        attribute { name: "keepdims" type: INT ref_attr_name: "keep" } } opset_import { version: 17 } })"));
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  inside found(g);
  CHECK(found.value("total") == "float32[a,b]");
  CHECK(found.value("mean") == "float32");
  for (auto const f : traits::functions(g))
    for (auto const n : traits::nodes(g, f)) {
      if (traits::op_name(g, n) == "ReduceMean")
        CHECK(std::holds_alternative<opaque_attribute>(traits::attribute(g, n, "keepdims")));
      if (traits::op_name(g, n) == "Constant") CHECK(!traits::constant(g, traits::results(g, n)[0]));
    }
}

TEST_CASE("functions of another operator set, of fuse, or of one name stay closed") {
  auto model = parsed(with_functions(call_of("pair", "x y", "a"),
                                     R"(functions { domain: "own" name: "older" opset_import { version: 16 } }
      functions { domain: "own" name: "none" }
      functions { domain: "own" name: "twice" opset_import { version: 17 } } functions { domain: "own" name: "twice" opset_import { version: 17 } }
      functions { domain: "fuse" name: "LayerNormalization_mine" opset_import { version: 17 } })"));
  onnx_graph const g(model);
  REQUIRE(g.error() == "");
  CHECK(traits::functions(g).size() == 1);
  CHECK(g.foreign_functions() == std::vector<std::string>{"own::older"});
}

TEST_CASE("a function that calls itself is an error") {
  auto const error = [](std::string const& more) {
    auto model = parsed(with_functions(call_of("outer", "x", "a"), outer + more));
    return onnx_graph(model).error();
  };
  CHECK(error(R"(functions { domain: "own" name: "loop" input: "i" output: "o" opset_import { version: 17 }
      node { op_type: "loop" domain: "own" input: "i" output: "o" } })") ==
        "function 'own::loop' calls itself, directly or through others");
  auto const through =
      error(R"(functions { domain: "own" name: "tail" input: "i" output: "o" opset_import { version: 17 }
      node { op_type: "head" domain: "own" input: "i" output: "o" } node { op_type: "outer" domain: "own" input: "i" output: "p" } }
      functions { domain: "own" name: "head" input: "i" output: "o" opset_import { version: 17 }
      node { op_type: "If" input: "i" output: "o" attribute { name: "then_branch" type: GRAPH g { node { op_type: "tail" domain: "own" input: "i" output: "t" } output { name: "t" } } } } })");
  CHECK((through.find("own::head") != through.npos || through.find("own::tail") != through.npos));
}

TEST_CASE("what is wrong in a function is said with its name") {
  auto model = parsed(with_functions(
      "",
      R"(functions { domain: "own" name: "bad" input: "i" output: "o" opset_import { version: 17 } node { op_type: "Neg" input: "x" output: "o" } })"));
  CHECK(onnx_graph(model).error() ==
        "the node (Neg) that computes 'o' reads value 'x', which nothing defines in function own::bad");
}

TEST_CASE("edits in a function: its outputs keep their names, constants are nodes, domains are imported") {
  auto model = parsed(with_functions(call_of("pair", "x y", "a"), outer) +
                      " opset_import { domain: \"com.microsoft\" version: 3 }");
  auto const untouched = model.functions(1).SerializeAsString();
  onnx_graph g(model);
  REQUIRE(g.error() == "");
  auto const pair = traits::functions(g)[1];
  auto const sum = *std::next(traits::nodes(g, pair).begin());
  auto const two = make_tensor(element_type::float32, {}, std::vector<double>{2});
  auto const constant = traits::add_constant(g, pair, two, "sum in function own::pair");
  auto const unused = traits::add_constant(g, pair, two, "unused");
  CHECK(!(unused == constant));
  std::vector<adapters::onnx_value> const operands{traits::inputs(g, pair)[0], constant};
  element_type const types[]{element_type::float32};
  auto const made = traits::insert(g, sum, {"com.microsoft::Scaled", operands, {}, types, "sum in function own::pair"});
  REQUIRE(made);
  CHECK(traits::name(g, made) == "sum_Scaled in function own::pair");
  traits::replace_uses(g, traits::results(g, sum)[0], traits::results(g, made)[0]);
  traits::erase(g, sum);
  traits::erase(g, *traits::nodes(g, pair).begin());
  g.commit();
  REQUIRE(model.functions_size() == 2);
  auto const& function = model.functions(0);
  REQUIRE(function.node_size() == 2);
  CHECK(function.node(0).op_type() == "Constant");
  CHECK(function.node(0).output(0) == "sum");
  CHECK(function.node(1).input(1) == "sum");
  CHECK(function.node(1).output(0) == "s");
  CHECK(function.node(1).name() == "sum_Scaled");
  REQUIRE(function.opset_import_size() == 2);
  CHECK(function.opset_import(1).domain() == "com.microsoft");
  CHECK(function.opset_import(1).version() == 3);
  CHECK(model.opset_import_size() == 3);
  CHECK(model.graph().initializer_size() == 0);
  CHECK(model.functions(1).SerializeAsString() == untouched);
  CHECK(onnx_graph(model).error() == "");
}

TEST_CASE("before operator set 9 a function holds no constants but floats") {
  for (int const version : {8, 9}) {
    auto model = parsed(
        "opset_import { version: " + std::to_string(version) +
        R"( } graph { } functions { domain: "own" name: "body" input: "x" output: "x" opset_import { version: )" +
        std::to_string(version) + " } }");
    onnx_graph g(model);
    REQUIRE(g.error() == "");
    auto const body = traits::functions(g)[0];
    auto const shape = make_tensor(element_type::int64, {1}, std::vector<double>{2});
    CHECK(static_cast<bool>(traits::add_constant(g, body, shape, "")) == (version == 9));
    CHECK(g.edited() == (version == 9));
    CHECK(traits::add_constant(g, body, make_tensor(element_type::float32, {}, std::vector<double>{2}), ""));
    CHECK(traits::add_constant(g, shape, ""));
  }
}

TEST_CASE("an input that becomes a function's output is handed on") {
  auto model = parsed(with_functions("", outer));
  onnx_graph g(model);
  auto const pair = traits::functions(g)[1];
  auto const sum = *std::next(traits::nodes(g, pair).begin());
  traits::replace_uses(g, traits::results(g, sum)[0], traits::inputs(g, pair)[1]);
  traits::erase(g, sum);
  g.commit();
  REQUIRE(model.functions(0).node_size() == 2);
  CHECK(model.functions(0).node(1).op_type() == "Identity");
  CHECK(model.functions(0).node(1).input(0) == "q");
  CHECK(model.functions(0).node(1).output(0) == "s");
}

TEST_CASE("no new node calls a function that fuse looks into, or one that was not declared") {
  auto model = parsed(with_functions(
      call_of("pair", "x y", "a"),
      std::string(outer) +
          R"(opset_import { domain: "fuse" version: 1 } functions { domain: "fuse" name: "Centered_mine" input: "i" output: "o" opset_import { version: 17 } })"));
  onnx_graph g(model);
  REQUIRE(g.error() == "");
  auto const pair = traits::functions(g)[1];
  auto const place = *traits::nodes(g, pair).begin();
  std::vector<adapters::onnx_value> const operands{traits::inputs(g, pair)[0]};
  element_type const types[]{element_type::float32};
  CHECK(!traits::insert(g, place, {"own::pair", operands, {}, types, ""}));
  CHECK(!traits::insert(g, *traits::nodes(g).begin(), {"own::outer", operands, {}, types, ""}));
  CHECK(!traits::insert(g, place, {"fuse::Centered_mine", operands, {}, types, ""}));
  CHECK(!g.edited());
  REQUIRE(traits::declare(g, centered(2)));
  CHECK(traits::insert(g, place, {"fuse::Centered", operands, {}, types, ""}));
}

}  // namespace functions
