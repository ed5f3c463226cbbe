// TensorMemory describes the memory that the tensors of a rank lie in.
#pragma once

#include <cstdint>

namespace gnnplan {

struct TensorMemory {
    bool accelerator = false;          // a device's own: its host loads the graph, in memory of its own
    std::int64_t workspace_bytes = 0;  // of the device's kernels, whatever they compute
    std::int64_t row_start_bytes = 8;  // the narrowest row starts that its kernels read
};

}  // namespace gnnplan
