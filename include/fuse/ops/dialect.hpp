// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/core/static_text.hpp>
#include <fuse/graph/element_type.hpp>
#include <fuse/graph/traits.hpp>
#include <fuse/ops/attribute_list.hpp>
#include <fuse/ops/element_types.hpp>
#include <fuse/ops/extent.hpp>
#include <fuse/ops/operator.hpp>

namespace fuse::inline v0 {

/// Where a framework keeps a parameter of a neutral operator. A parameter without a row is the attribute of the same
/// name.
struct parameter_source {
  enum class kind : std::uint8_t {
    attribute,     ///< attribute `attribute`
    inverted,      ///< attribute `attribute`, a flag of the opposite meaning
    operand,       ///< operand number `operand`, a constant
    fixed,         ///< always `number`
    spatial_axes,  ///< the axes from 2 to the last (pooling over everything that is neither batch nor channel)
    word,          ///< attribute `attribute` is one of `words`, and the parameter is its number among them
    extents,  ///< attribute `attribute` lists the first operand's extents from this axis on: as many as there are axes
  };
  std::string_view parameter{};
  kind where = kind::attribute;
  std::string_view attribute{};
  int operand = 0;
  double number =
      std::numeric_limits<double>::quiet_NaN();  ///< value when absent (NaN: the neutral operator's own default)
  axis_use axis = axis_use::none;                ///< of an axis: what it counts (none: as for the neutral operator)
  std::string_view words{};                      ///< a blank stands between two
};

/// Whom the result of a rewrite is for; a set of bits. What stands in a function is always for the standard.
enum class target : std::uint8_t {
  none = 0,              ///< nobody: an operator that is read, and never written
  standard = 1,          ///< whoever knows the operators of the dialect's own specification
  vendor = 2,            ///< one runtime with operators of its own beside these
  onnxruntime = vendor,  ///< ... that of ONNX
  any = 3,
};
[[nodiscard]] constexpr bool includes(target set, target one) {
  return (static_cast<int>(set) & static_cast<int>(one)) != 0;
}

/// One extent of a result: that of an operand's axis, a number, or (as it is made) nobody knows.
struct result_extent {
  std::int64_t number = -1;
  std::int8_t operand = -1, axis = 0;  ///< an axis below 0 counts from the last
};

/// What is known of the operands of a node: of each, the extents, -1 where one is not known; none where not even the
/// rank is.
using known_extents = span<std::vector<std::int64_t> const>;

/// Shape and element type of the first result of an operator that has no neutral meaning. Rewrites that make one need
/// both; where a row does not say, the result is unknown.
struct result_info {
  enum class kind : std::uint8_t {
    unknown,
    operand,    ///< as operand `number`
    broadcast,  ///< all operands, broadcast
    function,   ///< `extents` tells
  };
  kind shape = kind::unknown;
  std::int8_t shape_of = 0;
  std::int8_t type_of = 0;                    ///< the operand whose element type the result has
  element_type type = element_type::unknown;  ///< ... or, if this is known, this one
  /// Fills in the extents of the result; false where these are not known.
  bool (*extents)(known_extents operands, std::vector<result_extent>& into) = nullptr;
};

/// An attribute that decides whether a node means what its row states: it does with this number, or without the
/// attribute, where `may_lack`.
struct required_attribute {
  static constexpr auto none = std::numeric_limits<std::int64_t>::min();  ///< whatever stands there, it does not

  std::string_view name;
  std::int64_t number = none;
  bool may_lack = true;
};

/// One operator of a dialect: a name, the neutral operator that it means, and where its parameters stand, from one
/// operator set version on. Rows of one name follow each other by rising version.
struct operator_row {
  std::string_view name{};
  opcode op = opcode::opaque;
  int since = 1;
  span<parameter_source const> parameters{};
  std::int8_t operands = -1;  ///< leading operands that are data; the rest are parameters (-1: all are data)
  target emit = target::any;  ///< targets for which a rewrite may create this operator
  int emit_since = 0;         ///< ... from this version on (0: from `since`)
  attribute_list const* attributes = &any_attributes;  ///< all that it has
  result_info result{};                                ///< of an operator without a meaning, `opcode::opaque`
  span<element_types const> types{};                   ///< that it takes and gives, by rising version; none: any
  bool one_shape = false;  ///< its operands have one shape: none is repeated along axes that it lacks
  /// A node means `op` only with these attributes and with at most `most_results` results (0: any number). One that
  /// does not is of the row named `otherwise`; where there is none, it is unknown.
  span<required_attribute const> needs{};
  std::uint8_t most_results = 0;
  std::string_view otherwise{};
  std::optional<op_kind> kind{};  ///< how it may be grouped (none: as the neutral operator)
  std::uint8_t more = 0;          ///< rows of the same name that follow; `make_dialect` counts them
};

/// What a parameter counts, such as "axis", of an operator that a dialect writes as `row` says, or as no row does
/// (null).
[[nodiscard]] constexpr axis_use axis_use_of(operator_row const* row, opcode op, std::string_view parameter = "axis") {
  if (row != nullptr)
    for (auto const& s : row->parameters)
      if (s.parameter == parameter && s.axis != axis_use::none) return s.axis;
  auto const* known = parameter_of(op, parameter);
  return known != nullptr ? known->axis : axis_use::none;
}

/// What is known of an operand of a new node.
struct operand_facts {
  bool present = false;
  element_type type = element_type::unknown;
  bool has_rank = false;
  span<extent const> shape{};  ///< none where the rank is not known; extents that are equal are known to be so
  double number = std::numeric_limits<double>::quiet_NaN();  ///< the element of a constant that has just one

