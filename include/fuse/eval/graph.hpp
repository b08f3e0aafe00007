// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fuse/core/span.hpp>
#include <fuse/eval/node_call.hpp>
#include <fuse/eval/nudging.hpp>
#include <fuse/eval/reference.hpp>
#include <fuse/eval/rounding.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0::detail {

/// The values of a graph, computed from its constants and from inputs that are given, bodies of If, Loop and Scan
/// included. `Types` tells element types, `type(value_id)`: facts do. In double precision, or, where `rounds`, each
/// result rounded to its element type as a runtime does. Image, types and dialect must outlive it.
template <class Image, class Types>
class graph_evaluation {
 public:
  graph_evaluation(Image const& image, Types const& types, dialect const& names, bool rounds = false)
      : image_(image), types_(types), names_(names), rounds_(rounds), values_(image.value_count()) {
    nodes_.resize(image.regions().size());
    for (auto n = image.first_node(); n != absent; n = image.node(n).next) nodes_[image.node(n).region].push_back(n);
  }

  /// Where nothing else is rounded: has results of Casts rounded to types that round by more than `least`.
  void round_casts_below(double least) { casts_ = least; }

  /// Nudges the results of all operators, in one of many ways.
  void nudge_results(std::uint64_t way) { nudges_.emplace(way); }

  /// Gives a value that nothing computes.
  void give(value_id v, dense contents) { keep(v, std::move(contents)); }

  /// Computes the nodes of the graph in order; those that cannot be computed have no results, and neither has what
  /// depends on them. Complexity: the operators'.
  void run() { run(0); }

  /// A value, or null: `reason` says why the first that could not be computed is not known. Valid until it is computed
  /// again.
  [[nodiscard]] dense const* value(value_id v) {
    if (v == absent) return nullptr;
    if (values_[v] == nullptr && image_.value(v).constant) {
      auto const held = image_.source->constant(v);
      if (held && computed_in(held.type) && held.size() == count_of(held.shape)) keep(v, dense::of(held));
    }
    return values_[v].get();
  }
  std::string reason{};

 private:
  // What parameters that are operands are read from.
  struct known_values {
    static constexpr std::size_t most_contents = std::size_t{1} << 24;
    graph_evaluation& all;

    bool integers(value_id v, std::vector<std::int64_t>& into) const {
      auto const* held = all.value(v);
      if (held != nullptr && held->whole()) into = held->integers;
      return held != nullptr && held->whole();
    }
    bool number(value_id v, double& into) const {
      auto const* held = all.value(v);
      if (held == nullptr || held->size() != 1) return false;
      into = in_doubles(*held).elements[0];
      return true;
    }
    [[nodiscard]] int rank(value_id v) const {
      auto const* held = all.value(v);
      return held == nullptr ? -1 : static_cast<int>(held->shape.size());
    }
  };

  void keep(value_id v, dense made) {
    if (rounds_) round_to_type(made);
    values_[v] = std::make_unique<dense const>(std::move(made));
  }

