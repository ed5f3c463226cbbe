// Memory along the steps agrees with the offsets and the arena of the same rank.
#include "tests/planner/lower/configurations.hpp"
#include "tests/planner/lower/full_configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/memory_over_time.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

// The most that tensors and staging take at once.
std::int64_t highest(const MemoryOverTime& memory) {
    std::int64_t most = 0;
    for (std::size_t at = 0; at < memory.steps.size(); ++at) {
        std::int64_t bytes = memory.staging_bytes[at];
        for (const TensorStay& stay : memory.tensors) {
            if (stay.first <= at && at <= stay.last) bytes += stay.bytes;
        }
        most = std::max(most, bytes);
    }
    return most;
}

TEST(MemoryOverTime, NeverExceedsTheArenaThatHasRoomForIt) {
    const UniformStats stats(53, 400, false, 0.3);
    for (const lower::FullCase& full : lower::full_cases({1, 4, 6, 8}, 41)) {
        SCOPED_TRACE(full.text());
        const Schedule s = lower::lowered(full, {13, 7, 5}, stats);
        const auto numbered = stats.numbered(s.numbering);
        for (const int rank : {0, full.on.grid.size() - 1}) {
            const MemoryPlan plan = plan_memory(s, *numbered, rank);
            const MemoryOverTime memory = memory_over_time(s, *numbered, rank);
            EXPECT_LE(highest(memory), plan.arena_bytes);
            EXPECT_GE(highest(memory), plan.arena_bytes / 2);
            ASSERT_EQ(memory.steps.size(), s.steps.size());
            for (const TensorStay& stay : memory.tensors)
                EXPECT_GE(plan.tensor_offset[static_cast<std::size_t>(stay.tensor)], 0);
        }
    }
}

TEST(MemoryOverTime, StepsComeAsTimePasses) {
    const UniformStats stats(101, 700, true);
    const Schedule s = lower::lowered(enumerate::all_orders(3)[0], {13, 7, 5, 3}, 6, 2, 101, true);
    const MemoryOverTime memory = memory_over_time(s, stats, 0);
    EXPECT_TRUE(std::ranges::is_sorted(memory.steps, {}, [&](std::size_t step) { return s.steps[step].phase; }));
    for (std::size_t at = 0; at < memory.steps.size(); ++at) {
        const Operands operands = operands_of(s.steps[memory.steps[at]].operation);
        for (const TensorId id : operands.writes) {
            const auto stay = std::ranges::find(memory.tensors, id, &TensorStay::tensor);
            ASSERT_NE(stay, memory.tensors.end());
            EXPECT_TRUE(stay->first <= at && at <= stay->last) << s.steps[memory.steps[at]].name;
        }
    }
}

}  // namespace
}  // namespace gnnplan
