// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Any readable graph in the language of Graphviz, with frames around what rules match or replace, and around fusion
/// groups.
#include <fuse/draw/draw.hpp>
#include <fuse/draw/fusion_groups.hpp>
#include <fuse/draw/groups.hpp>
