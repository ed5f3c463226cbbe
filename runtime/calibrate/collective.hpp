// The collectives that are measured, with inputs whose results are known exactly.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gnnplan::calibrate {

// One collective, ready to run again and again.
class Collective {
public:
    virtual ~Collective() = default;
    // Collective over the communicator.
    virtual void run() = 0;
    // Runs once from fresh inputs and throws Error if the result is wrong.
    virtual void check() = 0;
};

// Kinds: "exchange" (bytes / g to every other rank), "broadcast" (from rank 0), "all_reduce" and "reduce_scatter" (of
// floats, in blocks of bytes / g), "redistribute" (rows to columns, of 256 bytes for every rank, the own part
// included). `bytes` is the size of each rank's buffer, in the memory of its device, and g the number of ranks. Buffers
// are the same in every run (hot); or others, of at least `cold_bytes` altogether, which is more than caches hold.
std::unique_ptr<Collective> make_collective(const std::string& kind, comm::Communicator& comm, kernels::Device& device,
                                            std::int64_t bytes, std::int64_t cold_bytes = 0);

// An exchange of `bytes` with each of `peers`, who do the same.
std::unique_ptr<Collective> make_exchange(comm::Communicator& comm, kernels::Device& device, std::vector<int> peers,
                                          std::int64_t bytes, std::int64_t cold_bytes);

}  // namespace gnnplan::calibrate
