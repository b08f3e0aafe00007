// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/infer/fact_table.hpp>
#include <fuse/infer/parameters.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// What a shape function sees: one node, what is known of its operands, and buffers to build results in.
///
/// A shape function that cannot tell leaves a result as it is, unknown. It must stand any graph, however malformed.
template <class Table>
class basic_shape_context {
 public:
  basic_shape_context(Table& table, dialect const& dialect_names) : facts(table), names(dialect_names) {}

  Table& facts;
  dialect names;
  node_id n = absent;
  std::vector<extent> dims, extents, ends;
  std::vector<double> numbers;
  std::vector<std::int64_t> list, more;
  std::vector<int> axes;
  // Two shapes and what they are together, by their numbers: the same two meet over and over.
  struct broadcast {
    std::uint32_t a = 0, b = 0, result = 0;
  };
  static constexpr std::size_t most_broadcasts = 64;
  broadcast broadcasts[most_broadcasts];
  broadcast reduced;  // the last shape that was reduced, how, and to what

  [[nodiscard]] graph_image const& image() const { return facts.image(); }
  [[nodiscard]] extent_algebra& symbols() { return facts.symbols(); }

  /// Turns to another node.
  void at_node(node_id other) {
    n = other;
    record_ = &image().node(n);
  }

  [[nodiscard]] std::uint32_t operand_count() const { return record_->operand_count; }
  [[nodiscard]] value_id operand(std::uint32_t i) const {
    return i < record_->operand_count ? image().use_at(record_->first_operand + i).value : absent;
  }
  // Nothing is known of an absent operand.
  [[nodiscard]] bool ranked(std::uint32_t i) const { return facts.has_rank(operand(i)); }
  [[nodiscard]] span<extent const> shape(std::uint32_t i) const { return facts.shape(operand(i)); }
  [[nodiscard]] int rank(std::uint32_t i) const { return facts.rank(operand(i)); }
  [[nodiscard]] element_type type(std::uint32_t i) const { return facts.type(operand(i)); }

  [[nodiscard]] std::uint32_t result_count() const { return record_->result_count; }
  [[nodiscard]] value_id result(std::uint32_t i = 0) const { return record_->first_result + i; }
  void set_type(std::uint32_t i, element_type type) {
    if (i < result_count()) facts.set_type(result(i), type);
  }
  void set_shape(std::uint32_t i, span<extent const> shape) {
    if (i < result_count()) facts.set_shape(result(i), shape);
  }
  /// A result that looks like an operand.
  void share_type(std::uint32_t i, std::uint32_t from) { set_type(i, type(from)); }
  void share_shape(std::uint32_t i, std::uint32_t from) {
    if (i < result_count() && ranked(from)) facts.share_shape(result(i), operand(from));
  }
  /// `rank` dimensions that nobody knows.
  void set_rank(std::uint32_t i, std::size_t rank) {
    if (rank > fact_table::most_rank) return;
    dims.clear();
    for (std::size_t k = 0; k < rank; ++k) dims.push_back(symbols().fresh());
    set_shape(i, dims);
  }

  /// An integer parameter; false where it is no constant.
  [[nodiscard]] bool integer(std::string_view parameter, std::int64_t fallback, std::int64_t& out) {
    std::vector<std::int64_t>& found = more;
    switch (read_parameter(image(), facts, names, n, parameter, found)) {
      case parameter_state::missing: out = fallback; return true;
      case parameter_state::unknown: return false;
      case parameter_state::known: break;
    }
    if (found.size() != 1) return false;
    out = found[0];
    return true;
  }
  /// A list of integers into `list`.
  [[nodiscard]] parameter_state integers(std::string_view parameter) {
    return read_parameter(image(), facts, names, n, parameter, list);
  }
  /// A list of integers that may be symbolic, into `out` (another than `dims`).
  [[nodiscard]] parameter_state symbolic_integers(std::string_view parameter, std::vector<extent>& out) {
    return read_extents(image(), facts, names, n, parameter, out, list);
  }
  /// How long the list of a parameter is, as far as its operand's shape tells: false where it does not.
  [[nodiscard]] bool length(std::string_view parameter, std::size_t& out) const {
    parameter_place const place(image(), names, n, parameter);
    if (place.source.where != parameter_source::kind::operand) return false;
    auto const at = static_cast<std::uint32_t>(place.source.operand);
    if (rank(at) != 1 || !shape(at)[0].known() ||
        shape(at)[0].value() > static_cast<std::int64_t>(fact_table::most_rank))
      return false;
    out = static_cast<std::size_t>(shape(at)[0].value());
    return true;
  }
  /// An axis of a value of `rank`, non-negative.
  [[nodiscard]] bool axis(std::string_view parameter, std::int64_t fallback, int rank, std::size_t& out) {
    std::int64_t axis = 0;
    if (rank < 0 || !integer(parameter, fallback, axis) || axis < -rank || axis >= rank) return false;
    out = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    return true;
  }

  /// A dimension by a formula that is not negative in a valid graph.
  [[nodiscard]] extent dimension(extent e) {
    if (e.known()) return e.value() < 0 ? symbols().fresh() : e;
    return symbols().maximum(e, 0);
  }

  [[nodiscard]] extent product(span<extent const> factors) {
    extent all = 1;
    for (auto e : factors) all = symbols().multiply(all, e);
    return all;
  }

 private:
  graph_image::node_record const* record_ = nullptr;  // of `n`; nobody adds nodes meanwhile
};
using shape_context = basic_shape_context<fact_table>;

/// Number of elements of a shape whose extents are all known, if at most `limit`.
[[nodiscard]] inline bool small_count(span<extent const> shape, std::size_t limit, std::size_t& count) {
  count = 1;
  bool none = false;
  for (auto e : shape) {
    if (!e.known() || e.value() < 0) return false;
    none = none || e.value() == 0;
    if (none) continue;
    if (static_cast<std::uint64_t>(e.value()) > limit) return false;
    count *= static_cast<std::size_t>(e.value());
    if (count > limit) return false;
  }
  if (none) count = 0;
  return true;
}

}  // namespace fuse::inline v0::detail
