// Indices of arrays from our signed numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gnnplan {

// `i`, not negative, as containers of the standard library count.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace gnnplan
