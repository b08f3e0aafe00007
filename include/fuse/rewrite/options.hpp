// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuse/infer/value_view.hpp>
#include <fuse/ops/dialect.hpp>

namespace fuse::inline v0 {

/// What a rewrite would save and add; what the cost model decides on. In bytes moved, and for each operator 1024, since
/// the call of one costs something however small its tensors are.
struct rewrite_cost {
  double removed = 0;          ///< that of what dies, and its share of what is shared
  double added = 0;            ///< that of what is made
  double constants_added = 0;  ///< bytes of new constants
};

/// What a rewrite is about to replace, and by what; see rewrite/check.hpp.
template <class Image>
struct basic_replacement;
using replacement = basic_replacement<graph_image>;

/// What a check says of a replacement.
struct check_result {
  enum class verdict : std::uint8_t { right, wrong, unknown };
  verdict is = verdict::right;
  std::string reason{};  ///< if not right, one sentence
};
using rewrite_check = check_result (*)(replacement const&);

#ifdef FUSE_REWRITE_CHECK
template <class Image>
[[nodiscard]] check_result check_by_evaluation(basic_replacement<Image> const& made);
inline constexpr rewrite_check default_check = &check_by_evaluation<graph_image>;
#else
inline constexpr rewrite_check default_check = nullptr;
#endif

/// Called between rewrites; every member does nothing unless set.
struct observer {
  void* context = nullptr;
  /// `done` of about `total` nodes of stage `stage` are visited.
  void (*progress)(void* context, int stage, std::size_t done, std::size_t total) = nullptr;
  /// A rule was applied at a node.
  void (*applied)(void* context, std::string_view rule, std::string_view node) = nullptr;
  /// A phase ("shapes", "match", "rewrite") begins; the caller's clock is the only one.
  void (*phase)(void* context, std::string_view name) = nullptr;
};

struct rewrite_options {
  std::vector<std::string> only{};    ///< names of rules to use; empty: all
  std::vector<std::string> except{};  ///< names of rules to leave out
  fuse::target target = target::standard;
  /// The graph tells no shapes and its owner vouches that rewrites fit: legality then covers structure and element
  /// types alone.
  bool trust_shapes = false;
  /// Adds to the refusals the places where a rule matched in part. Costs another walk.
  bool near_misses = true;
  /// What cannot match is told apart before it is looked for. Without it the same is done, in a longer time.
  bool filter = true;
  /// Says no to a rewrite that the cost model would make, e.g. when weights would grow.
  bool (*veto)(void* context, std::string_view rule, rewrite_cost const&) = nullptr;
  void* veto_context = nullptr;
  /// Asked about every rewrite that would be applied; what is wrong is refused, what cannot be told is noted in the
  /// report. `&fuse::check_by_evaluation<>` of fuse/rewrite/check.hpp computes both sides on random numbers. A program
  /// that defines FUSE_REWRITE_CHECK in all of its sources has it on wherever nothing else is said.
  rewrite_check check = default_check;
  fuse::observer observer{};
};

}  // namespace fuse::inline v0
