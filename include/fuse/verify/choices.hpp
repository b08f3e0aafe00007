// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fuse::inline v0::detail {

/// Random choices that depend on the seed, the dimension's name and how often it was asked, and on nothing else: fixing
/// one dimension leaves the others as they were. The same on every platform.
class random_choices {
 public:
  explicit random_choices(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  /// One of the options; listing one twice makes it twice as likely.
  std::string_view operator()(std::string_view dimension, std::vector<std::string_view> const& options) {
    auto const chosen = options[next(dimension) % options.size()];
    choices_.emplace_back(dimension, chosen);
    return chosen;
  }
  std::string_view operator()(std::string_view dimension, std::initializer_list<std::string_view> options) {
    return (*this)(dimension, std::vector<std::string_view>(options));
  }
  int number(std::string_view dimension, std::vector<int> const& options) {
    auto const chosen = options[next(dimension) % options.size()];
    choices_.emplace_back(dimension, std::to_string(chosen));
    return chosen;
  }
  bool one_in(std::string_view dimension, int n) { return next(dimension) % static_cast<std::uint64_t>(n) == 0; }

  /// Numbers of [low, high) but not near 1, every fourth negative where `signs` is set.
  std::vector<double> numbers(std::string_view name, std::size_t count, double low = 0.5, double high = 2,
                              bool signs = true) {
    std::vector<double> all(count);
    for (auto& x : all) {
      auto const bits = next(name);
      x = low + (high - low) * static_cast<double>(bits >> 11) / 9007199254740992.0;
      if (x > 0.98 && x < 1.02) x += 0.1;
      if (signs && (bits & 3) == 0) x = -x;
    }
    return all;
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> const& choices() const { return choices_; }

 private:
  std::uint64_t next(std::string_view dimension) {
    auto const turn = turns_[std::string(dimension)]++;
    std::uint64_t h = 14695981039346656037u ^ seed_ * 0x9e3779b97f4a7c15u;
    for (char const c : dimension) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
    h += turn * 0xd1342543de82ef95u;
    for (int i = 0; i < 2; ++i) h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;  // spreads the low bits that `%` looks at
    return h ^ (h >> 32);
  }

  std::uint64_t seed_;
  std::map<std::string, std::uint64_t> turns_;
  std::vector<std::pair<std::string, std::string>> choices_;
};

}  // namespace fuse::inline v0::detail
