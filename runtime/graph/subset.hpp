// Each vertex is in the set for training, validation or testing, or in none.
#pragma once

#include <cstdint>

namespace gnnplan::data {

// Splits are one byte per vertex with these values.
enum Subset : std::uint8_t { train = 0, valid = 1, test = 2, unused = 255 };

}  // namespace gnnplan::data
