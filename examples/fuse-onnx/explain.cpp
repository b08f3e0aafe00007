// SPDX-License-Identifier: BSL-1.0
#include "commands.hpp"

namespace fuse_onnx {

int explain(explain_arguments const&) { return success; }

}  // namespace fuse_onnx