  bool run(std::uint32_t region) {
    bool whole = true;
    for (auto const n : nodes_[region]) {
      for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) values_[image_.result(n, i)] = nullptr;
      whole = compute(n) && whole;
    }
    return whole;
  }

  bool fail(node_id n, char const* why) {
    if (reason.empty()) reason = std::string(image_.source->op_name(n)) + ": " + why;
    return false;
  }

  bool compute(node_id n) {
    std::vector<dense const*> operands(image_.operand_count(n), nullptr);
    for (std::uint32_t i = 0; i < operands.size(); ++i)
      if (auto const v = image_.operand(n, i); v != absent && (operands[i] = value(v)) == nullptr)
        return fail(n, "an operand is not known, or has elements that are no numbers here");
    std::vector<dense> results(image_.node(n).result_count);
    for (std::uint32_t i = 0; i < results.size(); ++i) results[i].type = types_.type(image_.result(n, i));
    known_values const known{*this};
    node_parameters<Image, known_values> const parameters(image_, known, names_, n);
    auto state = evaluation::unknown;
    switch (op_of(image_, n)) {
      case opcode::if_else: state = choose(n, operands, results); break;
      case opcode::loop: state = repeat(n, operands, results); break;
      case opcode::scan: state = scan(n, operands, parameters, results); break;
      default: state = evaluate(op_of(image_, n), operands, parameters, results); break;
    }
    if (state == evaluation::unknown) return fail(n, "there is no evaluation of this, with these types or parameters");
    if (state == evaluation::misfit) return fail(n, "the operands do not fit each other or the parameters");
    if (op_of(image_, n) == opcode::cast && rounding_of(results[0].type) > casts_) round_to_type(results[0]);
    for (std::uint32_t i = 0; i < results.size(); ++i) {
      if (results[i].size() != count_of(results[i].shape)) continue;
      if (nudges_) nudge(results[i], op_of(image_, n), *nudges_);
      keep(image_.result(n, i), std::move(results[i]));
    }
    return true;
  }

  // The bodies of a node, in order.
  [[nodiscard]] std::vector<std::uint32_t> bodies(node_id n) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t region = 1; region < image_.regions().size(); ++region)
      if (image_.regions()[region].owner == n) found.push_back(region);
    return found;
  }
  // The inputs of a body, in order: what nothing produces there.
  [[nodiscard]] std::vector<value_id> inputs(std::uint32_t region) const {
    std::vector<value_id> found;
    for (value_id v = 0; v < image_.value_count(); ++v)
      if (image_.value(v).region == region && image_.producer(v) == absent && !image_.value(v).constant)
        found.push_back(v);
    return found;
  }
  [[nodiscard]] bool outputs(std::uint32_t region, std::vector<dense const*>& into) {
    into.clear();
    for (auto const v : image_.region_outputs(region)) into.push_back(value(v));
    for (auto const* made : into)
      if (made == nullptr) return false;
    return true;
  }
  [[nodiscard]] static bool truth(dense const* x) { return converted(*x, element_type::boolean).elements[0] != 0; }

  // The first body is what is done where it is true.
  evaluation choose(node_id n, span<dense const* const> operands, std::vector<dense>& results) {
    auto const both = bodies(n);
    if (both.size() != 2 || operands.size() != 1 || operands[0] == nullptr || operands[0]->size() != 1)
      return evaluation::misfit;
    std::vector<dense const*> made;
    auto const region = both[truth(operands[0]) ? 0 : 1];
    if (!run(region) || !outputs(region, made)) return evaluation::unknown;
    for (std::size_t i = 0; i < results.size() && i < made.size(); ++i) results[i] = *made[i];
    return evaluation::done;
  }

  // The same shapes one after the other, along a new first axis; `one` may be the first.
  static bool stack(dense& all, dense const& one) {
    auto shape = one.shape;
    shape.insert(shape.begin(), all.shape.empty() ? 1 : all.shape[0] + 1);
    if (!all.shape.empty() && !std::equal(shape.begin() + 1, shape.end(), all.shape.begin() + 1, all.shape.end()))
      return false;
    all.type = one.type;
    all.shape = std::move(shape);
    all.elements.insert(all.elements.end(), one.elements.begin(), one.elements.end());
    all.integers.insert(all.integers.end(), one.integers.begin(), one.integers.end());
    return true;
  }

  // Operands: how often, whether at all, what is carried. The body takes a count, a condition, and what is carried, and
  // makes the condition, what is carried, and what is stacked.
  evaluation repeat(node_id n, span<dense const* const> operands, std::vector<dense>& results) {
    auto const body = bodies(n);
    if (body.size() != 1 || operands.size() < 2) return evaluation::misfit;
    auto const into = inputs(body[0]);
    auto const carried = operands.size() - 2;
    if (into.size() != operands.size() || results.size() < carried) return evaluation::misfit;
    bool goes_on = operands[1] == nullptr || truth(operands[1]);
    std::vector<dense> state, stacked(results.size() - carried);
    for (std::size_t i = 0; i < carried; ++i) {
      if (operands[i + 2] == nullptr) return evaluation::misfit;
      state.push_back(*operands[i + 2]);
    }
    auto const most = operands[0] == nullptr ? most_turns : integers_of(*operands[0])[0];
    if (most > most_turns) return evaluation::unknown;
    for (std::int64_t turn = 0; goes_on && turn < most; ++turn) {
      keep(into[0], integers_in({}, {turn}));
      keep(into[1], {{}, {1}, element_type::boolean, {}});
      for (std::size_t i = 0; i < carried; ++i) keep(into[i + 2], state[i]);
      std::vector<dense const*> made;
      if (!run(body[0]) || !outputs(body[0], made) || made.size() != results.size() + 1) return evaluation::unknown;
      goes_on = truth(made[0]);
      for (std::size_t i = 0; i < carried; ++i) state[i] = *made[i + 1];
      for (std::size_t i = 0; i < stacked.size(); ++i)
        if (!stack(stacked[i], *made[i + 1 + carried])) return evaluation::misfit;
    }
    for (std::size_t i = 0; i < carried; ++i) results[i] = std::move(state[i]);
    for (std::size_t i = 0; i < stacked.size(); ++i) {
      if (stacked[i].shape.empty()) return evaluation::unknown;  // no turn: nothing tells its shape
      results[carried + i] = std::move(stacked[i]);
    }
    return evaluation::done;
  }
  static constexpr std::int64_t most_turns = 1 << 16;

  // Operands: what is carried, and what is taken apart along axis 0. From operator set 9 on; axes and directions other
  // than the first and forward are not followed.
  evaluation scan(node_id n, span<dense const* const> operands, operator_parameters const& parameters,
                  std::vector<dense>& results) {
    auto const body = bodies(n);
    double taken = 0;
    std::vector<std::int64_t> listed;
    for (auto const* name : {"scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"})
      if (parameters.integers(name, listed))
        for (auto entry : listed)
          if (entry != 0) return evaluation::unknown;
    if (image_.version < 9 || body.size() != 1 || !parameters.number("num_scan_inputs", taken))
      return evaluation::unknown;
    auto const into = inputs(body[0]);
    auto const parts = static_cast<std::size_t>(taken);
    if (parts < 1 || parts > operands.size() || into.size() != operands.size()) return evaluation::misfit;
    auto const carried = operands.size() - parts;
    for (auto const* operand : operands)
      if (operand == nullptr) return evaluation::misfit;
    std::vector<dense> state, stacked;
    for (std::size_t i = 0; i < carried; ++i) state.push_back(*operands[i]);
    stacked.resize(results.size() < carried ? 0 : results.size() - carried);
    auto const turns = operands[carried]->shape.empty() ? 0 : operands[carried]->shape[0];
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      for (std::size_t i = 0; i < carried; ++i) keep(into[i], state[i]);
      for (std::size_t i = carried; i < operands.size(); ++i) {
        if (operands[i]->shape.empty() || operands[i]->shape[0] != turns) return evaluation::misfit;
        auto part = part_along(*operands[i], 0, turn, 1);
        part.shape.erase(part.shape.begin());
        keep(into[i], std::move(part));
      }
      std::vector<dense const*> made;
      if (!run(body[0]) || !outputs(body[0], made) || made.size() != results.size()) return evaluation::unknown;
      for (std::size_t i = 0; i < carried; ++i) state[i] = *made[i];
      for (std::size_t i = 0; i < stacked.size(); ++i)
        if (!stack(stacked[i], *made[carried + i])) return evaluation::misfit;
    }
    for (std::size_t i = 0; i < carried && i < results.size(); ++i) results[i] = std::move(state[i]);
    for (std::size_t i = 0; i < stacked.size(); ++i) results[carried + i] = std::move(stacked[i]);
    return evaluation::done;
  }

  Image const& image_;
  Types const& types_;
  dialect const& names_;
  bool rounds_;
  std::optional<random_bits> nudges_;
  double casts_ = 1;                         // none rounds by so much
  std::vector<std::vector<node_id>> nodes_;  // by region
  std::vector<std::unique_ptr<dense const>> values_;
};

}  // namespace fuse::inline v0::detail
