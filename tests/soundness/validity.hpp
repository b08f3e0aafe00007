// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine.hpp"

namespace soundness {

/// Whether every node of a graph is valid: it has the operands, attributes and element types that its operator takes,
/// reads only what is computed before it and can be seen, and has a result of the type that the graph declares. Tables
/// of its own: the library's are what is checked. (That shapes fit is the evaluator's business.)
class validity {
 public:
  using element_type = fuse::element_type;

  explicit validity(example const& e) : e_(e), g_(e.graph) {
    for (auto const v : g_.inputs()) types_[v.id] = g_.type(v);
    check(fuse::graph::main_body);
  }

  /// What is wrong, or an empty text.
  [[nodiscard]] std::string const& wrong() const { return wrong_; }
  /// The element types of all values, by number.
  [[nodiscard]] std::map<std::uint32_t, element_type> const& types() const { return types_; }

 private:
  // What operands are: n numbers, f floats, t anything, all these of one type; a anything, i int64, b booleans. The
  // last letter holds of all further ones. Of the result: T the type of the first operand that is n, f or t, else its
  // letter.
  struct signature {
    opcode op;
    int least, most;
    std::string_view operands, results, attributes;
  };
  static constexpr int any = 1000;
  static constexpr signature table[] = {
      {opcode::add, 2, 2, "n", "T", ""},
      {opcode::sub, 2, 2, "n", "T", ""},
      {opcode::mul, 2, 2, "n", "T", ""},
      {opcode::div, 2, 2, "n", "T", ""},
      {opcode::mod, 2, 2, "n", "T", "fmod"},
      {opcode::pow, 2, 2, "na", "T", ""},
      {opcode::maximum, 1, any, "n", "T", ""},
      {opcode::minimum, 1, any, "n", "T", ""},
      {opcode::sum_of, 1, any, "f", "T", ""},
      {opcode::neg, 1, 1, "n", "T", ""},
      {opcode::abs, 1, 1, "n", "T", ""},
      {opcode::relu, 1, 1, "n", "T", ""},
      {opcode::square, 1, 1, "n", "T", ""},
      {opcode::reciprocal, 1, 1, "f", "T", ""},
      {opcode::sqrt, 1, 1, "f", "T", ""},
      {opcode::rsqrt, 1, 1, "f", "T", ""},
      {opcode::exp, 1, 1, "f", "T", ""},
      {opcode::log, 1, 1, "f", "T", ""},
      {opcode::erf, 1, 1, "f", "T", ""},
      {opcode::tanh, 1, 1, "f", "T", ""},
      {opcode::sigmoid, 1, 1, "f", "T", ""},
      {opcode::mean, 1, 2, "ni", "T", "axes keepdims dim squeeze"},
      {opcode::sum, 1, 2, "ni", "T", "axes keepdims dim squeeze"},
      {opcode::sum_square, 1, 2, "ni", "T", "axes keepdims dim squeeze"},
      {opcode::reduce_max, 1, 2, "ni", "T", "axes keepdims dim squeeze"},
      {opcode::less, 2, 2, "n", "b", ""},
      {opcode::greater, 2, 2, "n", "b", ""},
      {opcode::equal, 2, 2, "t", "b", ""},
      {opcode::logical_not, 1, 1, "b", "b", ""},
      {opcode::where, 3, 3, "bt", "T", ""},
      {opcode::clip, 1, 3, "n", "T", ""},
      {opcode::cast, 1, 1, "a", "c", "to dtype"},
      {opcode::identity, 1, 1, "t", "T", ""},
      {opcode::expand, 2, 2, "ti", "T", ""},
      {opcode::tile, 2, 2, "ti", "T", ""},
      {opcode::dropout, 1, 1, "f", "Tb", "is_test"},
      {opcode::reshape, 1, 2, "ti", "T", "extents"},
      {opcode::flatten, 1, 1, "t", "T", "axis"},
      {opcode::squeeze, 1, 2, "ti", "T", "axes"},
      {opcode::unsqueeze, 1, 2, "ti", "T", "axes dim"},
      {opcode::transpose, 1, 1, "t", "T", "perm order"},
      {opcode::softmax, 1, 1, "f", "T", "axis from"},
      {opcode::top_k, 2, 2, "ni", "Ti", "axis largest sorted"},
      {opcode::split, 1, 2, "ti", "TT", "axis"},
      {opcode::slice, 1, 5, "ti", "T", "starts ends axes"},
      {opcode::gather, 2, 2, "ti", "T", "axis"},
      {opcode::concat, 1, any, "t", "T", "axis"},
      {opcode::matmul, 2, 2, "n", "T", ""},
      {opcode::gemm, 2, 3, "f", "T", "alpha beta transA transB"},
      {opcode::conv, 2, 3, "f", "T", "kernel_shape strides dilations pads group"},
      {opcode::if_else, 1, 1, "b", "", ""},
  };

  void report(fuse::graph::node n, std::string const& what) {
    if (wrong_.empty()) wrong_ = "node " + std::to_string(n.id) + ", " + std::string(g_.op(n)) + ": " + what;
  }

  void check(fuse::graph::body b) {
    std::vector<std::uint32_t> here;
    for (auto const n : g_.nodes(b)) {
      for (auto const v : g_.operands(n))
        if (v && !readable(v)) report(n, "reads what is not there yet, or is not seen here");
      for (auto const inner : g_.bodies(n)) check(inner);
      check(n);
      for (auto const v : g_.results(n)) here.push_back(v.id);
    }
    for (auto const v : g_.outputs(b))
      if (!readable(v) && wrong_.empty()) wrong_ = "an output that nothing computes";
    // What a body computes is seen in it alone; its types remain known.
    if (!(b == fuse::graph::main_body)) hidden_.insert(hidden_.end(), here.begin(), here.end());
  }
  [[nodiscard]] bool readable(fuse::graph::value v) const {
    if (g_.constant(v)) return true;
    return types_.count(v.id) != 0 && std::find(hidden_.begin(), hidden_.end(), v.id) == hidden_.end();
  }
  [[nodiscard]] element_type type(fuse::graph::value v) const {
    auto const at = types_.find(v.id);
    return at != types_.end() ? at->second : g_.type(v);
  }

