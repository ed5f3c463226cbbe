// The text header of an .npy array.
#pragma once

#include "runtime/read/npy.hpp"

#include <string_view>

namespace gnnplan::data {

// Parses the dictionary literal {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
// Throws ErrorCode::data at `name`; object arrays (pickles) are refused with the way to convert them.
NpyHeader parse_npy_header(std::string_view text, const std::string& name);

}  // namespace gnnplan::data
