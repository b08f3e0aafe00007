// SPDX-License-Identifier: BSL-1.0
#include "disguise.hpp"
#include "laws.hpp"
#include "mutation.hpp"
#include "shrink.hpp"
#include "spelling.hpp"
#include "trial.hpp"

// That the property test can fail: rules that are wrong, graphs that are invalid, and what is told of them.
namespace soundness {

namespace {

using namespace fuse::dsl;

constexpr auto x = pool::x, y = pool::y;
constexpr auto s = pool::s;

constexpr auto sign_lost = fuse::rule<"sign-lost">(tanh(x) + y).replace(tanh(x) - y).at_equal_cost();
/// True of operands of one shape alone: a sum along an axis counts what repeats there.
constexpr auto sum_of_sums =
    fuse::rule<"sum-of-sums">(sum(x) + sum(y)).replace(sum(x + y).attr<"axes">(param<"axes">)).at_equal_cost();
constexpr auto square_forgotten =
    fuse::rule<"square-forgotten">(x / sqrt(mean(square(x)) + s)).replace(x / sqrt(mean(x) + s)).at_equal_cost();
constexpr member wrong_members[] = {{&sign_lost}, {&sum_of_sums}, {&square_forgotten}};

/// The smallest graphs on which a rule breaks a law, of the seeds that find one.
template <auto const& Rule>
std::vector<example> failures(member const& rule, std::size_t most) {
  engine const& tested = engine_of<graph, Rule>;
  std::vector<example> all;
  for (std::uint64_t seed = 1; seed < 2000 && all.size() < most; ++seed) {
    example e{fuse::graph(1)};
    try {
      e = spelling(rule, seed, false).made;
    } catch (std::exception const&) {
      continue;
    }
    auto const check = [&](example const& of) { return rewritten(of, tested, {}).broken; };
    auto const broken = check(e);
    if (!broken) continue;
    CHECK(broken.law == "results stay");
    all.push_back(shrunk(e, [&](example const& of) { return check(of).law == broken.law; }));
  }
  return all;
}

std::string operators_of(example const& e) {
  std::string all;
  for (auto const n : e.graph.nodes()) all += (all.empty() ? "" : " ") + std::string(e.graph.op(n));
  return all;
}

}  // namespace

TEST_CASE("a wrong rule is caught, and its graph shrunk to what the rule is about") {
  auto const found = failures<sign_lost>(wrong_members[0], 20);
  REQUIRE(found.size() == 20);
  std::size_t of_two = 0;
  for (auto const& e : found) {
    UNSCOPED_INFO(to_text(e.graph));
    // A difference with a negated operand is as small as that spelling of a sum gets.
    auto const left = operators_of(e);
    CHECK((left == "Tanh Add" || left == "Tanh Sum" || left == "Tanh Neg Sub" || left == "Neg Tanh Sub" ||
           left == "Tanh Mul Sub" || left == "Mul Tanh Sub"));
    if (left == "Tanh Add") ++of_two;
    CHECK(e.graph.outputs().size() == 1);
    CHECK(e.graph.inputs().size() <= 2);
  }
  CHECK(of_two >= 5);
}

TEST_CASE("a rule that is wrong where operands repeat is caught where they do") {
  auto const found = failures<sum_of_sums>(wrong_members[1], 5);
  REQUIRE(found.size() == 5);
  for (auto const& e : found) {
    UNSCOPED_INFO(to_text(e.graph));
    CHECK(e.graph.node_count() <= 6);
  }
}

TEST_CASE("a rule that forgets a square is caught") {
  auto const found = failures<square_forgotten>(wrong_members[2], 10);
  REQUIRE(found.size() == 10);
  for (auto const& e : found) {
    UNSCOPED_INFO(to_text(e.graph));
    CHECK(e.graph.node_count() <= 8);
  }
}

// The checks on graphs by hand

namespace {

struct small {
  example e{fuse::graph(17)};
  fuse::graph& g = e.graph;
  fuse::graph::value in(std::string const& name, std::vector<std::int64_t> const& shape,
                        fuse::element_type type = fuse::element_type::float32) {
    e.feeds[name] = {shape, std::vector<double>(corpus::count_of(shape), 0.5), !fuse::is_floating(type)};
    return g.input(name, type, fuse::graph::dims(shape.begin(), shape.end()));
  }
  [[nodiscard]] std::string wrong() const { return validity(e).wrong(); }
};

}  // namespace

TEST_CASE("what is not valid is told") {
  small a;
  auto const of = a.in("x", {2, 3});
  auto& g = a.g;
  SECTION("a valid one") {
    g.output(g.add("Add", {of, g.add("Tanh", {of})}), "y");
    CHECK(a.wrong().empty());
  }
  SECTION("too few operands") {
    g.output(g.add("Add", {of}), "y");
    CHECK(a.wrong().find("has 1 operands") != std::string::npos);
  }
  SECTION("an operand that is absent") {
    g.output(g.add("Add", {of, {}}), "y");
    CHECK(a.wrong().find("lacks an operand") != std::string::npos);
  }
  SECTION("two types") {
    g.output(g.add("Mul", {of, a.in("k", {3}, fuse::element_type::int64)}), "y");
    CHECK(a.wrong().find("two types") != std::string::npos);
  }
  SECTION("integers where floats are needed") {
    g.output(g.add("Tanh", {a.in("k", {3}, fuse::element_type::int64)}), "y");
    CHECK(a.wrong().find("is int64") != std::string::npos);
  }
  SECTION("another type is declared") {
    auto const v = g.add("Tanh", {of});
    g.annotate(v, fuse::element_type::float16);
    g.output(v, "y");
    CHECK(a.wrong().find("declared") != std::string::npos);
  }
  SECTION("an attribute of another version") {
    g.output(g.add("ReduceSum", {of}, {{"axes", {-1}}}), "y");
    CHECK(a.wrong().find("at this version") != std::string::npos);
  }
  SECTION("an attribute of another operator") {
    g.output(g.add("Tanh", {of}, {{"axis", 1}}), "y");
    CHECK(a.wrong().find("no attribute axis") != std::string::npos);
  }
  SECTION("an order that cannot be") {
    auto const first = g.append("Tanh", {of});
    auto const second = g.add("Abs", {g.result(first)});
    g.set_operand(first, 0, second);
    g.output(second, "y");
    CHECK(a.wrong().find("not there yet") != std::string::npos);
  }
  SECTION("a value of a body is read outside") {
    auto const owner = g.append("If", {a.in("c", {}, fuse::element_type::boolean)});
    g.append_to(g.add_body(owner, "then_branch"));
    auto const inner = g.add("Tanh", {of});
    g.output(inner, "a");
    g.append_to(g.add_body(owner, "else_branch"));
    g.output(g.add("Abs", {of}), "b");
    g.append_to(fuse::graph::main_body);
    g.output(g.add("Add", {g.result(owner), inner}), "y");
    CHECK(a.wrong().find("not seen here") != std::string::npos);
  }
  SECTION("shapes that do not fit") {
    g.output(g.add("Add", {of, a.in("z", {2})}), "y");
    CHECK(a.wrong().empty());
    CHECK_THROWS(computed(a.e));
  }
}

namespace {

/// What a broken engine does.
int runs = 0;
constexpr engine broken_engine(decltype(engine::rewrite_by) rewrite) {
  auto broken = engine_of<graph, sign_lost>;
  broken.rewrite_by = rewrite;
  return broken;
}
fuse::rewrite_report told(std::size_t applied) {
  fuse::rewrite_report report;
  report.rules.push_back({"rule", applied, applied, {}});
  return report;
}

}  // namespace

TEST_CASE("what a broken engine does is told") {
  using options = fuse::rewrite_options;
  using rules = fuse::detail::compiled_rules const&;
  small a;
  a.g.output(a.g.add("Tanh", {a.in("x", {2, 3})}), "y");
  auto const law = [&](auto rewrite) {
    runs = 0;
    return rewritten(a.e, broken_engine(rewrite), {}).broken.law;
  };
  CHECK(law([](rules, fuse::graph&, options const&) { return told(0); }).empty());
  CHECK(law([](rules, fuse::graph&, options const&) { return told(1); }) == "a second run changes nothing");
  CHECK(law([](rules, fuse::graph&, options const&) {
          auto report = told(0);
          report.error = "no";
          return report;
        }) == "a graph is rewritten");
  CHECK(law([](rules, fuse::graph& g, options const&) {
          g.append("Abs", {g.outputs()[0]});
          return told(0);
        }) == "what is refused leaves no trace");
  CHECK(law([](rules, fuse::graph& g, options const&) {
          auto const v = g.outputs()[0];
          auto const n = g.append("Neg", {v});
          g.replace_uses(v, g.result(n));
          g.set_operand(n, 0, v);
          return told(1);
        }) == "results stay");
  CHECK(law([](rules, fuse::graph& g, options const&) {
          auto const v = g.outputs()[0];
          auto const n = g.append("Add", {v});
          g.replace_uses(v, g.result(n));
          g.set_operand(n, 0, v);
          return told(1);
        }) == "every node is valid");
  CHECK(law([](rules, fuse::graph& g, options const&) {
          if (runs++ == 1) g.append("Abs", {g.outputs()[0]});
          return told(runs < 2 ? 1 : 0);
        }) == "another run, without filter, gives the same graph");
}

}  // namespace soundness
