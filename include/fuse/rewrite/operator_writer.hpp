// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/graph/attribute.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/node_parameters.hpp>
#include <fuse/rewrite/asked_emission.hpp>
#include <fuse/rewrite/built.hpp>
#include <fuse/rewrite/constant_contents.hpp>
#include <fuse/rewrite/matched_requirements.hpp>
#include <fuse/rewrite/repeats_unasked.hpp>
#include <fuse/rewrite/transaction.hpp>
#include <fuse/rewrite/written_parameter.hpp>

namespace fuse::inline v0::detail {

/// Writes operators as a dialect, operator set version and target do, each in an open transaction. One for all: its
/// buffers stay.
template <class Image>
class basic_operator_writer {
 public:
  /// `required`: what the nodes whose place new ones take require of dimensions; null where there are none.
  basic_operator_writer(Image& image, facts& known, dialect const& names, target to, basic_transaction<Image>& into,
                        basic_matched_requirements<Image>* required = nullptr)
      : image_(image),
        facts_(known),
        names_(names),
        to_(to),
        into_(into),
        required_(required),
        asked_(image, known, names),
        forms_(image, known, names),
        rows_(static_cast<std::size_t>(opcode::count_) * 4) {}

  /// New nodes go beside node `place`.
  void begin(node_id place) { place_ = place; }

  /// Whether the dialect has an operator for a neutral one, which may be refused all the same.
  [[nodiscard]] bool has_operator(opcode op) { return row_of(op).row != nullptr; }

  /// Whether the dialect's operator for a neutral one has an attribute of that name, at this operator set version.
  [[nodiscard]] bool has_attribute(opcode op, std::string_view attribute_name) {
    auto const* row = row_of(op).row;
    if (row == nullptr) return false;
    auto const at = row->attributes->find(attribute_name);
    return at != row->attributes->all.size() && row->attributes->all[at].is_of(image_.version);
  }

  /// Whether a neutral operator can be written with no operands whatever, which is told before any are made.
  [[nodiscard]] bool lacks(opcode op) {
    return op != opcode::opaque && row_of(op).row == nullptr && !row_of(op).has_function;
  }
  [[nodiscard]] static objection lacking(opcode op) {
    return objection::no_operator("the dialect has no operator " + std::string(name_of(op)) +
                                  " for this target at this operator set version");
  }

  /// The first result of a neutral operator: as an operator of the dialect, or a function with a body. The parameters'
  /// contents are moved out.
  built<value_id> neutral(opcode op, span<value_id const> operands, span<written_parameter> parameters,
                          std::uint32_t results) {
    auto const& [emitted, code, has_function, asked] = row_of(op);
    auto const* const row = stands_in(emitted, op, operands) ? nullptr : emitted;
    for (auto& p : parameters)
      if (auto why = forms_.settle(p, row, op, operands); !why.empty()) return objection{std::move(why)};
    asked_.intended(op, operands, parameters, results, into_.target_here(to_));
    if (auto const why = asked_.refusal(required_); !why.empty()) return objection{std::string(why), wider()};
    if (row != nullptr)
      if (auto why = refuses(*row, operands.size()); !why.empty()) return objection{std::move(why)};
    attributes_.clear();
    operands_.assign(operands);
    for (auto& p : parameters)
      if (auto const* why = place(p, row); why != nullptr) return objection{why};
    if (row != nullptr) place_defaults(*row, op, parameters);
    operator_tag tag{code, static_cast<std::uint16_t>(op)};
    if (row != nullptr) {
      if (names_.complete != nullptr) names_.complete(asked_.emission(), attributes_);
      if (auto why = completed(*row, operands); !why.empty()) return objection{std::move(why)};
      return node(tag, row->name, operands_, results);
    }
    function_body body;
    if (names_.function == nullptr || !names_.function(asked_.emission(), body)) return lacking(op);
    auto const* sum = names_.emitted(opcode::add, image_.version, target::standard);
    if (sum != nullptr && sum->one_shape)
      return objection{"the function that stands for " + std::string(name_of(op)) +
                       " repeats elements, which operators do not by themselves at this operator set version"};
    auto const name = body.name;
    into_.function(std::move(body));
    tag.name = names_.code(name);
    return node(tag, name, operands_, results);
  }

