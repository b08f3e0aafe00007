// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fuse/rewrite/check.hpp>
#include <fuse/rules/padding.hpp>

namespace rules_padding {

using namespace rewriting;
using value = graph::value;
using integer_list = std::vector<std::int64_t>;
using given = std::vector<graph::named>;

namespace {

/// A Pad, and a layer behind it.
struct behind_pad : sketch {
  explicit behind_pad(int version = 17) : sketch(version) {}

  integer_list pads{0, 0, 1, 0, 0, 2};
  double number = 0;
  std::string mode = "constant";
  given of_layer{};
  dims shape{2, 4, 8};

  value numbers(integer_list const& of) {
    std::size_t count = 1;
    for (auto const extent : of) count *= static_cast<std::size_t>(extent);
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(-1 + 0.0625 * static_cast<double>(i));
    return constant(fuse::make_tensor(element_type::float32, of, all));
  }
  value integers(integer_list const& of) {
    return constant(
        fuse::make_tensor(integer_list{static_cast<std::int64_t>(of.size())}, fuse::span<std::int64_t const>(of)));
  }
  value one(double of) {
    return constant(fuse::make_tensor(element_type::float32, integer_list{}, std::vector<double>{of}));
  }

  value padded() {
    auto const x = in("x", shape);
    given how{{"mode", mode}};
    if (version() >= 11) return add("Pad", {x, integers(pads), one(number)}, how);
    how.emplace_back("pads", pads);
    how.emplace_back("value", number);
    return add("Pad", {x}, how);
  }
  value conv(value of) { return add("Conv", {of, numbers({6, 4, 3}), numbers({6})}, of_layer); }
  value pool(std::string const& name, value of, std::int64_t window = 4) {
    of_layer.emplace_back("kernel_shape", integer_list(shape.size() - 2, window));
    return add(name, {of}, of_layer);
  }
};

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What is left of the graph with output `y`; each rewrite is checked.
std::string left(behind_pad& g, value y, std::string* why = nullptr) {
  g.end(y);
  fuse::rewrite_options options;
  options.check = &fuse::check_by_evaluation<>;
  auto const report = fuse::rewrite<fuse::rules::padding>(static_cast<graph&>(g), options);
  INFO(to_text(report));
  CHECK(report.error.empty());
  CHECK(report.notes.empty());
  std::string all;
  for (auto const& rule : report.rules)
    for (auto const& r : rule.refused) all += (all.empty() ? "" : ", ") + r.condition;
  if (why != nullptr) *why = all;
  return ops(g);
}
integer_list pads_of(graph const& g) { return std::get<integer_list>(g.attribute(last(g), "pads")->content); }

}  // namespace

TEST_CASE("a convolution pads what was padded before it") {
  SECTION("in every operator set") {
    for (int const version : {2, 10, 11, 13, 17, 18, 21, 23}) {
      behind_pad g(version);
      CHECK(left(g, g.conv(g.padded())) == "Conv");
      CHECK(pads_of(g) == integer_list{1, 2});
    }
  }
  behind_pad g;
  SECTION("and what it padded itself") {
    g.of_layer = {{"pads", integer_list{3, 0}}, {"strides", integer_list{2}}, {"dilations", integer_list{2}}};
    CHECK(left(g, g.conv(g.padded())) == "Conv");
    CHECK(pads_of(g) == integer_list{4, 2});
    CHECK(std::get<integer_list>(g.attribute(last(g), "dilations")->content) == integer_list{2});
  }
  SECTION("where it says that it pads nothing") {
    g.of_layer = {{"auto_pad", "VALID"}};
    CHECK(left(g, g.conv(g.padded())) == "Conv");
    CHECK(pads_of(g) == integer_list{1, 2});
    CHECK(g.attribute(last(g), "auto_pad") == nullptr);
  }
  SECTION("of several axes, each with its own") {
    g.shape = {1, 4, "h", "w"};
    g.pads = {0, 0, 1, 2, 0, 0, 3, 4};
    g.of_layer = {{"pads", integer_list{0, 1, 1, 0}}};
    CHECK(left(g, g.add("Conv", {g.padded(), g.numbers({6, 4, 3, 3})}, g.of_layer)) == "Conv");
    CHECK(pads_of(g) == integer_list{1, 3, 4, 4});
  }
  SECTION("without a number, which is 0") {
    auto const p = g.add("Pad", {g.in("x", g.shape), g.integers(g.pads)});
    CHECK(left(g, g.conv(p)) == "Conv");
  }
  SECTION("weights that are computed") { CHECK(left(g, g.add("Conv", {g.padded(), g.in("w", {6, 4, 3})})) == "Conv"); }
}

TEST_CASE("a Pad that names its axes") {
  behind_pad g(18);
  g.shape = {1, 4, 8, 9};
  auto const padded = [&](integer_list const& pads, integer_list const& axes) {
    return g.add("Pad", {g.in("x", g.shape), g.integers(pads), value{}, g.integers(axes)});
  };
  auto const conv = [&](value of) { return g.add("Conv", {of, g.numbers({6, 4, 3, 3})}); };
  SECTION("in any order") {
    CHECK(left(g, conv(padded({1, 2, 3, 4}, {-1, 2}))) == "Conv");
    CHECK(pads_of(g) == integer_list{2, 1, 4, 3});
  }
  SECTION("one alone") {
    CHECK(left(g, conv(padded({1, 2}, {3}))) == "Conv");
    CHECK(pads_of(g) == integer_list{0, 1, 0, 2});
  }
  SECTION("that of channels") { CHECK(left(g, conv(padded({1, 1}, {1}))) == "Pad Conv"); }
  SECTION("one twice") { CHECK(left(g, conv(padded({1, 1, 0, 0}, {3, -1}))) == "Pad Conv"); }
  SECTION("computed") {
    auto const p =
        g.add("Pad", {g.in("x", g.shape), g.integers({1, 2}), value{}, g.in("axes", {1}, element_type::int64)});
    CHECK(left(g, conv(p)) == "Pad Conv");
  }
}

TEST_CASE("a pool pads what was padded before it") {
  behind_pad g;
  SECTION("an average of what counts what it pads") {
    g.of_layer = {{"count_include_pad", 1}, {"pads", integer_list{1, 1}}};
    CHECK(left(g, g.pool("AveragePool", g.padded())) == "AveragePool");
    CHECK(pads_of(g) == integer_list{2, 3});
  }
  SECTION("an average of what pads nothing") {
    CHECK(left(g, g.pool("AveragePool", g.padded())) == "AveragePool");
    CHECK(pads_of(g) == integer_list{1, 2});
    CHECK(number(g, last(g), "count_include_pad") == 1);
  }
  SECTION("a maximum") {
    g.number = -infinity;
    g.of_layer = {{"pads", integer_list{1, 0}}, {"strides", integer_list{2}}};
    CHECK(left(g, g.pool("MaxPool", g.padded())) == "MaxPool");
    CHECK(pads_of(g) == integer_list{2, 2});
  }
}

TEST_CASE("what a layer would not pad so stays") {
  behind_pad g;
  std::string why;
  SECTION("another number") {
    g.number = 0.5;
    CHECK(left(g, g.conv(g.padded())) == "Pad Conv");
  }
  SECTION("a computed number") {
    auto const p = g.add("Pad", {g.in("x", g.shape), g.integers(g.pads), g.in("v", {})});
    CHECK(left(g, g.conv(p)) == "Pad Conv");
  }
  SECTION("computed pads") {
    auto const p = g.add("Pad", {g.in("x", g.shape), g.in("pads", {6}, element_type::int64)});
    CHECK(left(g, g.conv(p)) == "Pad Conv");
  }
  SECTION("elements of the input again") {
    for (std::string const mode : {"reflect", "edge", "wrap"}) {
      behind_pad other(21);
      other.mode = mode;
      CHECK(left(other, other.conv(other.padded())) == "Pad Conv");
    }
  }
  SECTION("channels") {
    g.pads = {0, 1, 1, 0, 0, 0};
    g.shape = {2, 3, 8};
    CHECK(left(g, g.conv(g.padded()), &why) == "Pad Conv");
    CHECK(why == "batch and channels are not padded");
  }
  SECTION("the batch") {
    g.pads = {0, 0, 0, 1, 0, 0};
    CHECK(left(g, g.conv(g.padded()), &why) == "Pad Conv");
    CHECK(why == "batch and channels are not padded");
  }
  SECTION("what is cut off") {
    g.pads = {0, 0, -1, 0, 0, 2};
    CHECK(left(g, g.conv(g.padded()), &why) == "Pad Conv");
    CHECK(why == "nothing is cut off");
  }
  SECTION("a convolution that pads as it needs") {
    for (std::string const padding : {"SAME_UPPER", "SAME_LOWER"}) {
      behind_pad other;
      other.of_layer = {{"auto_pad", padding}};
      CHECK(left(other, other.conv(other.padded())) == "Pad Conv");
    }
  }
  SECTION("a transposed convolution") {
    CHECK(left(g, g.add("ConvTranspose", {g.padded(), g.numbers({4, 6, 3})})) == "Pad ConvTranspose");
  }
  SECTION("an output") {
    auto const p = g.padded();
    g.output(p, "p");
    CHECK(left(g, g.conv(p), &why) == "Pad Conv");
    CHECK(why == "nothing else reads what is padded");
  }
  SECTION("what others read, too") {
    auto const p = g.padded();
    g.output(g.add("Relu", {p}), "p");
    CHECK(left(g, g.conv(p), &why) == "Pad Relu Conv");
    CHECK(why == "nothing else reads what is padded");
  }
}

TEST_CASE("what a pool would not pad so stays") {
  behind_pad g;
  std::string why;
  SECTION("an average that does not count what it pads") {
    g.of_layer = {{"pads", integer_list{1, 1}}};
    CHECK(left(g, g.pool("AveragePool", g.padded()), &why) == "Pad AveragePool");
    CHECK(why == "its own padding counts, or there is none");
  }
  SECTION("an average whose last window reaches beyond the padding") {
    g.of_layer = {{"ceil_mode", 1}, {"strides", integer_list{3}}};
    CHECK(left(g, g.pool("AveragePool", g.padded())) == "Pad AveragePool");
  }
  SECTION("windows beside the input") {
    g.pads = {0, 0, 4, 0, 0, 0};
    CHECK(left(g, g.pool("AveragePool", g.padded()), &why) == "Pad AveragePool");
    CHECK(why == "no window lies beside the input");
  }
  SECTION("windows beside the input, with what the pool pads") {
    g.number = -infinity;
    g.of_layer = {{"pads", integer_list{0, 2}}};
    CHECK(left(g, g.pool("MaxPool", g.padded()), &why) == "Pad MaxPool");
    CHECK(why == "no window lies beside the input");
  }
  SECTION("a maximum of what is padded by 0") { CHECK(left(g, g.pool("MaxPool", g.padded())) == "Pad MaxPool"); }
  SECTION("a maximum of windows with gaps") {
    g.number = -infinity;
    g.of_layer = {{"dilations", integer_list{2}}};
    CHECK(left(g, g.pool("MaxPool", g.padded(), 3), &why) == "Pad MaxPool");
    CHECK(why == "windows have no gaps");
  }
  SECTION("where a maximum was") {
    g.number = -infinity;
    auto const n = g.append("MaxPool", {g.padded()}, {{"kernel_shape", integer_list{4}}}, 2);
    g.output(g.result(n, 1), "where");
    CHECK(left(g, g.result(n, 0)) == "Pad MaxPool");
  }
}

TEST_CASE("what two convolutions read padded, each pads") {
  behind_pad g;
  auto const p = g.padded();
  g.output(g.conv(p), "z");
  CHECK(left(g, g.conv(p)) == "Conv Conv");
}

}  // namespace rules_padding
