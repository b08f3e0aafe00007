// SPDX-License-Identifier: BSL-1.0
#include "rewriting.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fuse/rules/quantise_embeddings.hpp>

namespace rules_quantise_embeddings {

using namespace rewriting;

namespace {

/// A norm of embeddings of constants, whose every operand can be changed.
struct embeddings : sketch {
  std::vector<double> words{0.5, -1, 2, 0.25, 0.125, -0.5};  // three rows of two
  value ids = in("ids", {1, 3}, element_type::int32), positions{}, mask{}, places{};
  std::uint32_t results = 2;

  value table(std::vector<std::int64_t> of, std::vector<double> const& numbers) {
    return constant(fuse::make_tensor(element_type::float32, std::move(of), numbers));
  }
  node norm() {
    if (places == value{}) places = table({3, 2}, {0, 0, 0, 0, 0, 0});
    std::vector<value> operands{
        ids, value{}, table({3, 2}, words), places, value{}, table({2}, {1, 2}), table({2}, {0, -1})};
    if (mask != value{} || positions != value{}) operands.push_back(mask);
    if (positions != value{}) operands.push_back(positions);
    auto const n = append("com.microsoft::EmbedLayerNormalization", operands, {{"epsilon", 1e-3}}, results);
    output(result(n), "y");
    return n;
  }
};
std::string left(embeddings& g) {
  auto const before = to_text(g);
  auto const report = fuse::quantise_embeddings(static_cast<graph&>(g));
  CHECK(report.constants.empty());
  REQUIRE(report.left.size() == 1);
  CHECK(to_text(g) == before);
  return report.left[0];
}

}  // namespace

TEST_CASE("constants become elements of 8 bits, and the errors are told") {
  embeddings g;
  g.norm();
  auto const report = fuse::quantise_embeddings(static_cast<graph&>(g));
  CHECK(report.left.empty());
  REQUIRE(report.constants.size() == 4);
  CHECK(ops(g) == "com.microsoft::QEmbedLayerNormalization");
  auto const operands = g.operands(last(g));
  REQUIRE(operands.size() == 18);
  CHECK(number(g, last(g), "epsilon") == Approx(1e-3));

  auto const& words = report.constants[0];
  CHECK(words.shape == std::vector<std::int64_t>{3, 2});
  CHECK(words.largest == 2);
  CHECK(words.scale == Approx(3.0 / 255));
  CHECK(words.zero_point == 85);
  auto const q = g.constant(operands[2]);
  CHECK(q.type == element_type::uint8);
  double worst = 0, squares = 0;
  for (std::size_t i = 0; i < g.words.size(); ++i) {
    auto const error =
        std::fabs((q.number(i) - g.constant(operands[13]).number(0)) * g.constant(operands[8]).number(0) - g.words[i]);
    worst = std::max(worst, error);
    squares += error * error;
  }
  CHECK(words.largest_error == Approx(worst));
  CHECK(worst <= words.scale / 2 * 1.0001);
  CHECK(words.root_mean_square_error == Approx(std::sqrt(squares / 6)));

  CHECK(report.constants[1].largest_error == 0);  // zeros
  CHECK(report.constants[2].zero_point == 0);     // 1 and 2, and 0 in range
  CHECK(g.constant(operands[5]).number(1) == 255);
  CHECK(report.constants[3].zero_point == 255);  // 0 and -1
  CHECK(fuse::quantise_embeddings(static_cast<graph&>(g)).constants.empty());
}

TEST_CASE("what the operator of 8 bits does not compute stays, with the reason") {
  SECTION("given positions") {
    embeddings g;
    g.positions = g.in("positions", {1, 3}, element_type::int32);
    g.norm();
    CHECK(left(g).find("positions") != std::string::npos);
  }
  SECTION("a mask") {
    embeddings g;
    g.mask = g.in("mask", {1, 3}, element_type::int32);
    g.norm();
    CHECK(left(g).find("mask") != std::string::npos);
  }
  SECTION("a sum that is used") {
    embeddings g;
    g.results = 3;
    auto const n = g.norm();
    g.output(g.result(n, 2), "sum");
    CHECK(left(g).find("results") != std::string::npos);
  }
  SECTION("a table that a caller gives") {
    embeddings g;
    g.places = g.in("places", {3, 2});
    g.norm();
    CHECK(left(g).find("no constant") != std::string::npos);
  }
  SECTION("an element that is no finite number") {
    embeddings g;
    g.words[3] = std::numeric_limits<double>::infinity();
    g.norm();
    CHECK(left(g).find("no finite number") != std::string::npos);
  }
}

}  // namespace rules_quantise_embeddings
