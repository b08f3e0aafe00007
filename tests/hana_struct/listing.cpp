// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <fuse/dsl/dsl.hpp>
#include <fuse/program/lower.hpp>
#include <fuse/program/requirements.hpp>

#include "members.hpp"

namespace listing {

using namespace members;
using namespace fuse::dsl;

namespace {

std::string listed(fuse::attribute_list const& list) {
  std::string text;
  for (auto const& one : list.all) text += std::string(name_of(one.kind)) + ' ' + std::string(one.name) + ' ';
  return text;
}

// What lowering says of a rule, as a diagnostic shows it.
std::string told(fuse::rewrite_rule const& rule, fuse::dialect const& names) {
  auto const lowered = fuse::detail::lower(rule, names);
  if (lowered.error == fuse::rule_error::none) return "";
  std::string text = lowered.error == fuse::rule_error::unknown_attribute           ? "lacks "
                     : lowered.error == fuse::rule_error::attribute_of_another_kind ? "cannot hold "
                                                                                    : "something else ";
  for (std::size_t i = 0; i < fuse::detail::culprit_text(lowered).size; ++i)
    text += fuse::detail::culprit_text(lowered, i).at_wanted;
  return text;
}
std::string told(fuse::expression const& pattern, fuse::expression const& made = var<"x">) {
  return told(fuse::rule<"r">(pattern).replace(made), dialect.names());
}

constexpr auto x = var<"x">;

}  // namespace

TEST_CASE("a struct lists its members, with what they hold") {
  CHECK(listed(structs::attributes_of<scalars>) ==
        "integer small integer large integer huge integer byte flag flag number single number twice integer chosen ");
  CHECK(listed(structs::attributes_of<others>) ==
        "text text integers ints integers longs integers pair integers apart integers flags numbers floats "
        "numbers doubles tensor contents other unknown ");
  CHECK(listed(structs::attributes_of<optionals>) == "integer number integers axes text text ");
  CHECK(listed(structs::attributes_of<defined>) == "integer axis number epsilon ");
  CHECK(listed(structs::attributes_of<empty>).empty());
}

TEST_CASE("attributes are completed with defaults, in the types of the members") {
  std::vector<fuse::attribute> given{{"twice", std::int64_t{3}}, {"small", 2.0}};
  CHECK(structs::attributes_of<scalars>.complete(given).empty());
  using list = std::vector<fuse::attribute>;
  CHECK(given == list{{"twice", 3.0},
                      {"small", std::int64_t{2}},
                      {"large", std::int64_t{1} << 40},
                      {"huge", std::int64_t{5}},
                      {"byte", std::int64_t{200}},
                      {"flag", std::int64_t{1}},
                      {"single", 0.5},
                      {"chosen", std::int64_t{7}}});
  given = {{"floats", std::vector<std::int64_t>{4}}};
  CHECK(structs::attributes_of<others>.complete(given).empty());
  CHECK(given[0] == fuse::attribute{"floats", std::vector<std::int64_t>{4}});
  given = {};
  CHECK(structs::attributes_of<optionals>.complete(given).empty());
  CHECK(given == list{{"text", std::string("there")}});
  CHECK(structs::no_attributes.complete(given) == "there is no attribute 'text'; there are none");
}

TEST_CASE("a rule may name the members of an operator's struct") {
  CHECK(told(op<"scalars">(x).attr<"small">(1).attr<"single">(0.5).attr<"flag">(1)).empty());
  CHECK(told(exactly<"scalars">(x).attr<"twice">(scalar<"s">), op<"scalars">(x).attr<"single">(scalar<"s">)).empty());
  CHECK(told(op<"optionals">(x).attr<"axes">(param<"a">)).empty());
  CHECK(told(op<"defined">(x).attr<"epsilon">(1)).empty());
}

TEST_CASE("an attribute that the struct lacks is told, with those that it has") {
  constexpr auto has = ": optionals has integer number, integers axes, text text";
  CHECK(told(op<"optionals">(x).attr<"axis">(1)) == std::string("lacks axis") + has);
  CHECK(told(op<"bare">(exactly<"optionals">(x).attr<"axis">(1))) == std::string("lacks axis") + has);
  CHECK(told(op<"bare">(x), op<"optionals">(x).attr<"axis">(1)) == std::string("lacks axis") + has);
  CHECK(told(op<"bare">(x).attr<"axis">(1)) == "lacks axis: bare has none");
  CHECK(told(op<"empty">(x).attr<"axis">(1)) == "lacks axis: empty has none");
}

TEST_CASE("what an attribute cannot be is told") {
  constexpr auto has = ": optionals has integer number, integers axes, text text";
  CHECK(told(op<"optionals">(x).attr<"number">(0.5)) == std::string("cannot hold number") + has);
  CHECK(told(op<"optionals">(x).attr<"axes">(1)) == std::string("cannot hold axes") + has);
  CHECK(told(op<"optionals">(x).attr<"text">(1)) == std::string("cannot hold text") + has);
  CHECK(told(op<"bare">(x), op<"optionals">(x).attr<"number">(0.5)) == std::string("cannot hold number") + has);
  CHECK(told(op<"scalars">(x).attr<"flag">(2)).starts_with("cannot hold flag: scalars has integer small"));
}

TEST_CASE("an operator by its meaning has the attributes of some name, those that stand elsewhere, and its defaults") {
  using source = fuse::parameter_source;
  static constexpr source first_sources[] = {{"epsilon", source::kind::attribute, "single"},
                                             {"axis", source::kind::fixed, {}, 0, -1}};
  static constexpr fuse::operator_row with_single[] = {
      {"relu", fuse::opcode::relu}, structs::with<scalars>({"norm", fuse::opcode::layer_norm, 1, first_sources})};
  static constexpr auto one = structs::make_dialect("one", with_single);
  auto const pattern = [](auto const& operation) { return told(fuse::rule<"r">(operation).replace(x), one.names()); };
  auto const made = [](auto const& operation) {
    return told(fuse::rule<"r">(op<"relu">(x)).replace(operation), one.names());
  };
  CHECK(made(layer_norm(x).attr<"epsilon">(0.5).attr<"axis">(-1).attr<"small">(1)).empty());
  CHECK(made(layer_norm(x).attr<"stash_type">(1)).starts_with("lacks stash_type: norm has integer small"));
  CHECK(pattern(layer_norm(x).attr<"stash_type">(1)).empty());
  CHECK(pattern(layer_norm(x).attr<"epsilon">(0.5)).empty());
  CHECK(pattern(op<"norm">(x).attr<"stash_type">(1)).starts_with("lacks stash_type"));
  CHECK(pattern(relu(layer_norm(x).attr<"stash">(1))).starts_with("lacks stash"));

  static constexpr fuse::operator_row with_two[] = {
      {"relu", fuse::opcode::relu},
      structs::with<scalars>({"norm", fuse::opcode::layer_norm}),
      structs::with<defined>({"other_norm", fuse::opcode::layer_norm}),
  };
  static constexpr auto two = structs::make_dialect("two", with_two);
  CHECK(told(fuse::rule<"r">(layer_norm(x).attr<"epsilon">(1)).replace(layer_norm(x).attr<"small">(1)), two.names())
            .empty());
  CHECK(told(fuse::rule<"r">(op<"norm">(x).attr<"epsilon">(1)).replace(x), two.names()).starts_with("lacks epsilon"));

  static constexpr fuse::operator_row with_axis[] = {structs::with<defined>({"norm", fuse::opcode::layer_norm})};
  static constexpr auto three = structs::make_dialect("three", with_axis);
  CHECK(
      told(fuse::rule<"r">(layer_norm(x).attr<"axis">(0.5)).replace(x), three.names()).starts_with("cannot hold axis"));
}

TEST_CASE("a dialect that looks for a parameter in a member that there is not is told by every rule") {
  using source = fuse::parameter_source;
  static constexpr source sources[] = {{"axis", source::kind::attribute, "dim"}};
  static constexpr fuse::operator_row rows[] = {{"relu", fuse::opcode::relu},
                                                structs::with<defined>({"norm", fuse::opcode::layer_norm, 1, sources})};
  static constexpr auto wrong = structs::make_dialect("wrong", rows);
  CHECK(told(fuse::rule<"r">(op<"relu">(x)).replace(x), wrong.names()) ==
        "lacks dim: norm has integer axis, number epsilon");
}

TEST_CASE("other dialects, and rows without a list, ask nothing of attributes") {
  CHECK(told(fuse::rule<"r">(op<"com.microsoft::FusedMatMul">(x, x).attr<"anything">(1)).replace(x), fuse::onnx.names())
            .empty());
  static constexpr fuse::operator_row rows[] = {{"open"}, structs::with<empty>({"closed"})};
  static constexpr auto mixed = fuse::make_dialect("mixed", rows);
  CHECK(told(fuse::rule<"r">(op<"open">(x).attr<"anything">(1)).replace(x), mixed.names()).empty());
}

}  // namespace listing
