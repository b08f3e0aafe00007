// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Fusion groups of any readable graph, by the kinds of its operators; needs no rules.
#include <fuse/partition/partition.hpp>
