// MG-GCN section 4.2: 1D with overlap trains L layers of equal width f in L + 3 buffers of N x f / P: an output of each
// layer, one more, and two panels.
#include "tests/planner/lower/full_configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/memory.hpp>

namespace gnnplan {
namespace {

constexpr std::int64_t N = 40'000;
constexpr std::int64_t f = 64;
constexpr int P = 4;

lower::FullCase mg_gcn(int layers, Operand operand, bool overlap) {
    lower::FullCase full{{Sharing::replicated, {P, 1, 1}}, {}};
    for (int l = 1; l <= layers; ++l) {
        full.choices.push_back({Order::sparse_first, l == 1 ? Order::none : Order::sparse_first, operand});
    }
    full.exchange = Exchange::panels;
    full.overlap = overlap;
    return full;
}

// Bytes of the arena on one rank besides residents.
struct Shared {
    std::int64_t bytes = 0;
    std::int64_t small = 0;  // of all tensors narrower than f or with fewer rows than N: bits, weight gradients, sums
};

Shared shared_of(const lower::FullCase& full) {
    const std::vector<std::int64_t> widths(full.choices.size() + 1, f);
    const UniformStats graph(N, 20 * N, true);
    const Schedule schedule = lower::lowered(full, widths, graph);
    Shared shared{plan_memory(schedule, graph, 0).arena_bytes, 0};
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Tensor& tensor = schedule.tensors[id];
        const std::int64_t bytes = aligned(block_bytes(schedule, static_cast<TensorId>(id), 0));
        if (tensor.role == Role::adjacency) continue;
        if (is_resident(tensor.role)) {
            shared.bytes -= bytes;
        } else if (tensor.dtype != DType::f32 || tensor.rows < N) {
            shared.small += bytes;
        }
    }
    return shared;
}

constexpr std::int64_t buffer = N / P * f * 4;

// Dropout of the input makes a copy of the features, which MG-GCN has no dropout for.
std::int64_t buffers_of(const lower::FullCase& full) {
    const Shared shared = shared_of(full);
    EXPECT_LT(shared.small, buffer) << "the sizes are such that buffers can be counted";
    return (shared.bytes - shared.small) / buffer + ((shared.bytes - shared.small) % buffer > 0 ? 1 : 0);
}

lower::FullCase constant(lower::FullCase full) {
    full.choices.front().constant_input = true;
    return full;
}

TEST(MgGcn, TrainsInLPlusThreeBuffers) {
    for (int layers = 1; layers <= 6; ++layers) {
        const auto full = constant(mg_gcn(layers, Operand::gradient, true));
        EXPECT_EQ(buffers_of(full), layers + 3) << layers << " layers";
        EXPECT_LE(shared_of(full).bytes, (layers + 3) * buffer + shared_of(full).small);
    }
}

// One panel instead of two; the copy of the features that dropout makes; A^T H kept for Y in every layer.
TEST(MgGcn, EveryChoiceCountsItsBuffers) {
    for (int layers = 2; layers <= 5; ++layers) {
        EXPECT_EQ(buffers_of(constant(mg_gcn(layers, Operand::gradient, false))), layers + 2);
        EXPECT_EQ(buffers_of(mg_gcn(layers, Operand::gradient, true)), layers + 4);
        EXPECT_GT(buffers_of(constant(mg_gcn(layers, Operand::product, true))), layers + 3);
    }
}

}  // namespace
}  // namespace gnnplan
