// SPDX-License-Identifier: BSL-1.0
#include <fuse/kernels/execution.hpp>
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/rms_norm.hpp>

#include "random_case.hpp"

#include <functional>
#include <stdexcept>
#include <thread>

namespace execution {
using namespace fuse::kernels;
using guarded_memory::guarded;

// Ranges of `grain` and the rest, each in a thread of its own.
struct threads {
  std::size_t calls = 0, rows = 0, grain = 0;

  template <class Body>
  void operator()(std::size_t count, std::size_t grain_, Body const& body) {
    ++calls;
    rows = count;
    grain = grain_;
    std::vector<std::thread> all;
    for (std::size_t begin = 0; begin < count; begin += grain) {
      all.emplace_back(body, begin, std::min(begin + grain, count));
    }
    for (auto& one : all) one.join();
  }
};

constexpr std::size_t rows = 301, columns = 771;  // 1.9 MB read and written

template <class Norm>
void check_equal(Norm const& norm) {
  std::mt19937 random(23);
  std::vector<float> x(rows * columns), expected(rows * columns);
  random_case::fill(std::span(x), 5, 1, random);
  guarded<float> y(rows * columns, true), statistics(rows, true);
  matrix_view<float const> const input(x.data(), rows, columns);
  REQUIRE(norm(input, matrix_view(expected.data(), rows, columns), std::span<float>(), on()).ok());
  threads executor;
  REQUIRE(norm(input, matrix_view(y.data(), rows, columns), statistics.span(), on(executor)).ok());
  CHECK(executor.calls == 1);
  CHECK(executor.rows == rows);
  CHECK(executor.grain >= 1);
  CHECK(executor.grain < rows / 2);
  CHECK(std::equal(expected.begin(), expected.end(), y.data()));
  // Poison is a NaN: each row was reached.
  CHECK(std::all_of(statistics.data(), statistics.data() + rows, [](float v) { return v > 0; }));
}

TEST_CASE("rows that threads share are the same rows") {
  random_case::for_each_target([&] {
    check_equal([](auto x, auto y, auto inverse, auto how) {
      return fuse::kernels::layer_norm(x, none, none, y, 1e-5f, {{}, inverse}, how);
    });
    check_equal([](auto x, auto y, auto inverse, auto how) {
      return fuse::kernels::rms_norm(x, none, y, 1e-5f, inverse, how);
    });
  });
}

// In place, a row that is worked on twice gives itself away: epsilon makes another number of it each time.
TEST_CASE("each row is worked on once") {
  std::vector<float> x(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 2.0f : -2.0f;
  matrix_view const view(x.data(), rows, columns);
  threads executor;
  REQUIRE(fuse::kernels::rms_norm(view, none, view, 1.0f, {}, on(executor)).ok());
  float const expected = 2 / std::sqrt(5.0f);
  std::size_t different = 0;
  for (float const value : x) different += std::abs(std::abs(value) - expected) < 1e-5f ? 0 : 1;
  CHECK(different == 0);
}

TEST_CASE("small work stays on the calling thread") {
  std::vector<float> x(192 * 1024 / 8);
  threads executor;
  auto const calls = [&](std::size_t count, std::size_t width) {
    executor.calls = 0;
    matrix_view const view(x.data(), count, width);
    REQUIRE(fuse::kernels::rms_norm(view, none, view, 1e-5f, {}, on(executor)).ok());
    return executor.calls;
  };
  CHECK(calls(0, 8) == 0);
  CHECK(calls(1, x.size()) == 0);
  CHECK(calls(30, 768) == 0);
  CHECK(calls(32, 768) == 1);
  CHECK(executor.grain == 16);
  CHECK(calls(x.size() - 8, 1) == 0);
  CHECK(calls(x.size(), 1) == 1);
}

TEST_CASE("what is wrong is found before an executor is called") {
  threads executor;
  std::vector<float> x(rows * columns);
  matrix_view const view(x.data(), rows, columns);
  CHECK_FALSE(fuse::kernels::rms_norm(view, none, view, -1.0f, {}, on(executor)).ok());
  CHECK(executor.calls == 0);
}

TEST_CASE("executors of any form") {
  std::vector<float> x(rows * columns, 1.0f);
  matrix_view const view(x.data(), rows, columns);
  int called = 0;
  auto const run = [&](auto how) {
    return fuse::kernels::layer_norm(view, none, none, view, 1e-5f, {}, std::move(how)).ok();
  };
  CHECK(run(on(calling_thread())));
  CHECK(run(on(output::read_soon)));
  CHECK(run(on([&](std::size_t count, std::size_t, auto const& body) {
    ++called;
    body(0, count);
  })));
  using any_body = std::function<void(std::size_t, std::size_t)>;
  std::function<void(std::size_t, std::size_t, any_body const&)> const erased =
      [&](std::size_t count, std::size_t grain, any_body const& body) {
        ++called;
        body(grain, count);
        body(0, grain);
      };
  CHECK(run(on(erased, output::not_read_soon)));
  CHECK(called == 2);
#ifdef __cpp_exceptions
  auto const throws = [](std::size_t, std::size_t, auto const&) { throw std::runtime_error("no threads"); };
  CHECK_THROWS_AS(run(on(throws)), std::runtime_error);
#endif
}

// The hint changes the way, not the result, wherever rows begin in a line of a cache.
TEST_CASE("when the output is read changes nothing of it") {
  std::mt19937 random(29);
  random_case::for_each_target([&] {
    for (std::size_t const width : {1u, 15u, 16u, 17u, 63u, 1000u}) {
      // As many elements after a page as a line has, in turn.
      std::size_t const past = (width * 5 + 3) % 16;
      guarded<float> x(past + 7 * width, false), soon(7 * width, false), late(7 * width, true);
      random_case::fill(x.span(), 1, 2, random);
      matrix_view<float const> const input(x.data() + past, 7, width);
      REQUIRE(fuse::kernels::rms_norm(input, none, matrix_view(soon.data(), 7, width), 1e-5f, {}, on(output::read_soon))
                  .ok());
      REQUIRE(
          fuse::kernels::rms_norm(input, none, matrix_view(late.data(), 7, width), 1e-5f, {}, on(output::not_read_soon))
              .ok());
      std::size_t different = 0;
      for (std::size_t i = 0; i < 7 * width; ++i) different += soon[i] == late[i] ? 0 : 1;
      CHECK(different == 0);
    }
  });
}

}  // namespace execution
