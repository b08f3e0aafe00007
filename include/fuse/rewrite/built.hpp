// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <fuse/graph/element_type.hpp>

namespace fuse::inline v0::detail {

/// What stands in the way of a rewrite, or of a part of it.
struct objection {
  std::string reason;                          ///< one sentence
  element_type wider = element_type::unknown;  ///< an element type in which it may be right, if there is one
  char const* condition = "right side";        ///< what is not met
  bool missing = false;  ///< the dialect, at this version and for this target, has no such operator

  /// For want of an operator.
  [[nodiscard]] static objection no_operator(std::string why) {
    return {std::move(why), element_type::unknown, "right side", true};
  }
};

/// What a builder returns: what it made, or an objection.
template <class T>
class [[nodiscard]] built {
 public:
  built(T made) : made_(std::move(made)) {}                // NOLINT: what is made is returned as it is
  built(objection why) : made_(), why_(std::move(why)) {}  // NOLINT: so is an objection

  /// Whether nothing stood in the way.
  [[nodiscard]] explicit operator bool() const { return !why_.has_value(); }
  /// What was made, if nothing did.
  [[nodiscard]] T const& operator*() const { return made_; }
  /// The same, for whoever moves on with it.
  [[nodiscard]] T&& take() { return std::move(made_); }
  /// What did, for whoever was asked for more to move on.
  [[nodiscard]] objection&& why() { return std::move(*why_); }

 private:
  T made_;
  std::optional<objection> why_;
};

}  // namespace fuse::inline v0::detail
