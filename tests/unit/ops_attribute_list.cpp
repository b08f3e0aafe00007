// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <fuse/dsl/dsl.hpp>
#include <fuse/ops/attribute_list.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/program/lower.hpp>

namespace ops_attribute_list {
namespace {

using namespace fuse::dsl;
using fuse::attribute_kind;

std::string complete(std::vector<fuse::attribute>& attributes) {
  if (attributes.size() > 1) return "one will do";
  if (attributes.empty()) attributes.push_back({"axis", std::int64_t{-1}});
  return {};
}
constexpr fuse::attribute_info infos[] = {{"axis", attribute_kind::integer}, {"mode", attribute_kind::text}};
constexpr fuse::attribute_list list{infos, &complete};
constexpr fuse::operator_row rows[] = {
    {.name = "Listed", .attributes = &list},
    {.name = "Unlisted"},
};
constexpr auto dialect = fuse::make_dialect("lists", rows);

constexpr auto x = var<"x">;
fuse::lowered_rule lowered(fuse::expression const& pattern, fuse::expression const& made = x) {
  return fuse::detail::lower(fuse::rule<"r">(pattern).replace(made), dialect.names());
}

}  // namespace

TEST_CASE("an attribute is found by its name") {
  STATIC_REQUIRE(list.find("mode") == 1);
  STATIC_REQUIRE(list.find("modes") == 2);
  STATIC_REQUIRE(list.has("axis"));
  STATIC_REQUIRE(!list.has("Axis"));
  STATIC_REQUIRE(!fuse::any_attributes.has("axis"));
  CHECK(name_of(list.all[0].kind) == "integer");
}

TEST_CASE("a dialect knows whether it lists attributes") {
  CHECK(dialect.names().lists_attributes);
  constexpr fuse::operator_row more[] = {{.name = "More", .attributes = &list}};
  static constexpr fuse::operator_row few[] = {{.name = "Few"}};
  static constexpr auto none = fuse::make_dialect("few", few);
  CHECK(!none.names().lists_attributes);
  CHECK(none.with(more).names().lists_attributes);
}

TEST_CASE("rules name attributes that are listed, and values that these can hold") {
  CHECK(lowered(op<"Listed">(x).attr<"axis">(2)).error == fuse::rule_error::none);
  CHECK(lowered(op<"Unlisted">(x).attr<"anything">(2)).error == fuse::rule_error::none);
  auto const unknown = lowered(op<"Unlisted">(op<"Listed">(x).attr<"axes">(2)));
  CHECK(unknown.error == fuse::rule_error::unknown_attribute);
  CHECK(unknown.culprit == "axes");
  CHECK(unknown.owner == "Listed");
  CHECK(unknown.attributes == &list);
  CHECK(lowered(op<"Unlisted">(x), op<"Listed">(x).attr<"axes">(2)).error == fuse::rule_error::unknown_attribute);
  CHECK(lowered(op<"Listed">(x).attr<"axis">(0.5)).error == fuse::rule_error::attribute_of_another_kind);
  CHECK(lowered(op<"Listed">(x).attr<"mode">(param<"m">)).error == fuse::rule_error::attribute_of_another_kind);
}

TEST_CASE("a row completes attributes, or names its operator and says why not") {
  std::vector<fuse::attribute> given;
  CHECK(fuse::detail::complete(rows[0], given).empty());
  CHECK(given == std::vector<fuse::attribute>{{"axis", std::int64_t{-1}}});
  given.push_back({"mode", std::string()});
  CHECK(fuse::detail::complete(rows[0], given) == "Listed: one will do");
  CHECK(fuse::detail::complete(rows[1], given).empty());
}

}  // namespace ops_attribute_list
