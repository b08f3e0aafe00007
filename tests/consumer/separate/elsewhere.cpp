// SPDX-License-Identifier: BSL-1.0
#include "rule.hpp"

std::size_t rewrite_elsewhere(fuse::graph& graph) { return fuse::rewrite<once>(graph).applied(); }