  /// The dialect's own operator with the name of code `name`, and its attributes.
  built<value_id> named(std::uint16_t name, span<value_id const> operands, span<written_parameter> parameters,
                        std::uint32_t results) {
    auto const* row = names_.row(name, image_.version);
    if (auto why = cannot_be_made(row); why) return *why;
    if (auto why = refuses(*row, operands.size()); !why.empty()) return objection{std::move(why)};
    attributes_.clear();
    for (auto& p : parameters) {
      if (auto why = forms_.settle(p, row, row->op, operands); !why.empty()) return objection{std::move(why)};
      attributes_.push_back({std::string(p.name), std::move(p.content)});
    }
    if (auto why = completed(*row, operands); !why.empty()) return objection{std::move(why)};
    return node({name, static_cast<std::uint16_t>(row->op)}, row->name, operands, results);
  }

  /// The operator of node `n` on other operands, with all of its attributes and parameters but those that are given.
  built<value_id> again(node_id n, span<value_id const> operands, span<written_parameter> parameters,
                        std::uint32_t results) {
    auto const tag = image_.node(n).tag;
    auto const* row = names_.row(tag.name, image_.version);
    if (row != nullptr && row->emit == target::none) return is_not_copied(n, "it is read, and never written");
    if (auto const* why = copy_attributes(n, row); why != nullptr) return is_not_copied(n, why);
    if (auto why = refuses(*row, operands.size()); !why.empty()) return objection{std::move(why)};
    operands_.assign(operands);
    // Operands that are parameters stay.
    for (auto i = static_cast<std::uint32_t>(row->operands); row->operands >= 0 && i < image_.operand_count(n); ++i) {
      while (operands_.size() < i) operands_.push_back(absent);
      operands_.push_back(image_.operand(n, i));
    }
    return with_given(*row, tag, operands, parameters, results);
  }

  /// Another operator, with the name of code `name`, that takes over the attributes of node `n`.
  built<value_id> taking_over(node_id n, std::uint16_t name, span<value_id const> operands,
                              span<written_parameter> parameters, std::uint32_t results) {
    auto const* row = names_.row(name, image_.version);
    if (auto why = cannot_be_made(row); why) return *why;
    return taking_over(n, *row, name, operands, parameters, results);
  }
  /// The same by its meaning.
  built<value_id> taking_over(node_id n, opcode op, span<value_id const> operands, span<written_parameter> parameters,
                              std::uint32_t results) {
    auto const& [row, code, has_function, asked] = row_of(op);
    if (row == nullptr) return lacking(op);
    return taking_over(n, *row, code, operands, parameters, results);
  }

 private:
  // Why an operator cannot be one of a right side that is named; none where it can.
  [[nodiscard]] std::optional<objection> cannot_be_made(operator_row const* row) const {
    if (row == nullptr || row->emit_since > image_.version)
      return objection::no_operator("the operator of the right side does not exist at this operator set version");
    if (row->emit == target::none)
      return objection{"the dialect's " + std::string(row->name) + " is read, and never written"};
    if (!includes(row->emit, into_.target_here(to_)))
      return objection::no_operator("the dialect's " + std::string(row->name) + " is not for the target");
    return {};
  }

