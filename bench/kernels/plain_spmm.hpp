// The loop that a first attempt looks like, as fast as the compiler makes it: compiled for the machine at hand.
#pragma once

#include "kernels/views.hpp"

namespace gnnplan::bench {

// c = a * b, a with values and in one panel, on the OpenMP threads of the caller.
void plain_spmm(const kernels::Csr& a, kernels::ConstMatrix b, kernels::Matrix c);

// Sum of `count` floats: what reading memory in order costs.
float read_all(const float* data, std::int64_t count);

}  // namespace gnnplan::bench
