// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "onednn.hpp"

#include <functional>
#include <vector>

namespace bench {

/// The versions of oneDNN that the build found: modules beside the program, each with its own library below.
std::vector<onednn_version const*> const& onednn_versions();

/// The call, ready to be repeated; empty where this version does not offer it.
std::function<void()> prepare(onednn_version const& version, onednn_norm const& norm);
std::function<void()> prepare(onednn_version const& version, onednn_activation const& activation);

}  // namespace bench
