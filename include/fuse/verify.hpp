// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Rules tested by machine: on graphs made of their own patterns. And graphs compared with graphs.
#include <fuse/verify/equivalent.hpp>
#include <fuse/verify/verify.hpp>
