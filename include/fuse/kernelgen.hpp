// SPDX-License-Identifier: BSL-1.0
#pragma once

/// A kernel from an expression. docs/kernels/expression.md
#include <fuse/kernelgen/argument.hpp>
#include <fuse/kernelgen/kernel.hpp>
