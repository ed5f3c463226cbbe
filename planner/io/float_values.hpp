// Tensors of safetensors files as the floats that training takes.
#pragma once

#include "planner/io/safetensors.hpp"

#include <string>
#include <vector>

namespace gnnplan::io {

// Its values, whether they are of type F64, F32, F16 or BF16. Throws Error{data}: of another type, or an element that
// is not finite, or is beyond what a float holds, which it names.
std::vector<float> float_values(const StoredTensor& tensor, const std::string& where);

// The first element below 0 is refused likewise.
void refuse_negative(const std::string& name, const std::vector<float>& values, const std::string& where);

// "0.1", "nan", "-inf": the shortest text that gives the number again.
std::string value_text(double value);

}  // namespace gnnplan::io
