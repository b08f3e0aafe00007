// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/tensor.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/node_parameters.hpp>
#include <fuse/ops/operator.hpp>
#include <fuse/verify/sample.hpp>

namespace fuse::inline v0::detail {

/// A sample under construction, which knows the shape and element type of each of its values. Operators are written as
/// the dialect `names` writes them. `wrong` says why there is none.
class shaped_sample {
 public:
  sample made;
  std::string wrong{};

 protected:
  using value = graph::value;
  using named = graph::named;
  using shape = std::vector<std::int64_t>;

  shaped_sample(dialect const& names, int version) : made{graph(version)}, names_(names), g_(made.graph) {}
  shaped_sample(shaped_sample const&) = delete;
  shaped_sample& operator=(shaped_sample const&) = delete;
  ~shaped_sample() = default;

  struct parameter {
    std::string name;
    bool listed = false, real = false;
    double number = 0;
    shape list{};
  };

  [[nodiscard]] shape const& shape_of(value v) { return shapes_[v.id]; }
  [[nodiscard]] element_type type_of(value v) { return types_[v.id]; }
  void know(value v, shape of, element_type type) {
    shapes_[v.id] = std::move(of);
    types_[v.id] = type;
  }

  void fail(std::string why) {
    if (wrong.empty()) wrong = std::move(why);
  }
  static shape broadcast(shape a, shape b) {
    if (a.size() < b.size()) a.swap(b);
    for (std::size_t i = 1; i <= b.size(); ++i)
      if (auto& e = a[a.size() - i]; e == 1) e = b[b.size() - i];
    return a;
  }
  // A node of a name; its result is declared nowhere.
  value append(std::string_view name, std::vector<value> const& operands, std::vector<named> attributes,
               shape made_shape, element_type type) {
    return append(name, operands, std::move(attributes), {std::move(made_shape)}, type, 1)[0];
  }
  std::vector<value> append(std::string_view name, std::vector<value> const& operands, std::vector<named> attributes,
                            std::vector<shape> made_shapes, element_type type, std::uint32_t results) {
    auto const n = g_.append(name, operands, std::move(attributes), results);
    std::vector<value> all;
    for (std::uint32_t i = 0; i < results; ++i) {
      all.push_back(g_.result(n, i));
      know(all.back(), made_shapes[std::min<std::size_t>(i, made_shapes.size() - 1)], type);
    }
    return all;
  }
  [[nodiscard]] bool has(opcode op) const { return names_.emitted(op, g_.version(), target::standard) != nullptr; }
  // A neutral operator by the name that the dialect writes it with.
  [[nodiscard]] operator_row const* row_of(opcode op) {
    auto const* row = names_.emitted(op, g_.version(), target::standard);
    if (row == nullptr) row = names_.emitted(op, g_.version(), target::any);
    if (row == nullptr) fail("the dialect writes no operator '" + std::string(info(op).name) + "' at this version");
    return row;
  }
  value add(opcode op, std::vector<value> const& operands) {
    auto const* row = row_of(op);
    if (row == nullptr || operands.empty()) return operands.empty() ? value{} : operands[0];
    shape made_shape;
    for (auto const v : operands) made_shape = broadcast(made_shape, shape_of(v));
    auto const type = info(op).type == type_function::boolean ? element_type::boolean
                                                              : type_of(operands[op == opcode::where ? 1 : 0]);
    return append(row->name, operands, {}, std::move(made_shape), type);
  }
  // Puts parameters where the dialect keeps them.
  void place(operator_row const* row, parameter const& p, std::vector<value>& operands,
             std::vector<named>& attributes) {
    using kind = parameter_source::kind;
    parameter_source source;
    source.attribute = p.name;
    if (row != nullptr)
      for (auto const& s : row->parameters)
        if (s.parameter == p.name) source = s;
    std::string const name(source.attribute.empty() ? std::string_view(p.name) : source.attribute);
    switch (source.where) {
      case kind::operand: {
        auto const at = static_cast<std::size_t>(source.operand);
        if (operands.size() <= at) operands.resize(at + 1);
        operands[at] = p.listed ? list(p.list) : constant({}, {p.number});
        break;
      }
      case kind::inverted: attributes.emplace_back(name, p.number == 0 ? 1 : 0); break;
      case kind::word: attributes.emplace_back(name, std::string(word_of_number(source.words, p.number))); break;
      case kind::fixed:
      case kind::spatial_axes: break;
      default:
        if (p.listed)
          attributes.emplace_back(name, p.list);
        else if (p.real)
          attributes.emplace_back(name, p.number);
        else
          attributes.emplace_back(name, static_cast<std::int64_t>(p.number));
    }
  }

  value list(shape const& of) {
    auto const v = g_.constant(make_tensor({static_cast<std::int64_t>(of.size())}, span<std::int64_t const>(of)));
    know(v, {static_cast<std::int64_t>(of.size())}, element_type::int64);
    return v;
  }
  // Of the pattern's own type.
  value constant(shape const& of, std::vector<double> const& numbers) {
    auto const v = g_.constant(make_tensor(type_, of, numbers));
    know(v, of, type_);
    return v;
  }
  value cast(value v, element_type to) {
    auto const* row = row_of(opcode::cast);
    if (row == nullptr) return v;
    std::vector<value> operands{v};
    std::vector<named> attributes;
    place(row, {"to", false, false, static_cast<double>(static_cast<int>(to)), {}}, operands, attributes);
    return append(row->name, operands, attributes, shape_of(v), to);
  }

  dialect const& names_;
  graph& g_;
  element_type type_ = element_type::float32;  // of what the pattern computes
  std::map<std::uint32_t, shape> shapes_{};
  std::map<std::uint32_t, element_type> types_{};
};

}  // namespace fuse::inline v0::detail
