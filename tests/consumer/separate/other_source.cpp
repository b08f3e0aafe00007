// SPDX-License-Identifier: BSL-1.0
#include "rule.hpp"

std::size_t rewrite_in_other_source(fuse::graph& graph) { return fuse::rewrite<once>(graph).applied(); }