  void check(fuse::graph::node n) {
    std::vector<element_type> operands, results;
    for (auto const v : g_.operands(n)) operands.push_back(v ? type(v) : element_type::unknown);
    auto const op = corpus::op_named(g_.op(n));
    if (op == opcode::if_else) {
      for (auto const v : g_.outputs(g_.bodies(n)[0])) results.push_back(type(v));
    } else if (g_.op(n).starts_with("test::")) {
      results.push_back(operands.empty() ? element_type::unknown : operands[0]);
    } else {
      auto const* const row =
          std::find_if(std::begin(table), std::end(table), [&](signature const& s) { return s.op == op; });
      if (row == std::end(table)) return report(n, "an operator that nobody knows");
      results = check(n, *row, operands);
    }
    if (op == opcode::dropout) results.resize(g_.results(n).size());  // the mask is optional
    if (results.size() != g_.results(n).size()) report(n, "has another number of results");
    std::size_t i = 0;
    for (auto const v : g_.results(n)) {
      auto const is = i < results.size() ? results[i++] : element_type::unknown;
      if (g_.type(v) != element_type::unknown && g_.type(v) != is) report(n, "is declared as another type");
      types_[v.id] = is;
    }
  }

  std::vector<element_type> check(fuse::graph::node n, signature const& row,
                                  std::vector<element_type> const& operands) {
    if (static_cast<int>(operands.size()) < row.least || static_cast<int>(operands.size()) > row.most)
      report(n, "has " + std::to_string(operands.size()) + " operands");
    auto common = element_type::unknown;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      auto const letter = row.operands[std::min(i, row.operands.size() - 1)];
      auto const t = operands[i];
      if (!g_.operands(n)[i]) {
        if (static_cast<int>(i) < row.least) report(n, "lacks an operand");
        continue;
      }
      bool const number = t != element_type::boolean && t != element_type::unknown;
      bool const fits = letter == 'n' || letter == 't' ? number || (letter == 't' && t == element_type::boolean)
                        : letter == 'f'                ? fuse::is_floating(t)
                        : letter == 'i'                ? t == element_type::int64
                        : letter == 'b'                ? t == element_type::boolean
                                                       : true;
      if (!fits) report(n, "operand " + std::to_string(i) + " is " + std::string(name_of(t)));
      if (letter != 'n' && letter != 'f' && letter != 't') continue;
      if (common == element_type::unknown) common = t;
      if (t != common) report(n, "operands of two types");
    }
    std::vector<element_type> results;
    for (auto const letter : row.results)
      results.push_back(letter == 'T'   ? common
                        : letter == 'b' ? element_type::boolean
                        : letter == 'i' ? element_type::int64
                                        : element_type::unknown);
    for (auto const& a : g_.attributes(n)) {
      auto const* const number = std::get_if<std::int64_t>(&a.content);
      if (row.op == opcode::cast && number != nullptr) results[0] = static_cast<element_type>(*number);
      if (!listed(row.attributes, a.name)) report(n, "has no attribute " + a.name);
      if (row.op == opcode::slice && g_.version() >= 10)
        report(n, "has operands in place of attributes at this version");
      if (a.name == "axes" && !e_.second &&
          g_.version() >= (row.op == opcode::sum || row.op == opcode::unsqueeze || row.op == opcode::squeeze ? 13 : 18))
        report(n, "has its axes in an operand at this version");
    }
    return results;
  }
  static bool listed(std::string_view all, std::string_view one) {
    for (std::size_t at = all.find(one); at != all.npos; at = all.find(one, at + 1))
      if ((at == 0 || all[at - 1] == ' ') && (at + one.size() == all.size() || all[at + one.size()] == ' '))
        return true;
    return false;
  }

  example const& e_;
  fuse::graph const& g_;
  std::map<std::uint32_t, element_type> types_;
  std::vector<std::uint32_t> hidden_;
  std::string wrong_;
};

/// Where what fuse infers of values contradicts what they are: another type, rank or extent, or one symbol for two
/// extents. An empty text where it does not.
[[nodiscard]] inline std::string contradiction(example const& e, corpus::evaluator& values, validity const& checked,
                                               std::vector<inferred> const& known) {
  std::map<std::uint32_t, std::int64_t> symbols;
  for (auto const& [id, type] : checked.types()) {
    if (id >= known.size() || !values.has({id})) continue;
    auto const name = "value " + e.graph.report_name({id});
    auto const& is = known[id];
    if (is.type != fuse::element_type::unknown && is.type != type)
      return name + " is taken for " + std::string(name_of(is.type)) + " and is " + std::string(name_of(type));
    if (!is.shape) continue;
    auto const& shape = values.value({id}).shape;
    if (is.shape->size() != shape.size()) return name + " is taken to have another rank";
    for (std::size_t i = 0; i < shape.size(); ++i) {
      auto const extent = (*is.shape)[i];
      if (extent.known() ? extent.value() != shape[i]
                         : symbols.try_emplace(extent.symbol(), shape[i]).first->second != shape[i])
        return name + " is taken to have another extent at axis " + std::to_string(i);
    }
  }
  return {};
}

}  // namespace soundness