  [[nodiscard]] objection is_not_copied(node_id n, char const* why) const {
    return {"the operator of " + std::string(image_.source->node_name(n)) + " cannot be written again: " + why};
  }
  // Takes the attributes of a node; returns why they cannot be written, or null.
  [[nodiscard]] char const* copy_attributes(node_id n, operator_row const* row) {
    if (row == nullptr || row->attributes->any) return "its dialect does not list its attributes";
    if (image_.node(n).has_bodies) return "it has bodies";
    attributes_.clear();
    for (auto const& listed : row->attributes->all) {
      auto const there = image_.source->attribute_of(n, listed.name);
      if (std::holds_alternative<std::monostate>(there)) continue;
      if (!copy(there, attributes_.emplace_back())) return "an attribute is of a kind that rewrites do not write";
      attributes_.back().name = listed.name;
    }
    return nullptr;
  }
  built<value_id> taking_over(node_id n, operator_row const& row, std::uint16_t code, span<value_id const> operands,
                              span<written_parameter> parameters, std::uint32_t results) {
    auto const* of = names_.row(image_.node(n).tag.name, image_.version);
    if (auto const* why = copy_attributes(n, of); why != nullptr) return is_not_copied(n, why);
    if (of->operands >= 0 && image_.operand_count(n) > static_cast<std::uint32_t>(of->operands))
      return is_not_copied(n, "it has parameters among its operands");
    if (auto why = refuses(row, operands.size()); !why.empty()) return objection{std::move(why)};
    operands_.assign(operands);
    auto made = with_given(row, {code, static_cast<std::uint16_t>(row.op)}, operands, parameters, results);
    if (!made || row.op == opcode::opaque) return made;
    asked_.written(image_.producer(*made), into_.target_here(to_));
    if (auto const why = asked_.refusal(required_); !why.empty()) return objection{std::string(why)};
    return made;
  }
  // A node with the attributes and operands that are there, and parameters in their place.
  built<value_id> with_given(operator_row const& row, operator_tag tag, span<value_id const> operands,
                             span<written_parameter> parameters, std::uint32_t results) {
    for (auto& p : parameters) {
      if (auto why = forms_.settle(p, &row, row.op, operands); !why.empty()) return objection{std::move(why)};
      forget(p, row);
      if (auto const* why = place(p, &row); why != nullptr) return objection{why};
    }
    if (auto why = completed(row, operands); !why.empty()) return objection{std::move(why)};
    return node(tag, row.name, operands_, results);
  }

  // Takes away the attribute that said what `p` says now, and the one that says it of pads in another way.
  void forget(written_parameter const& p, operator_row const& row) {
    auto name = p.name;
    for (auto const& s : row.parameters)
      if (s.parameter == p.name && !s.attribute.empty()) name = s.attribute;
    auto const* own = parameter_of(row.op, p.name);
    bool const are_pads = own != nullptr && own->list == list_use::pads;
    std::erase_if(attributes_,
                  [&](attribute const& a) { return a.name == name || (are_pads && a.name == padding_attribute); });
  }

  static bool copy(attribute_view const& from, attribute& into) {
    if (auto const* whole = std::get_if<std::int64_t>(&from)) return into.content = *whole, true;
    if (auto const* number = std::get_if<double>(&from)) return into.content = *number, true;
    if (auto const* text = std::get_if<std::string_view>(&from)) return into.content = std::string(*text), true;
    auto const* list = std::get_if<span<std::int64_t const>>(&from);
    if (list == nullptr) return false;
    into.content = std::vector<std::int64_t>(list->begin(), list->end());
    return true;
  }

  // Completes the attributes of the new node; returns what stands in the way, such as one that the operator lacks at
  // this version, or an empty text.
  [[nodiscard]] std::string completed(operator_row const& row, span<value_id const> operands) {
    if (auto why = complete(row, attributes_); !why.empty()) return why;
    bool asked = false;
    for (auto const& a : attributes_) {
      auto const* flag = std::get_if<std::int64_t>(&a.content);
      asked = asked || (a.name == "broadcast" && flag != nullptr && *flag != 0);
    }
    if (auto why = repeats_unasked(facts_, row, operands, asked); !why.empty()) return why;
    if (auto why = say_what_is_needed(row); !why.empty()) return why;
    if (row.attributes->any) return {};
    for (auto const& a : attributes_)
      if (auto const at = row.attributes->find(a.name);
          at == row.attributes->all.size() || !row.attributes->all[at].is_of(image_.version))
        return std::string(row.name) + " has no attribute '" + a.name + "' at this operator set version";
    for (auto const& listed : row.attributes->all)
      if (listed.is_required(image_.version) && !is_given(listed.name))
        return std::string(row.name) + " needs an attribute '" + std::string(listed.name) + "'";
    return {};
  }

