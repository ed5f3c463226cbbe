// What the CUDA backend makes of a matrix that stays on the GPU.
#pragma once

#include "kernels/device.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::kernels::cuda {

// Where the shares of sweeps over its panels begin.
class PreparedRows : public Prepared {
public:
    // `a` has most_nonzeros nonzeros, and no fewer. Waits for the queue.
    PreparedRows(Device& device, const Csr& a);

    std::int64_t steps(std::int64_t panel) const { return steps_[static_cast<std::size_t>(panel)]; }
    const std::int32_t* known_row(std::int64_t panel) const;  // see spmm_shares.cuh

    // Of device memory, for all panels together.
    static std::int64_t bytes(const Csr& a);

private:
    std::vector<std::int64_t> steps_, first_;  // of each panel: steps of a sweep, and where it begins in `rows_`
    std::unique_ptr<DeviceMemory> rows_;
};

}  // namespace gnnplan::kernels::cuda
