// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/kernels/detail/call_list.hpp>
#include <fuse/kernels/detail/isa.hpp>

#include <span>
#include <string_view>

// What stands in for the kernels where FUSE_REWRITE_KERNELS_SEPARATE is defined: the source that includes
// <fuse/kernels/separate.hpp> has them. None of these names depends on what this source is compiled for.
namespace fuse::inline v0::kernels::detail {

template <class Call>
void run_elsewhere(Call const& call);

std::string_view target_name_elsewhere();
std::span<std::string_view const> target_names_elsewhere();
bool use_target_elsewhere(std::string_view name);

}  // namespace fuse::inline v0::kernels::detail

namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA {

struct frames_elsewhere {};

template <class Frames>
struct selection;

template <>
struct selection<frames_elsewhere> {
  static std::string_view name() { return target_name_elsewhere(); }
  static std::span<std::string_view const> names() { return target_names_elsewhere(); }
  static bool use(std::string_view name) { return use_target_elsewhere(name); }
};

template <class Calls>
struct compiled_elsewhere {};

template <class Targets>
struct dispatcher;

template <class Calls>
struct dispatcher<compiled_elsewhere<Calls>> {
  template <class Call>
  static void run(Call const& call) {
    constexpr bool is_compiled = is_among<Call>(Calls::list());
    static_assert(
        is_compiled,
        "fuse: this combination of element types and weights is none of those that <fuse/kernels/separate.hpp> "
        "compiles, which are listed in docs/kernels/embedding.md");
    if constexpr (is_compiled) run_elsewhere(call);
  }
};

}  // namespace fuse::inline v0::kernels::detail::inline FUSE_REWRITE_ISA
