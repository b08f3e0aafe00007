// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <fuse/adapters/hana_struct/list.hpp>
#include <fuse/adapters/hana_struct/read.hpp>
#include <fuse/adapters/hana_struct/write.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/ops/dialect.hpp>

/// Each operator has a struct of its own. Which of several it is stands in the dialect, in the rows made by `with`.
namespace fuse::inline v0::adapters::hana_struct {

/// Calls `use(std::type_identity<S>)` for the one of `Structs` that the dialect gives operator `op` (types that are no
/// struct of attributes are passed over), in its newest version. False where it gives it none of them.
template <class... Structs, class Use>
bool with_struct_of(dialect const& names, std::string_view op, Use&& use) {
  auto const* row = names.row(names.code(op), names.newest);
  if (row == nullptr) return false;
  bool found = false;
  auto const look = [&]<class S>(std::type_identity<S> one) {
    if constexpr (reflected<S>)
      if (!found && row->attributes == &attributes_of<S>) {
        found = true;
        use(one);
      }
  };
  (look(std::type_identity<Structs>()), ...);
  return found;
}

/// The attribute `name` of whichever struct `from` holds; nothing where it holds something else.
template <class... Structs>
[[nodiscard]] attribute_view read(std::variant<Structs...> const& from, std::string_view name) {
  return std::visit(
      [&]<class S>(S const& held) {
        if constexpr (reflected<S>)
          return read(held, name);
        else
          return attribute_view{};
      },
      from);
}

/// The same of a node of operator `op`: where it holds no struct, the defaults of its operator's.
template <class... Structs>
[[nodiscard]] attribute_view read(dialect const& names, std::string_view op, std::variant<Structs...> const& from,
                                  std::string_view name) {
  bool const holds = std::visit([]<class S>(S const&) { return reflected<S>; }, from);
  attribute_view found;
  if (holds) return read(from, name);
  with_struct_of<Structs...>(names, op, [&]<class S>(std::type_identity<S>) {
    static S const defaults{};
    found = read(defaults, name);
  });
  return found;
}

/// Whether two nodes hold the same struct with the same attributes, or both none.
template <class... Structs>
[[nodiscard]] bool same(std::variant<Structs...> const& a, std::variant<Structs...> const& b) {
  return a.index() == b.index() && std::visit(
                                       [&]<class S>(S const& held) {
                                         if constexpr (reflected<S>)
                                           return same(held, *std::get_if<S>(&b));
                                         else
                                           return true;
                                       },
                                       a);
}

/// Gives a new node of operator `op` its struct: the attributes of a rewrite, the others as the struct's default
/// constructor makes them; the first alternative (std::monostate, mostly) where the operator has no struct. Returns an
/// empty text, or one sentence that says what cannot be held: then `into` is as it was. fuse has asked the dialect
/// before it inserts a node, so that there is nothing to say then.
template <class... Structs>
std::string write(dialect const& names, std::string_view op, span<attribute const> given,
                  std::variant<Structs...>& into) {
  std::string why;
  bool const known = with_struct_of<Structs...>(names, op, [&]<class S>(std::type_identity<S>) {
    S made{};
    why = write(given, made);
    if (why.empty()) into.template emplace<S>(std::move(made));
  });
  if (!known && given.size() != 0)
    why = "there is no attribute '" + given[0].name + "'; there are none";
  else if (!known)
    into.template emplace<0>();
  return why;
}

}  // namespace fuse::inline v0::adapters::hana_struct
