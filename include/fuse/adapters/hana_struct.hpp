// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Attributes of nodes as structs of one's own, reflected by BOOST_HANA_DEFINE_STRUCT or BOOST_HANA_ADAPT_STRUCT.
#include <fuse/adapters/hana_struct/list.hpp>
#include <fuse/adapters/hana_struct/one_of.hpp>
#include <fuse/adapters/hana_struct/read.hpp>
#include <fuse/adapters/hana_struct/write.hpp>
