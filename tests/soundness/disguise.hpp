// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "graph_change.hpp"

namespace soundness {

/// What somebody writes between two nodes of a graph who wants a rewrite to be wrong: what changes nothing, or
/// looks as if it did not.
class disguise : graph_change {
 public:
  using graph_change::graph_change;

  /// So many changes, each behind a node of its own; false where none fits. The graph may be invalid then.
  bool some(int times) {
    bool changed = false;
    for (; times > 0; --times) {
      if (!look()) return changed;
      changed = one() || changed;
    }
    return changed;
  }

 private:
  using element_type = fuse::element_type;
  using opcode = fuse::opcode;

  bool one() {
    auto const at = any_node();
    if (!at) return false;
    auto const how =
        choose("disguise", {"a number", "a number", "a number", "signs", "axes", "repeated", "repeated", "layout",
                            "cast", "cast", "dropped", "alone", "root", "results", "absent", "endless"});
    if (how == "results") return all_results(at);
    if (how == "absent") return without_an_operand(at);
    if (how == "endless") return endless_number(at);
    auto const v = g_.result(at);
    shape_ = values_->value(v).shape;
    type_ = checked_->types().at(v.id);
    if (type_ == element_type::boolean) return false;
    bool const floats = fuse::is_floating(type_), old = g_.version() < 13;
    if (e_.second && (how == "axes" || how == "dropped" || how == "alone")) return false;  // it lacks the operators
    if (how == "a number") return number(at, v);
    if (how == "signs")
      return insert_behind(at, v, [&](value from) {
        return choose.one_in("twice negated", 2) ? append(name(opcode::neg), {append(name(opcode::neg), {from})})
                                                 : append(name(opcode::mul), {from, constant({}, -1)});
      });
    if (how == "axes") {
      auto const axis = static_cast<std::int64_t>(choose.number("put axis", {0, 1, 2, 3})) %
                        static_cast<std::int64_t>(shape_.size() + 1);
      bool const back = !choose.one_in("stays", 3);
      return insert_behind(at, v, [&](value from) {
        auto const more =
            old ? append("Unsqueeze", {from}, {{"axes", {axis}}}) : append("Unsqueeze", {from, list({axis})});
        if (!back) return more;
        return old ? append("Squeeze", {more}, {{"axes", {axis}}}) : append("Squeeze", {more, list({axis})});
      });
    }
    if (how == "repeated") return repeated(at, v);
    if (how == "layout") {
      auto to = shape_;
      if (choose.one_in("turned", 2))
        std::reverse(to.begin(), to.end());
      else if (!to.empty() && choose.one_in("rotated", 2))
        std::rotate(to.begin(), to.begin() + 1, to.end());
      if (to.size() > 1 && choose.one_in("Transpose", 3)) {
        std::vector<std::int64_t> order;
        for (auto axis = to.size(); axis-- > 0;) order.push_back(static_cast<std::int64_t>(axis));
        return insert_behind(at, v, [&](value from) { return transpose(from, order); });
      }
      return insert_behind(at, v, [&](value from) { return reshape(from, to); });
    }
    if (how == "cast") {
      if (near_whole(values_->value(v)) || (type_ != element_type::float32 && type_ != element_type::int64))
        return false;
      constexpr int types[] = {10, 11, 16, 7, 6, 1};
      auto const to = types[choose.number("narrow", {0, 0, 1, 2, 2, 3, 4, 5})];
      if (to == 16 && old && !e_.second) return false;
      return insert_behind(at, v, [&](value from) { return cast(cast(from, to), static_cast<int>(type_)); });
    }
    if (how == "dropped" && floats) return insert_behind(at, v, [&](value from) { return append("Dropout", {from}); });
    if (how == "root" && floats)
      return insert_behind(at, v, [&](value from) {
        return append(name(opcode::sqrt), {append(name(opcode::mul), {from, from})});
      });
    if (how == "alone" && floats)
      return insert_behind(at, v, [&](value from) { return append(choose.one_in("Sum", 2) ? "Sum" : "Max", {from}); });
    return false;
  }

