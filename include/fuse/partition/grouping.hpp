// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <fuse/core/plain_vector.hpp>
#include <fuse/graph/image.hpp>
#include <fuse/infer/facts.hpp>
#include <fuse/ops/dialect.hpp>
#include <fuse/partition/group_contents.hpp>
#include <fuse/partition/group_table.hpp>
#include <fuse/partition/operator_kinds.hpp>
#include <fuse/partition/partitioner.hpp>
#include <fuse/rewrite/cost.hpp>

namespace fuse::inline v0::detail {

/// The groups of an image, with each norm as one operator or by its formula, whichever moves less.
///
/// By its formula a norm is what it makes element by element of x and of statistics of x, so it goes where a reduction
/// does not: into a Transpose, or into a reduction of other rows. Its group then reads x, where it would read the
/// norm's result after another group had written it, and the statistics have read x before.
class grouping {
 public:
  grouping(graph_image const& image, facts const& known, dialect const& names, partition_limits const& limits)
      : image_(image), facts_(known), limits_(limits), kinds_(image, names) {
    for (node_id n = 0; limits.alone != nullptr && n < image.node_count(); ++n)
      if (limits.alone(limits.context, n)) kinds_.make_opaque(n);
    run_ = grouped();
    if (limits.by_formula) try_formulas();
  }

  [[nodiscard]] operator_kinds const& kinds() const { return kinds_; }
  [[nodiscard]] partitioner const& run() const { return *run_; }
  [[nodiscard]] basic_traffic<graph_image>& traffic() { return run_->traffic(); }

 private:
  [[nodiscard]] std::unique_ptr<partitioner> grouped() const {
    auto run = std::make_unique<partitioner>(image_, facts_, kinds_, limits_);
    run->run();
    return run;
  }

  void try_formulas() {
    plain_vector<node_id> norms;
    for (node_id n = 0; n < image_.node_count(); ++n)
      if (kinds_.may_go_by_formula(n) && run_->ends_early(n)) norms.push_back(n);
    if (norms.empty()) return;
    auto const whole = saved_by_groups(*run_);
    // Groups depend on each other: those that gained nothing are taken back, and the others tried again.
    constexpr int most_rounds = 3;
    for (int round = 0; round < most_rounds && !norms.empty(); ++round) {
      for (auto const n : norms) kinds_.go_by_formula(n, true);
      auto other = grouped();
      auto const otherwise = saved_by_groups(*other);
      auto const gained = gains(whole, otherwise, *other);
      plain_vector<node_id> left;
      for (auto const n : norms) {
        if (gained[n] > 0)
          left.push_back(n);
        else
          kinds_.go_by_formula(n, false);
      }
      if (left.size() == norms.size()) {
        // What changed elsewhere counts, too.
        if (sum_of(otherwise) <= sum_of(whole)) break;
        run_ = std::move(other);
        return;
      }
      norms = left;
    }
    for (auto const n : norms) kinds_.go_by_formula(n, false);
  }

  // By the last node of a group: bytes that it saves, a call of an operator counted as some, and one more for
  // statistics.
  [[nodiscard]] plain_vector<double> saved_by_groups(partitioner& run) {
    group_contents contents(image_, kinds_, run.groups());
    plain_vector<double> saved(image_.node_count(), 0);
    for (std::uint32_t at = 0; at < contents.size(); ++at) {
      contents.read(at, run.traffic());
      auto const nodes = contents.nodes_of(at);
      auto calls = static_cast<double>(nodes.size()) - 1;
      for (auto const n : nodes) calls -= kinds_.goes_by_formula(n) ? 1 : 0;
      saved[nodes.back()] = contents.bytes_saved() + basic_traffic<graph_image>::call * calls;
    }
    return saved;
  }

  [[nodiscard]] static double sum_of(plain_vector<double> const& saved) {
    double sum = 0;
    for (auto const each : saved) sum += each;
    return sum;
  }

  // By node: what `other` saves beyond `whole` where the two differ around it, in the least set of nodes that holds
  // whole groups of both.
  [[nodiscard]] plain_vector<double> gains(plain_vector<double> const& whole, plain_vector<double> const& otherwise,
                                           partitioner const& other) const {
    plain_vector<std::uint32_t> part(image_.node_count());
    for (node_id n = 0; n < image_.node_count(); ++n) part[n] = n;
    auto const find = [&part](std::uint32_t n) {
      while (part[n] != n) n = part[n] = part[part[n]];
      return n;
    };
    for (node_id n = 0; n < image_.node_count(); ++n)
      for (auto const with : {run_->groups().find(n), other.groups().find(n)}) {
        auto const a = find(n), b = find(with);
        part[std::max(a, b)] = std::min(a, b);
      }
    plain_vector<double> gained(image_.node_count(), 0);
    for (node_id n = 0; n < image_.node_count(); ++n) gained[find(n)] += otherwise[n] - whole[n];
    for (node_id n = 0; n < image_.node_count(); ++n) gained[n] = gained[find(n)];
    return gained;
  }

  graph_image const& image_;
  facts const& facts_;
  partition_limits limits_;
  operator_kinds kinds_;
  std::unique_ptr<partitioner> run_;
};

}  // namespace fuse::inline v0::detail
