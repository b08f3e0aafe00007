// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/graph/attribute.hpp>
#include <fuse/graph/tensor.hpp>

namespace fuse::inline v0 {

/// The handles of `fuse::graph` and what its builder takes; used as `graph::node`, `graph::value`, `graph::dims`.
struct graph_parts {
  static constexpr std::uint32_t none = 0xffffffffu;

  struct node {
    std::uint32_t id = none;
    [[nodiscard]] explicit operator bool() const { return id != none; }
    friend bool operator==(node, node) = default;
  };
  struct value {
    std::uint32_t id = none;
    [[nodiscard]] explicit operator bool() const { return id != none; }
    friend bool operator==(value, value) = default;
  };
  /// The graph itself (`main_body`), or the body of a control flow operator.
  struct body {
    std::uint32_t id = 0;
    friend bool operator==(body, body) = default;
  };

  /// An extent: a number, a name ("batch"), or unknown (-1, or the empty name).
  struct dim {
    std::int64_t extent = -1;
    std::string symbol{};

    template <class T>
      requires std::is_integral_v<T> dim(T known)
          : extent(static_cast<std::int64_t>(known)) {}   // NOLINT: implicit on purpose
      dim(char const* name) : symbol(name) {}             // NOLINT
      dim(std::string name) : symbol(std::move(name)) {}  // NOLINT
      friend bool operator==(dim const&, dim const&) = default;
  };
  using dims = std::vector<dim>;

  /// A named attribute: `{"axes", {-1}}`, `{"epsilon", 1e-5}`, `{"mode", "fast"}`.
  template <class Tensor>
  struct basic_named {
    std::string name;
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<float>, Tensor> content;

    template <class T>
      requires std::is_integral_v<T> basic_named(std::string_view n, T number)
          : name(n), content(static_cast<std::int64_t>(number)) {}
      basic_named(std::string_view n, double number) : name(n), content(number) {}
      basic_named(std::string_view n, char const* text) : name(n), content(std::string(text)) {}
      basic_named(std::string_view n, std::string text) : name(n), content(std::move(text)) {}
      basic_named(std::string_view n, std::initializer_list<std::int64_t> numbers)
          : name(n), content(std::vector(numbers)) {}
      basic_named(std::string_view n, std::vector<std::int64_t> numbers) : name(n), content(std::move(numbers)) {}
      basic_named(std::string_view n, std::vector<float> numbers) : name(n), content(std::move(numbers)) {}
      basic_named(std::string_view n, Tensor contents) : name(n), content(std::move(contents)) {}
      basic_named(attribute const& a) : name(a.name) {  // NOLINT
        std::visit([this](auto const& c) { content = c; }, a.content);
      }
  };
  using named = basic_named<tensor>;

  // Just what a loop needs: <ranges> costs every includer more than this file does.
  struct value_range {
    struct iterator {
      std::uint32_t id;
      value operator*() const { return {id}; }
      iterator& operator++() { return ++id, *this; }
      friend bool operator==(iterator, iterator) = default;
    };
    std::uint32_t first, count;
    [[nodiscard]] iterator begin() const { return {first}; }
    [[nodiscard]] iterator end() const { return {first + count}; }
    [[nodiscard]] std::size_t size() const { return count; }
  };
};

}  // namespace fuse::inline v0
