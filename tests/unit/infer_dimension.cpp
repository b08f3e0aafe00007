// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <fuse/infer/dimension.hpp>

namespace infer_dimension {

using fuse::extent;
using fuse::extent_algebra;

TEST_CASE("equal polynomials are one symbol") {
  extent_algebra a;
  auto const b = a.named("b"), s = a.named("s"), p = a.named("p");
  CHECK(a.named("b") == b);
  CHECK(b != s);
  CHECK(a.add(b, s) == a.add(s, b));
  CHECK(a.multiply(a.add(s, p), b) == a.add(a.multiply(b, p), a.multiply(s, b)));
  CHECK(a.subtract(a.add(b, s), b) == s);
  CHECK(a.subtract(b, b) == extent(0));
  CHECK(a.multiply(b, 0) == extent(0));
  CHECK(a.add(a.subtract(b, 1), 1) == b);
  CHECK(a.fresh() != a.fresh());
}

TEST_CASE("division cancels what stands on both sides") {
  extent_algebra a;
  auto const b = a.named("b"), s = a.named("s"), p = a.named("p");
  auto const elements = a.multiply(a.multiply(b, a.add(s, p)), 768);
  extent quotient;
  REQUIRE(a.divide_exactly(elements, a.multiply(a.multiply(12, b), a.add(p, s)), quotient));
  CHECK(quotient == extent(64));
  REQUIRE(a.divide_exactly(elements, a.multiply(b, 768), quotient));
  CHECK(quotient == a.add(s, p));
  CHECK_FALSE(a.divide_exactly(s, 2, quotient));
  CHECK_FALSE(a.divide_exactly(s, p, quotient));
  CHECK_FALSE(a.divide_exactly(s, 0, quotient));
  CHECK(a.floor_divide(s, 2) == a.floor_divide(s, 2));
  CHECK(a.floor_divide(s, 2) != a.floor_divide(s, 3));
  CHECK(a.floor_divide(-7, 2) == extent(-4));
  CHECK(a.divide(-7, 2) == extent(-3));
}

TEST_CASE("a dimension is not negative, a difference may be") {
  extent_algebra a;
  auto const s = a.named("s"), p = a.named("p");
  CHECK(a.maximum(s, 0) == s);
  CHECK(a.maximum(a.subtract(s, 1), 0) != a.subtract(s, 1));
  CHECK(a.maximum(a.add(s, p), p) == a.add(s, p));
  CHECK(a.minimum(a.add(s, 2), s) == s);
  CHECK(a.minimum(s, 24) == a.minimum(24, s));
  CHECK(a.least(a.add(s, 3)) == 3);
  CHECK(a.least(a.subtract(3, s)) == fuse::no_bound);
  CHECK(a.different(s, -1));
  CHECK(a.different(a.add(s, 1), s));
  CHECK_FALSE(a.different(s, 1));
  CHECK_FALSE(a.different(s, p));
}

TEST_CASE("a broadcast is known where a valid graph leaves no choice") {
  extent_algebra a;
  auto const s = a.named("s"), p = a.named("p"), q = a.named("q");
  CHECK(a.broadcast(s, 1) == s);
  CHECK(a.broadcast(1, s) == s);
  CHECK(a.broadcast(s, s) == s);
  CHECK(a.broadcast(s, 5) == extent(5));
  CHECK(a.broadcast(0, s) == extent(0));
  CHECK(a.broadcast(s, a.add(p, 2)) == a.add(p, 2));
  CHECK(a.broadcast(s, a.minimum(s, 24)) == s);
  CHECK(a.broadcast(a.minimum(p, s), s) != s);  // both may be 1 or p
  auto const sp = a.broadcast(s, p);
  CHECK(sp != s);
  CHECK(sp == a.broadcast(p, s));
  CHECK(a.broadcast(sp, p) == sp);
  CHECK(a.broadcast(a.broadcast(s, q), p) == a.broadcast(q, sp));
  CHECK(a.is_fresh(a.broadcast(2, 3)));
}

TEST_CASE("of two that are equal the plainer one is kept") {
  extent_algebra a;
  auto const s = a.named("s"), p = a.named("p"), sum = a.add(a.maximum(a.subtract(s, 1), 0), 1);
  CHECK(a.plainer(s, 5) == extent(5));
  CHECK(a.plainer(5, s) == extent(5));
  CHECK(a.plainer(sum, s) == s);
  CHECK(a.plainer(s, sum) == s);
  CHECK(a.plainer(s, p) == s);
  CHECK(a.plainer(a.fresh(), p) == p);
}

TEST_CASE("what leaves the range of integers is a symbol of its own") {
  extent_algebra a;
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  auto const s = a.named("s");
  CHECK(a.is_fresh(a.add(most, 1)));
  CHECK(a.is_fresh(a.multiply(most, 2)));
  CHECK(a.is_fresh(a.subtract(0, least)));
  CHECK(a.is_fresh(a.divide(least, -1)));
  CHECK(a.is_fresh(a.floor_divide(least, -1)));
  CHECK(a.is_fresh(a.multiply(a.multiply(s, most), 2)));
  CHECK(a.multiply(most, -1) == extent(-most));
  auto power = s;
  for (int i = 0; i < 6; ++i) power = a.multiply(power, s);  // degree 7
  CHECK(a.is_fresh(power));
}

TEST_CASE("expressions mean what they say") {
  // Random expressions over three symbols, with each symbol's value beside it.
  unsigned const seed = 20;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    extent_algebra a;
    struct pair {
      extent e;
      std::int64_t value;
    };
    std::vector<pair> all{{a.named("x"), 3}, {a.named("y"), 1}, {a.named("z"), 7}, {extent(2), 2}, {extent(-1), -1}};
    for (int step = 0; step < 30; ++step) {
      auto const& l = all[random() % all.size()];
      auto const& r = all[random() % all.size()];
      if (l.value > 100000 || l.value < -100000 || r.value > 100000 || r.value < -100000) continue;
      auto const floor = r.value == 0 ? 0 : (l.value - ((l.value % r.value) + r.value) % r.value) / r.value;
      switch (random() % 7) {
        case 0: all.push_back({a.add(l.e, r.e), l.value + r.value}); break;
        case 1: all.push_back({a.subtract(l.e, r.e), l.value - r.value}); break;
        case 2: all.push_back({a.multiply(l.e, r.e), l.value * r.value}); break;
        case 3: all.push_back({a.maximum(l.e, r.e), l.value > r.value ? l.value : r.value}); break;
        case 4: all.push_back({a.minimum(l.e, r.e), l.value < r.value ? l.value : r.value}); break;
        case 5:
          if (r.value != 0) all.push_back({a.floor_divide(l.e, r.e), floor});
          break;
        default:
          if (r.value != 0) all.push_back({a.divide(l.e, r.e), l.value / r.value});
      }
    }
    for (auto const& p : all) {
      INFO(a.text(p.e));
      if (p.e.known()) CHECK(p.e.value() == p.value);
      CHECK(a.least(p.e) <= p.value);
      for (auto const& q : all) {
        if (p.e == q.e) CHECK(p.value == q.value);
        if (a.different(p.e, q.e)) CHECK(p.value != q.value);
      }
    }
  }
}

}  // namespace infer_dimension
