// The collectives that are measured, with inputs whose results are known exactly.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <string>

namespace gnnplan::bench {

// One collective, ready to run again and again on the same buffers.
class Collective {
public:
    virtual ~Collective() = default;
    // Collective over the communicator.
    virtual void run() = 0;
    // Runs once from fresh inputs and throws Error if the result is wrong.
    virtual void check() = 0;
};

// Kinds: "exchange" (all-to-all, bytes / g to each rank), "broadcast" (from rank 0), "all_reduce" (of floats).
// `bytes` is the size of each rank's buffer.
std::unique_ptr<Collective> make_collective(const std::string& kind, comm::Communicator& comm, std::int64_t bytes);

// Bytes over the busiest link for each byte of buffer, as nccl-tests have it: a perfect algorithm on links of bandwidth
// B takes bytes * bus_factor / B, whatever the number of ranks.
double bus_factor(const std::string& kind, int ranks);

}  // namespace gnnplan::bench
