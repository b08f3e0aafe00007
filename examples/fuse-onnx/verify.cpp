// SPDX-License-Identifier: BSL-1.0
#include <fuse/verify/verify.hpp>

#include <fuse/program/program.hpp>
#include <string_view>
#include <vector>

#include "bundled.hpp"

namespace fuse_onnx {

// The program is compiled with the other commands: what is compiled here depends on no rule.
fuse::verification verify_bundled(fuse::verify_options const& options) {
  return fuse::detail::verify<fuse::graph>(bundled_program(), bundled_rules(), options);
}

}  // namespace fuse_onnx