  [[nodiscard]] constexpr bool is_number() const { return number == number; }
};

/// What a rewrite is about to create, for a dialect to refuse, to complete or to expand.
struct emission {
  /// A parameter of the new operator that is a number, under its neutral name.
  struct given {
    std::string_view parameter;
    double number;
  };

  opcode op = opcode::opaque;
  int version = 0;
  target to = target::standard;
  std::vector<operand_facts> operands{};
  std::vector<given> parameters{};
  std::size_t results = 1;
  /// The results, where the operator is written already, with the attributes of another one: what these say is meant.
  std::vector<operand_facts> written{};
  bool negative_axes = true;  ///< axes may count from the last one, see `dialect::negative_axes_since`

  /// Whether there is an operand of that number.
  [[nodiscard]] bool has(std::size_t operand) const { return operand < operands.size() && operands[operand].present; }
  /// A parameter as it is given, else its default; NaN where it has none, or is no number.
  [[nodiscard]] double number(std::string_view parameter) const {
    for (auto const& p : parameters)
      if (p.parameter == parameter) return p.number;
    auto const* known = parameter_of(op, parameter);
    return known != nullptr ? known->fallback : std::numeric_limits<double>::quiet_NaN();
  }
};

/// The names of a framework's operators and what they mean. A view of a `dialect_table`, which holds the rows.
struct dialect {
  std::string_view name{};
  span<operator_row const> rows{};
  span<std::uint16_t const> slots{};
  int newest = 1;  ///< operator set version of graphs that state none
  /// From this version on, axes of operators of the specification (`target::standard`) may count from the last one, and
  /// are negative then.
  int negative_axes_since = 0;
  /// Operands of several element types are valid, and the result has a common one: fuse takes it to be the first's
  /// where all agree, scalars aside, and knows it nowhere else.
  bool promotes = false;
  bool lists_attributes = false;  ///< for some row; `make_dialect` looks
  bool has_structs = false;       ///< some list is that of a struct, which completes new nodes; likewise
  /// Why the operator of `emission` is not valid here, or an empty text.
  std::string_view (*refuse)(emission const&) = nullptr;
  /// Whether a function may stand in for an operator of so many operands.
  bool (*stands_in)(opcode, std::size_t) = nullptr;
  /// The function that stands in for an operator that this version lacks, or that does not take the operands' element
  /// types; false where there is none.
  bool (*function)(emission const&, function_body&) = nullptr;
  /// Adds what this dialect's operator needs besides the neutral parameters.
  void (*complete)(emission const&, std::vector<attribute>&) = nullptr;

  /// Code of a name: 1 + the index of its first row, or 0 for a name that the dialect does not know. Constant time.
  [[nodiscard]] constexpr std::uint16_t code(std::string_view operator_name) const;

  /// The row of a code that holds at `version`, or null.
  [[nodiscard]] constexpr operator_row const* row(std::uint16_t code, int version) const;

