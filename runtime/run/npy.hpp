// Headers of NumPy's files (.npy, format 1.0).
#pragma once

#include <cstdint>
#include <string>

namespace gnnplan::run {

// The header of a matrix of floats, row after row.
std::string npy_matrix_header(std::int64_t rows, std::int64_t columns);
// The header of a list of 64-bit integers.
std::string npy_list_header(std::int64_t length);

}  // namespace gnnplan::run
