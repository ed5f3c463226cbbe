// Rows that lie without gaps, as they travel.
#pragma once

#include "kernels/views.hpp"

#include <cstddef>
#include <cstdint>

namespace gnnplan::exec {

template <class T>
kernels::Dense<T> packed_rows(std::byte* begin, std::int64_t rows, std::int64_t columns) {
    return {reinterpret_cast<T*>(begin), rows, columns, columns};
}

}  // namespace gnnplan::exec
