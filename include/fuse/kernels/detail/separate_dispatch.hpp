// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/call_types.hpp>
#include <fuse/kernels/detail/isa.hpp>

#include <span>
#include <string_view>

// What is called in place of the kernels where FUSE_REWRITE_KERNELS_SEPARATE is defined: the source that includes
// <fuse/kernels/separate.hpp> has them. None of these names depends on what this source is compiled for.
namespace fuse::inline v0::kernels::detail {

template <class Call>
void run_separately(Call const& call);

std::string_view separate_target_name();
std::span<std::string_view const> separate_target_names();
bool use_separate_target(std::string_view name);

}  // namespace fuse::inline v0::kernels::detail

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

struct separate_targets {};

template <class Targets>
struct selection;

template <>
struct selection<separate_targets> {
  static std::string_view name() { return separate_target_name(); }
  static std::span<std::string_view const> names() { return separate_target_names(); }
  static bool use(std::string_view name) { return use_separate_target(name); }
};

template <class Calls>
struct separately_compiled {};

template <class Targets>
struct dispatcher;

template <class Calls>
struct dispatcher<separately_compiled<Calls>> {
  template <class Call>
  static void run(Call const& call) {
    constexpr bool is_compiled = is_among<Call>(Calls::list());
    static_assert(
        is_compiled,
        "fuse: this combination of element types and weights is none of those that <fuse/kernels/separate.hpp> "
        "compiles, which are listed in docs/kernels/embedding.md");
    if constexpr (is_compiled) run_separately(call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
