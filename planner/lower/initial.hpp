// The value that a product adds to its sum, in front of its linear map: H^0 of GCNII (Chen et al. 2020, eq. 5).
#pragma once

#include "planner/lower/passes.hpp"

namespace gnnplan::lower {

// T += a share of the value, where T is.
void add_initial(Passes& passes, const Site& site, TensorId aggregated);

// The gradient of the value gets the same share of G W^T, in R.
void backward_initial(Passes& passes, const Site& site, TensorId mapped);

}  // namespace gnnplan::lower