  [[nodiscard]] bool is_given(std::string_view attribute_name) const {
    for (auto const& a : attributes_)
      if (a.name == attribute_name) return true;
    return false;
  }

  // Adds the attributes without which a node of this row means something else; returns why one that was given makes it
  // that, or an empty text.
  [[nodiscard]] std::string say_what_is_needed(operator_row const& row) {
    for (auto const& by : row.needs) {
      attribute const* given = nullptr;
      for (auto const& a : attributes_)
        if (a.name == by.name) given = &a;
      if (given != nullptr && !is_met(by, view_of(*given)))
        return "with this '" + std::string(by.name) + "', " + std::string(row.name) +
               " means something else at this operator set version";
      if (given == nullptr && !by.may_lack) attributes_.push_back({std::string(by.name), by.number});
    }
    return {};
  }

  // Whether a function stands in for the operator: the dialect has one, and the operator does not take operands of
  // these element types.
  [[nodiscard]] bool stands_in(operator_row const* row, opcode op, span<value_id const> operands) const {
    if (row == nullptr || names_.stands_in == nullptr || !names_.stands_in(op, operands.size())) return row == nullptr;
    element_types const* stated = nullptr;
    for (auto const& from : row->types)
      if (from.since <= image_.version) stated = &from;
    for (std::size_t i = 0; stated != nullptr && i < operands.size(); ++i)
      if (operands[i] != absent && !stated->takes(i, facts_.type(operands[i]))) return true;
    return false;
  }

  // A parameter that is not given has the neutral operator's default, which is written where the dialect's operator has
  // another one.
  void place_defaults(operator_row const& row, opcode op, span<written_parameter const> given) {
    for (auto const& s : row.parameters) {
      bool is_given = s.where != parameter_source::kind::attribute || s.number != s.number;
      for (auto const& p : given) is_given = is_given || p.name == s.parameter;
      auto const* own = parameter_of(op, s.parameter);
      if (!is_given && own != nullptr && own->real && own->fallback != s.number)
        attributes_.push_back({std::string(s.attribute.empty() ? s.parameter : s.attribute), own->fallback});
    }
  }

  // Why the dialect's operator does not take so many operands that are data, or an empty text.
  [[nodiscard]] static std::string refuses(operator_row const& row, std::size_t operands) {
    if (row.operands < 0 || operands <= static_cast<std::size_t>(row.operands)) return {};
    return "the dialect's " + std::string(row.name) + " takes " + std::to_string(row.operands) +
           " operands that are data, the right side has " + std::to_string(operands);
  }

  // What the dialect refuses of floating numbers of 16 bits it may have of 32.
  [[nodiscard]] element_type wider() const {
    auto const type = asked_.emission().has(0) ? asked_.emission().operands[0].type : element_type::unknown;
    return is_floating(type) && size_of(type) == 2 ? element_type::float32 : element_type::unknown;
  }

  value_id node(operator_tag tag, std::string_view name, span<value_id const> operands, std::uint32_t results) {
    return image_.result(into_.node(tag, name, operands, std::move(attributes_), results, place_));
  }

  // The row with which this dialect, version and target write an operator, and whether a function may stand for it
  // where there is none; looked up once.
  struct operator_of_dialect {
    operator_row const* row = nullptr;
    std::uint16_t code = 0;
    bool has_function = false, asked = false;
  };
  operator_of_dialect const& row_of(opcode op) {
    auto const to = into_.target_here(to_);
    auto& known = rows_[static_cast<std::size_t>(op) * 4 + static_cast<std::size_t>(to)];
    if (known.asked) return known;
    known.asked = true;
    known.row = names_.emitted(op, image_.version, to);
    if (known.row != nullptr) {
      known.code = names_.code(known.row->name);
    } else if (names_.function != nullptr) {
      known.has_function = names_.stands_in == nullptr;
      for (std::size_t operands = 0; operands <= operand_terms::most; ++operands)
        known.has_function = known.has_function || names_.stands_in(op, operands);
    }
    return known;
  }

