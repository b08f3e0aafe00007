// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fuse/core/version.hpp>
#include <fuse/dsl/dsl.hpp>
#include <fuse/graph/graph.hpp>
#include <fuse/graph/graph_text.hpp>
#include <fuse/match/explain.hpp>
#include <fuse/match/match.hpp>
#include <fuse/program/rule_set.hpp>
#include <fuse/rewrite/rewrite.hpp>
#include <fuse/rules/norms.hpp>
