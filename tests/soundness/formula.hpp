// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fuse/dsl/dsl.hpp>

#include "dialects.hpp"

namespace soundness {

using fuse::expression;
using fuse::opcode;
using fuse::term_kind;

/// What the names of a pattern stand for.
struct meanings {
  std::map<std::string, array> values{};
  std::map<std::string, double> numbers{};
  std::map<std::string, std::vector<std::int64_t>> axes{};
};

/// The pattern of a rule as the formula that it is, in double precision: what the engine is checked with, and nothing
/// of the engine.
class formula {
 public:
  formula(expression const& pattern, meanings const& with) : pattern_(pattern), with_(with) {}

  /// The value of the pattern, or of one of its roots.
  [[nodiscard]] array value(int root = 0) const {
    auto const& top = pattern_[pattern_.root()];
    return at(top.kind == term_kind::roots ? top.child[root] : pattern_.root());
  }

 private:
  static array number(double x) { return {{}, {x}, false}; }

  // Whether what an optional part or an alternative names is there.
  [[nodiscard]] bool present(std::uint8_t i) const {
    auto const& t = pattern_[i];
    std::string const name{t.name};
    if (t.kind == term_kind::capture || t.kind == term_kind::rest || t.kind == term_kind::known_as)
      return with_.values.count(name) != 0;
    if (t.kind == term_kind::scalar) return with_.numbers.count(name) != 0;
    if (t.kind == term_kind::optional) return true;
    for (int c = 0; c < t.operands(); ++c)
      if (!present(t.child[c])) return false;
    return true;
  }

  [[nodiscard]] std::vector<std::int64_t> axes_of(fuse::term const& t) const {
    std::string name = "axes";
    for (int c = t.operands(); c < t.children; ++c)
      if (auto const& a = pattern_[t.child[c]]; std::string(a.name) == "axes")
        name = std::string(pattern_[a.child[0]].name);
    return with_.axes.at(name);
  }

  // The attributes that the pattern states of an operator, under their names.
  [[nodiscard]] corpus::parameters attributes(fuse::term const& t) const {
    corpus::parameters all;
    for (int c = t.operands(); c < t.children; ++c) {
      auto const& a = pattern_[t.child[c]];
      std::string const name{a.name};
      if (a.children == 0) {
        all.all.emplace(name, fuse::graph::named(name, a.number));
      } else if (auto const& held = pattern_[a.child[0]]; held.kind == term_kind::number) {
        all.all.emplace(name, fuse::graph::named(name, held.number));
      } else {
        all.all.emplace(name, fuse::graph::named(name, with_.numbers.at(std::string(held.name))));
      }
    }
    return all;
  }

  [[nodiscard]] std::vector<array> results(std::uint8_t i) const {
    auto const& t = pattern_[i];
    std::vector<array> operands;
    for (int c = 0; c < t.operands(); ++c)
      if (auto const& child = pattern_[t.child[c]]; child.kind != term_kind::optional || present(child.child[0]))
        operands.push_back(at(t.child[c]));
    std::vector<array const*> in;
    for (auto const& a : operands) in.push_back(&a);
    auto const name = t.kind == term_kind::neutral ? corpus::name_of(t.op, false) : std::string_view(t.name);
    if (name == "test::Blend") return blend(in, attributes(t));
    auto all = corpus::results_of(name, in, attributes(t));
    if (all.empty()) corpus::fail("no formula of " + std::string(name));
    return all;
  }

  // What a name of the right side stands for, where the pattern gives one to a term: then what it is made of may not be
  // known.
  [[nodiscard]] array const* known(std::uint8_t i) const {
    for (std::size_t k = 0; k < pattern_.size; ++k)
      if (pattern_[k].kind == term_kind::known_as && pattern_[k].child[0] == i)
        if (auto const at = with_.values.find(std::string(pattern_[k].name)); at != with_.values.end())
          return &at->second;
    return nullptr;
  }

  [[nodiscard]] array at(std::uint8_t i) const {
    if (auto const* const value = known(i)) return *value;
    auto const& t = pattern_[i];
    std::string const name{t.name};
    switch (t.kind) {
      case term_kind::capture:
      case term_kind::rest: return with_.values.at(name);
      case term_kind::scalar: return number(with_.numbers.at(name));
      case term_kind::number: return number(t.number);
      case term_kind::alternatives:
        for (int c = 0; c < t.children; ++c)
          if (present(t.child[c])) return at(t.child[c]);
        corpus::fail("no form of an alternative is there");
      case term_kind::known_as:
      case term_kind::optional:
      case term_kind::through:
      case term_kind::wrapped:
      case term_kind::users: return at(t.child[0]);
      case term_kind::result: return results(t.child[0]).at(t.index);
      default: break;
    }
    if (t.kind == term_kind::neutral && t.op == opcode::sum) return sum(at(t.child[0]), axes_of(t), true);
    if (t.kind == term_kind::neutral && t.op == opcode::mean) return mean(at(t.child[0]), axes_of(t), true);
    if (t.kind == term_kind::neutral && t.operands() == 2)
      if (auto const f = corpus::binary_of(t.op, false); f != nullptr) return pair(t);
    if (t.kind == term_kind::neutral && t.operands() == 1)
      if (auto const f = corpus::unary_of(t.op); f != nullptr) return map(at(t.child[0]), f);
    return results(i).at(0);
  }

  // Of two operands: an absent one leaves the other.
  [[nodiscard]] array pair(fuse::term const& t) const {
    double const neutral = t.op == opcode::mul || t.op == opcode::div || t.op == opcode::pow ? 1 : 0;
    auto const part = [&](int c) {
      auto const& child = pattern_[t.child[c]];
      bool const absent = (child.kind == term_kind::optional && !present(child.child[0])) ||
                          (child.kind == term_kind::rest && !present(t.child[c]));
      return absent ? number(neutral) : at(t.child[c]);
    };
    auto const a = part(0), b = part(1);
    return combine(a, b, corpus::binary_of(t.op, a.integers && b.integers));
  }

  expression const& pattern_;
  meanings const& with_;
};

}  // namespace soundness
