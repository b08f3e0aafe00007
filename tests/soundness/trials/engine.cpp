// SPDX-License-Identifier: BSL-1.0
#include "../engine.hpp"

namespace soundness::detail {

FUSE_SOUNDNESS_ENGINE(template, graph)
FUSE_SOUNDNESS_ENGINE(template, second_graph)

}  // namespace soundness::detail