  // Among the attributes or the operands, where the dialect keeps the parameter; returns why it cannot be written, or
  // null. Axes are those of the first operand.
  char const* place(written_parameter& p, operator_row const* row) {
    constexpr auto const* cannot = "the dialect cannot write a parameter of the right side";
    parameter_source source{};
    source.attribute = p.name;
    if (row != nullptr)
      for (auto const& s : row->parameters)
        if (s.parameter == p.name) source = s;
    if (p.value != absent && source.where != parameter_source::kind::operand)
      return "the dialect has an attribute for a parameter that is computed when the graph runs";
    auto const add = [&](auto&& content) {
      auto& made = attributes_.emplace_back();
      made.name = source.attribute.empty() ? p.name : source.attribute;
      made.content = std::forward<decltype(content)>(content);
      return nullptr;
    };
    switch (source.where) {
      case parameter_source::kind::attribute: return add(std::move(p.content));
      case parameter_source::kind::inverted: return add(static_cast<std::int64_t>(p.number == 0));
      case parameter_source::kind::operand: {
        auto const at = static_cast<std::size_t>(source.operand);
        while (operands_.size() <= at) operands_.push_back(absent);
        if (p.value != absent) {
          operands_[at] = p.value;
          return nullptr;
        }
        if (auto const* list = std::get_if<std::vector<std::int64_t>>(&p.content)) {
          operands_[at] = into_.constant_of(make_tensor(
              std::vector<std::int64_t>{static_cast<std::int64_t>(list->size())}, span<std::int64_t const>(*list)));
          return nullptr;
        }
        // A number, of the type of the first operand.
        auto const type = operands_[0] == absent ? element_type::unknown : facts_.type(operands_[0]);
        auto const number = dense::of(p.number);
        if (!is_exact(number, type)) return "a parameter is a number that its operator's element type does not hold";
        auto made = make_constant(type, number);
        if (!made) return cannot;
        operands_[at] = into_.constant_of(made.take());
        return nullptr;
      }
      case parameter_source::kind::word: {
        auto const word = word_of_number(source.words, p.number);
        return word.empty() ? cannot : add(std::string(word));
      }
      case parameter_source::kind::fixed: return source.number == p.number ? nullptr : cannot;
      case parameter_source::kind::spatial_axes: return cannot;
      case parameter_source::kind::extents: {
        auto const shape =
            operands_.empty() || operands_[0] == absent ? span<extent const>{} : facts_.shape(operands_[0]);
        auto const rank = static_cast<double>(shape.size());
        auto const from = p.number < 0 ? rank + p.number : p.number;
        std::vector<std::int64_t> list;
        for (auto at = from; at >= 0 && at < rank && shape[static_cast<std::size_t>(at)].known(); ++at)
          list.push_back(shape[static_cast<std::size_t>(at)].value());
        if (list.empty() || static_cast<double>(list.size()) != rank - from)
          return "the operator lists the extents of its axes, and not all of them are known";
        return add(std::move(list));
      }
    }
    return cannot;
  }

  Image& image_;
  facts& facts_;
  dialect const& names_;
  target to_;
  basic_transaction<Image>& into_;
  basic_matched_requirements<Image>* required_;
  node_id place_ = absent;
  plain_vector<value_id> operands_;
  std::vector<attribute> attributes_;
  basic_asked_emission<Image> asked_;
  basic_parameter_forms<Image> forms_;
  plain_vector<operator_of_dialect> rows_;  // by opcode and target
};

}  // namespace fuse::inline v0::detail
