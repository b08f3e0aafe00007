// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/dialect.hpp>

/// Values of a graph in a few words, for sentences.
namespace fuse::inline v0::detail {

/// "Mul 'node name'", "a graph input 'x'", "the constant 'c'".
template <class Image>
[[nodiscard]] std::string describe(Image const& image, facts const& known, value_id v) {
  if (v == absent) return "no operand";
  auto const name = "'" + image.source->value_name(v) + "'";
  auto const n = image.producer(v);
  double number = 0;
  if (image.value(v).constant || known.number(v, number)) {
    if (known.number(v, number)) {
      std::string digits = std::to_string(number);
      return "the constant " + name + (number != 0 && digits == "0.000000" ? std::string() : " = " + digits);
    }
    return "the constant " + name + " of several elements";
  }
  if (n == absent)
    return (image.scope_of(image.value(v).region) == 0 ? "the graph input or overridable initializer "
                                                       : "the function's input ") +
           name;
  return std::string(image.source->op_name(n)) + " " + name;
}

[[nodiscard]] inline std::string digits(double number) {
  char text[32];
  return {text, std::to_chars(text, text + 32, number).ptr};
}

/// "gemm 'y', whose 'alpha' is 0.5"; with a list of attributes, "whose 'alpha' (its attribute 'factor':
/// number) is 0.5".
template <class Image>
[[nodiscard]] std::string describe_parameter(Image const& image, facts const& known, dialect const& names, value_id v,
                                             std::string_view parameter) {
  auto text = describe(image, known, v);
  auto const n = v == absent ? absent : image.producer(v);
  if (n == absent) return text;
  text += ", whose '" + std::string(parameter) + "'";
  auto const& attribute = parameter_place(image, names, n, parameter).source.attribute;
  auto const* row = names.row(image.node(n).tag.name, image.version);
  if (row != nullptr && row->attributes->has(attribute))
    text += (attribute == parameter ? " (" : " (its attribute '" + std::string(attribute) + "': ") +
            std::string(name_of(row->attributes->all[row->attributes->find(attribute)].kind)) + ")";
  std::vector<std::int64_t> list;
  if (read_list(image, known, names, n, parameter, list) == parameter_state::known) {
    text += " is [";
    for (std::size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(list[i]);
    return text + "]";
  }
  double number = 0;
  switch (read_parameter(image, known, names, n, parameter, number)) {
    case parameter_state::known: return text + " is " + digits(number);
    case parameter_state::missing: return text + " is not said";
    case parameter_state::unknown: break;
  }
  return text + " is not known";
}

}  // namespace fuse::inline v0::detail
