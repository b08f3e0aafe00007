// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The kernels, compiled here. A program that defines FUSE_REWRITE_KERNELS_SEPARATE everywhere compiles them, and
/// Highway, only where this header is included: in exactly one of its sources, which includes no other of the kernels'
/// headers. Calls of matrices with one element type, and weights of that one or float, can be made then; any other is
/// an error where it is compiled. docs/kernels/embedding.md
#ifdef FUSE_REWRITE_KERNELS_COMPILED
#error "<fuse/kernels/separate.hpp> is the first of the kernels' headers in its source"
#endif
#undef FUSE_REWRITE_KERNELS_SEPARATE

#include <fuse/kernels/detail/separate_dispatch.hpp>
#include <fuse/kernels/embed_layer_norm.hpp>
#include <fuse/kernels/layer_norm.hpp>
#include <fuse/kernels/qembed_layer_norm.hpp>
#include <fuse/kernels/quantize.hpp>
#include <fuse/kernels/rms_norm.hpp>
#include <fuse/kernels/skip_layer_norm.hpp>
#include <fuse/kernels/skip_rms_norm.hpp>

#include <tuple>

namespace fuse::inline v0::kernels::detail {

template <class Targets, class Calls>
struct compiled {
  using targets = Targets;
  using calls = Calls;
};

using compiled_kernels = type_list<                                //
    compiled<embed_layer_norm_targets, embed_layer_norm_calls>,    //
    compiled<layer_norm_targets, layer_norm_calls>,                //
    compiled<qembed_layer_norm_targets, qembed_layer_norm_calls>,  //
    compiled<quantize_targets, quantize_calls>,                    //
    compiled<rms_norm_targets, rms_norm_calls>,                    //
    compiled<layer_norm_targets, skip_layer_norm_calls>,           //
    compiled<rms_norm_targets, skip_rms_norm_calls>>;

template <class Call, class Kernel, class... Rest>
constexpr auto targets_for(type_list<Kernel, Rest...>) {
  if constexpr (is_among<Call>(Kernel::calls::list())) {
    return typename Kernel::targets();
  } else {
    return targets_for<Call>(type_list<Rest...>());
  }
}

template <class Call>
void run_separately(Call const& call) {
  dispatcher<decltype(targets_for<Call>(compiled_kernels()))>::run(call);
}

// Nobody calls them here: their addresses make the compiler keep them.
template <class... Calls>
constexpr auto addresses(type_list<Calls...>) {
  return std::tuple(&run_separately<Calls>...);
}
template <class... Kernels>
constexpr auto all_addresses(type_list<Kernels...>) {
  return addresses((Kernels::calls::list() + ...));
}
[[gnu::used]] inline constexpr auto kept = all_addresses(compiled_kernels());

std::string_view separate_target_name() { return selection<build_targets>::name(); }
std::span<std::string_view const> separate_target_names() { return selection<build_targets>::names(); }
bool use_separate_target(std::string_view name) { return selection<build_targets>::use(name); }

}  // namespace fuse::inline v0::kernels::detail
