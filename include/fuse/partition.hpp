// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Fusion groups of any readable graph, by the kinds of its operators, and one node in the place of each; needs no
/// rules.
#include <fuse/partition/outline.hpp>
#include <fuse/partition/partition.hpp>