  /// The row with which a rewrite creates `op` at `version` for `to`, or null.
  [[nodiscard]] constexpr operator_row const* emitted(opcode op, int version, target to) const;
};

namespace detail {

[[nodiscard]] constexpr std::uint32_t hash(std::string_view text) {
  std::uint32_t h = 2166136261u;  // FNV-1a
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h ^ (h >> 15);
}

}  // namespace detail

constexpr std::uint16_t dialect::code(std::string_view operator_name) const {
  auto const mask = slots.size() - 1;
  for (std::size_t at = detail::hash(operator_name) & mask; slots[at] != 0; at = (at + 1) & mask)
    if (static_text::of(operator_name) == rows[slots[at] - 1u].name) return slots[at];
  // A function of ours is its operator's name and a variant: "fuse::LayerNormalization_float32_axes1".
  if (auto const variant = operator_name.rfind('_');
      variant != operator_name.npos && operator_name.substr(0, 6) == "fuse::")
    return code(operator_name.substr(0, variant));
  return 0;
}

constexpr operator_row const* dialect::row(std::uint16_t code, int version) const {
  operator_row const* found = nullptr;
  if (code == 0) return found;
  auto const* const first = &rows[code - 1u];
  for (auto const* row = first; row <= first + first->more; ++row)
    if (row->since <= version) found = row;
  return found;
}

constexpr operator_row const* dialect::emitted(opcode op, int version, target to) const {
  operator_row const* found = nullptr;
  for (auto const& candidate : rows)
    if (candidate.op == op && includes(candidate.emit, to) && candidate.since <= version &&
        candidate.emit_since <= version && (found == nullptr || found->name == candidate.name))
      found = &candidate;
  return found;
}

namespace detail {

/// What `row` says of the attributes of a new node: completes them, or returns why the node cannot hold them.
[[nodiscard]] inline std::string complete(operator_row const& row, std::vector<attribute>& attributes) {
  if (row.attributes->complete == nullptr) return {};
  auto why = row.attributes->complete(attributes);
  return why.empty() ? why : std::string(row.name) + ": " + why;
}

}  // namespace detail

/// A dialect that has nothing to refuse, to complete or to expand.
struct names_alone {
  static constexpr void add_to(dialect&) {}
};

/// The rows of a dialect with a hash table of their names, made at compile time. `Emission` adds the functions of a
/// dialect that has some, and whether it promotes: where it is a template, a file that only states rules need not
/// compile them.
template <std::size_t Rows, class Emission = names_alone>
struct dialect_table {
  static constexpr std::size_t slot_count = Rows < 128 ? 512 : Rows < 512 ? 2048 : 8192;
  dialect view_without_rows{};
  operator_row rows[Rows]{};
  std::uint16_t slots[slot_count]{};

  // NOLINTNEXTLINE: a table is a dialect
  constexpr operator dialect() const {
    dialect view = names();
    Emission::add_to(view);
    return view;
  }
  /// The dialect without functions: all that rules are checked against.
  [[nodiscard]] constexpr dialect names() const {
    dialect view = view_without_rows;
    view.rows = rows;
    view.slots = slots;
    return view;
  }

  /// This dialect with more operators; a row of a known name replaces it.
  template <std::size_t More>
  [[nodiscard]] constexpr dialect_table<Rows + More, Emission> with(operator_row const (&more)[More]) const {
    dialect_table<Rows + More, Emission> extended;
    extended.view_without_rows = view_without_rows;
    std::size_t at = 0;
    for (auto const& row : more) extended.rows[at++] = row;
    for (auto const& row : rows) {
      extended.rows[at] = row;
      for (auto const& newer : more)
        if (newer.name == row.name) extended.rows[at] = operator_row{};
      ++at;
    }
    extended.fill();
    return extended;
  }

  constexpr void fill() {
    for (std::size_t i = 0; i < Rows; ++i) {
      if (!rows[i].attributes->any) view_without_rows.lists_attributes = true;
      if (rows[i].attributes->complete != nullptr) view_without_rows.has_structs = true;
      if (rows[i].name.empty() || (i > 0 && rows[i - 1].name == rows[i].name)) continue;
      std::size_t at = detail::hash(rows[i].name) & (slot_count - 1);
      while (slots[at] != 0) at = (at + 1) & (slot_count - 1);
      slots[at] = static_cast<std::uint16_t>(i + 1);
      std::size_t last = i;
      while (last + 1 < Rows && rows[last + 1].name == rows[i].name) ++last;
      rows[i].more = static_cast<std::uint8_t>(last - i);
    }
  }
};

/// Makes a dialect of its rows. `newest`: the operator set version of graphs that state none; `negative_axes_since`:
/// see `dialect`.
template <class Emission = names_alone, std::size_t Rows>
[[nodiscard]] constexpr dialect_table<Rows, Emission> make_dialect(std::string_view name,
                                                                   operator_row const (&rows)[Rows], int newest = 1,
                                                                   int negative_axes_since = 0) {
  dialect_table<Rows, Emission> table;
  table.view_without_rows.name = name;
  table.view_without_rows.newest = newest;
  table.view_without_rows.negative_axes_since = negative_axes_since;
  for (std::size_t i = 0; i < Rows; ++i) table.rows[i] = rows[i];
  table.fill();
  return table;
}

}  // namespace fuse::inline v0
