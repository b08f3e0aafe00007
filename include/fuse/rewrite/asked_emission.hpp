// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

#include <fuse/core/plain_vector.hpp>
#include <fuse/core/span.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/ops/names.hpp>
#include <fuse/ops/node_parameters.hpp>
#include <fuse/rewrite/matched_requirements.hpp>
#include <fuse/rewrite/written_parameter.hpp>

namespace fuse::inline v0::detail {

/// What a dialect is asked about: an operator before it is written, or one that is. One for all: its buffers stay.
template <class Image>
class basic_asked_emission {
 public:
  basic_asked_emission(Image const& image, facts const& known, dialect const& names)
      : image_(image), facts_(known), names_(names) {}

  [[nodiscard]] fuse::emission const& emission() const { return emission_; }

  /// A neutral operator that is about to be written.
  void intended(opcode op, span<value_id const> operands, span<written_parameter const> parameters,
                std::uint32_t results, target to) {
    tell(op, operands, {}, to);
    emission_.results = results;
    for (auto const& p : parameters) {
      bool const none = p.value != absent || std::holds_alternative<std::vector<std::int64_t>>(p.content);
      emission_.parameters.push_back({p.name, none ? std::numeric_limits<double>::quiet_NaN() : p.number});
    }
  }

  /// Node `n`, whose attributes say what is meant.
  void written(node_id n, target to) {
    auto const op = op_of(image_, n);
    operands_.clear();
    for (std::uint32_t i = 0; i < image_.operand_count(n); ++i) operands_.push_back(image_.operand(n, i));
    results_.clear();
    for (std::uint32_t i = 0; i < image_.node(n).result_count; ++i) results_.push_back(image_.result(n, i));
    tell(op, operands_, results_, to);
    emission_.results = results_.size();
    for (auto const& p : info(op).parameters)
      if (double number = 0; read_number(image_, facts_, names_, n, p.name, number))
        emission_.parameters.push_back({p.name, number});
  }

  /// What the dialect has against it, where those dimensions are equal that matched nodes require to be.
  [[nodiscard]] std::string_view refusal(basic_matched_requirements<Image>* required) {
    if (names_.refuse == nullptr) return {};
    auto const why = names_.refuse(emission_);
    if (why.empty() || required == nullptr || !required->equate(extents_)) return why;
    return names_.refuse(emission_).empty() ? std::string_view() : why;
  }

 private:
  void tell(opcode op, span<value_id const> operands, span<value_id const> results, target to) {
    auto& made = emission_;
    made.op = op;
    made.version = image_.version;
    made.to = to;
    made.negative_axes = made.version >= names_.negative_axes_since;
    made.parameters.clear();
    extents_.clear();  // apart from the facts, whose spans end with the next constant that is made
    for (auto const values : {operands, results})
      for (auto v : values)
        if (v != absent) extents_.append(facts_.shape(v));
    std::size_t at = 0;
    tell_values(operands, made.operands, at);
    tell_values(results, made.written, at);
  }
  // Their extents stand in `extents_` from `at` on.
  void tell_values(span<value_id const> values, std::vector<operand_facts>& into, std::size_t& at) const {
    into.clear();
    for (auto v : values) {
      auto& one = into.emplace_back();
      if (v == absent) continue;
      one.present = true;
      one.type = facts_.type(v);
      one.has_rank = facts_.has_rank(v);
      auto const rank = facts_.shape(v).size();
      one.shape = span<extent const>(extents_).subspan(at).first(rank);
      at += rank;
      if (double number = 0; facts_.number(v, number)) one.number = number;
    }
  }

  Image const& image_;
  facts const& facts_;
  dialect const& names_;
  fuse::emission emission_;
  plain_vector<extent> extents_;  // of its operands and results
  plain_vector<value_id> operands_, results_;
};

}  // namespace fuse::inline v0::detail
