// Where a rank's buffers lie: when each is needed follows from the schedule, how large it is from the rank.
#pragma once

#include "planner/ir/packing.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/memory_over_time.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan {

// Bytes of each tensor (of adjacencies 0), and of what each step stages, on one rank.
struct BufferBytes {
    std::vector<std::int64_t> tensors;
    std::vector<std::int64_t> staging;
};

class Arena {
public:
    explicit Arena(const Schedule& schedule);

    // Fills in the offsets and the bytes of the arena.
    void place(const BufferBytes& bytes, MemoryPlan& plan) const;

    // The steps in the order in which time passes, and how long each tensor stays, its bytes left out.
    const std::vector<std::size_t>& timeline() const { return timeline_; }
    std::vector<TensorStay> stays() const;

    // The bytes of the arena alone; the packer may have packed those of other ranks before.
    std::int64_t bytes(const BufferBytes& bytes, Packer& packer) const;

private:
    // From the first to the last position in time at which something is used.
    struct Lifetime {
        std::size_t first = 0;
        std::size_t last = 0;
        bool used = false;
    };

    std::int64_t resident_bytes(const BufferBytes& bytes) const;
    // The staging buffers of each step, by position, and then the transients.
    std::vector<Buffer> buffers(const BufferBytes& bytes) const;

    std::vector<std::size_t> timeline_;    // steps in the order in which time passes
    std::vector<Lifetime> tensors_;        // per tensor
    std::vector<std::size_t> residents_;   // tensors that keep their place
    std::vector<std::size_t> transients_;  // tensors that are used for a while only
};

}  // namespace gnnplan