  [[nodiscard]] std::string_view name(opcode op) const { return corpus::name_of(op, e_.second); }
  value constant(std::vector<std::int64_t> const& shape, double x) {
    return g_.constant(fuse::make_tensor(type_, shape, std::vector<double>(corpus::count_of(shape), x)));
  }
  // Shapes of a number: with axes, and with extents, that what it stands beside has or lacks.
  std::vector<std::int64_t> shape_of_number() {
    auto const how = choose.number("axes of a number", {0, 0, 1, 2, 3, 4, 5, 6});
    if (how <= 3) return std::vector<std::int64_t>(static_cast<std::size_t>(how), 1);
    if (how == 4) return shape_;
    if (how == 5 && !shape_.empty()) return {shape_.back()};
    auto larger = shape_;
    larger.insert(larger.begin(), choose.number("more", {1, 2}));
    return larger;
  }
  bool number(node at, value v) {
    auto const shape = shape_of_number();
    auto const how = choose("number", {"times one", "one times", "plus nothing", "twice", "by one", "minus nothing"});
    return insert_behind(at, v, [&](value from) {
      if (how == "times one") return append(name(opcode::mul), {from, constant(shape, 1)});
      if (how == "one times") return append(name(opcode::mul), {constant(shape, 1), from});
      if (how == "plus nothing") return append(name(opcode::add), {from, constant(shape, 0)});
      if (how == "minus nothing") return append(name(opcode::sub), {from, constant(shape, 0)});
      if (how == "twice") return append(name(opcode::add), {from, from});
      return append(name(opcode::div), {from, constant(shape, 1)});
    });
  }
  bool repeated(node at, value v) {
    auto to = shape_;
    for (auto& e : to)
      if (e == 1 && choose.one_in("larger", 2)) e = 3;
    if (choose.one_in("more axes", 3)) to.insert(to.begin(), choose.number("first", {1, 2}));
    if (!e_.second && choose.one_in("Tile", 2)) {
      std::vector<std::int64_t> times;
      for (auto const e : shape_)
        times.push_back(e == 1 && choose.one_in("tiled", 2) ? 3 : choose.one_in("twice", 9) ? 2 : 1);
      return insert_behind(at, v, [&](value from) { return append("Tile", {from, list(times)}); });
    }
    return insert_behind(at, v, [&](value from) { return append(name(opcode::expand), {from, list(to)}); });
  }

  // Somebody reads what the graph only has because a node has several results.
  bool all_results(node at) {
    if (g_.results(at).size() < 2) return false;
    for (auto const v : g_.results(at)) g_.output(v, "result" + std::to_string(v.id));
    return true;
  }
  bool without_an_operand(node at) {
    auto const count = g_.operands(at).size();
    if (count < 2 || corpus::op_named(g_.op(at)) != opcode::clip) return false;
    g_.set_operand(at, 1 + static_cast<std::size_t>(choose.number("absent", {0, 1})) % (count - 1), value{});
    return true;
  }
  bool endless_number(node at) {
    for (std::size_t i = 0; i < g_.operands(at).size(); ++i) {
      auto const c = g_.operands(at)[i] ? g_.constant(g_.operands(at)[i]) : fuse::tensor_view{};
      if (!c || c.type != element_type::float32) continue;
      constexpr auto none = std::numeric_limits<double>::quiet_NaN(), endless = std::numeric_limits<double>::infinity();
      double const numbers[] = {endless, -endless, none};
      std::vector<std::int64_t> const shape(c.shape.begin(), c.shape.end());
      type_ = c.type;
      g_.set_operand(at, i, constant(shape, numbers[choose.number("no number", {0, 1, 2})]));
      return true;
    }
    return false;
  }

  std::vector<std::int64_t> shape_{};
  element_type type_ = element_type::unknown;
};

}  // namespace soundness
