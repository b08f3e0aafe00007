// SPDX-License-Identifier: BSL-1.0
#include <catch.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include <fuse/core/plain_vector.hpp>

namespace core_plain_vector {

namespace {

struct record {
  std::uint32_t a = 7;
  double b = 0.5;
  friend bool operator==(record const&, record const&) = default;
};
using records = fuse::detail::plain_vector<record>;

// Of 64 elements, `count` are there.
struct few {
  using moves_as_bytes = void;
  int all[64];
  int count = 0;
  few() {}  // NOLINT
  few(few const& other) { *this = other; }
  few& operator=(few const& other) {
    count = other.count;
    for (int i = 0; i < count; ++i) all[i] = other.all[i];
    return *this;
  }
};

std::vector<record> elements(records const& v) { return {v.begin(), v.end()}; }

}  // namespace

TEST_CASE("a plain vector does what a std::vector does") {
  std::mt19937 random(7);
  records own;
  std::vector<record> known;
  for (int i = 0; i < 5000; ++i) {
    record const each{static_cast<std::uint32_t>(random()), static_cast<double>(i)};
    auto const size = random() % 40;
    switch (random() % 10) {
      case 0: own.resize(size), known.resize(size); break;
      case 1: own.resize(size, each), known.resize(size, each); break;
      case 2: own.assign(size, each), known.assign(size, each); break;
      case 3: own.append(std::vector(size, each)), known.insert(known.end(), size, each); break;
      case 4: {
        auto const odd = [](record const& r) { return r.a % 2 != 0; };
        own.erase_if(odd), std::erase_if(known, odd);
        break;
      }
      case 5: {
        auto const first = known.empty() ? 0 : random() % known.size();
        own.erase_first(first), known.erase(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(first));
        break;
      }
      case 6:
        if (!known.empty()) own.pop_back(), known.pop_back();
        break;
      case 7: own.emplace_back().a = each.a, known.emplace_back().a = each.a; break;
      case 8: own.reserve(size); break;
      default: own.push_back(each), known.push_back(each);
    }
    REQUIRE(elements(own) == known);
    REQUIRE(own.empty() == known.empty());
    if (known.empty()) continue;
    REQUIRE(own.front() == known.front());
    REQUIRE(own.back() == known.back());
    own[size % own.size()] = each, known[size % known.size()] = each;
  }
}

TEST_CASE("an element of its own may be added, as memory moves") {
  records v(1, {1, 2});
  for (int i = 0; i < 100; ++i) v.push_back(v.front());
  CHECK(elements(v) == std::vector<record>(101, {1, 2}));
}

TEST_CASE("copies are apart; what was moved from is empty, and of use") {
  records a(3, {1, 2}), b = a;
  b[0].a = 9;
  CHECK(a[0].a == 1);
  a = b;
  CHECK(elements(a) == elements(b));
  auto const& same = a;
  a = same;
  CHECK(a.size() == 3);
  records c = std::move(a);
  CHECK(c[0].a == 9);
  CHECK(a.empty());  // NOLINT: says what holds
  a.push_back({});
  CHECK(a.back() == record{});
  c = records(2);
  CHECK(elements(c) == std::vector<record>(2));
  c.clear();
  CHECK(c.empty());
  CHECK(records().begin() == records().end());
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<records>);
}

TEST_CASE("a plain vector copies what moves as bytes as that copies itself") {
  static_assert(!std::is_trivially_copyable_v<few>);
  fuse::detail::plain_vector<few> own;
  for (int i = 0; i < 20; ++i) {
    auto& made = own.emplace_back();
    for (made.count = 0; made.count < i; ++made.count) made.all[made.count] = i * made.count;
  }
  own.append(fuse::detail::plain_vector<few>(own));
  REQUIRE(own.size() == 40);
  for (int k = 0; k < 40; ++k) {
    auto const& each = own[static_cast<std::size_t>(k)];
    REQUIRE(each.count == k % 20);
    for (int i = 0; i < each.count; ++i) REQUIRE(each.all[i] == k % 20 * i);
  }
}

}  // namespace core_plain_vector
