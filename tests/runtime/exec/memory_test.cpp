#include "tests/runtime/exec/products.hpp"

#include <gmock/gmock.h>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

TEST(MemoryTracker, RemembersTheMostUntilRestarted) {
    MemoryTracker tracker;
    {
        const Charge a(tracker, 100, Holder::tensors);
        Charge b(tracker, 50, Holder::host);
        Charge moved = std::move(b);
        EXPECT_EQ(tracker.current(), 150);
        moved.reset();
        moved.reset();
        EXPECT_EQ(tracker.current(), 100);
        moved = Charge(tracker, 20, Holder::tensors);
        EXPECT_EQ(tracker.current(), 120);
    }
    EXPECT_EQ(tracker.current(), 0);
    EXPECT_EQ(tracker.peak(), 150);
    tracker.restart();
    EXPECT_EQ(tracker.peak(), 0);
}

TEST(MemoryTracker, CountsTheHostOfADeviceApart) {
    MemoryTracker tracker(true);
    {
        const Charge tensors(tracker, 100, Holder::tensors);
        const Charge host(tracker, 50, Holder::host);
        const Charge uploaded = charge_until_uploaded(tracker, 7);
    }
    EXPECT_EQ(tracker.peak(), 100);
    EXPECT_EQ(tracker.host_peak(), 57);
    MemoryTracker one;
    const Charge uploaded = charge_until_uploaded(one, 7);
    EXPECT_EQ(one.peak(), 0);
}

Schedule small_schedule(const Grid& grid, std::int64_t vertices) {
    Schedule schedule;
    schedule.grid = grid;
    schedule.blocking = gnnplan::testing::wanted_blocking();
    const TensorId matrix =
        add(schedule, "A^T", Role::adjacency, DType::f32, vertices, vertices, testing::matrix_layout("z"));
    const TensorId h = add(schedule, "H0.C", Role::features, DType::f32, vertices, 5, layout_c());
    const TensorId w = add(schedule, "W1", Role::weight, DType::f32, 5, 3, layout_replicated());
    const TensorId t = add(schedule, "T1.C", Role::transient, DType::f32, vertices, 5, layout_c());
    const TensorId rows = add(schedule, "T1.R", Role::transient, DType::f32, vertices, 5, layout_r());
    const TensorId z = add(schedule, "Z1.R", Role::transient, DType::f32, vertices, 3, layout_r());
    add(schedule, "W1.m1", Role::moment, DType::f32, 5, 3, layout_replicated());
    add(schedule, "labels", Role::labels, DType::i32, vertices, 1, layout_r());
    add_step(schedule, "spmm", SpmmStep{matrix, {h}, {t}, grid.x > 1 ? Exchange::panels : Exchange::none, false});
    add_step(schedule, "redistribute", RedistributeStep{t, rows});
    add_step(schedule, "gemm", GemmStep{rows, w, z, false});
    return schedule;
}

class Memory : public ::testing::TestWithParam<int> {};

TEST_P(Memory, WhatIsAllocatedIsWhatWasPlanned) {
    for (const Grid& grid : testing::grids_of(GetParam())) {
        for (const std::int64_t vertices : {2, 21}) {
            const Schedule schedule = small_schedule(grid, vertices);
            const data::Graph graph = testing::ring_graph(vertices);
            comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                testing::Rank rank(schedule, graph, comm);
                const MemoryPlan plan = plan_memory(schedule, *rank.counts, comm.rank());
                EXPECT_EQ(rank.tracker.current(), plan.adjacency_bytes + plan.arena_bytes);
                EXPECT_EQ(rank.tracker.peak(), rank.tracker.current());
            });
        }
    }
}

// Nonzeros piece by piece, buffers twice, and the numbers of rows, which are known once the ranks have asked.
TEST_P(Memory, OfProductsWithNeededRowsAndOverlapIsWhatWasPlanned) {
    const data::Graph graph = testing::ring_graph(23);
    for (testing::ProductCase product : testing::grids_and_contractions(GetParam())) {
        if (!product.switch_to(Exchange::rows, true)) continue;
        SCOPED_TRACE(product.text());
        const Schedule schedule = testing::schedule_of(product);
        comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
            testing::Rank rank(schedule, graph, comm);
            const MemoryPlan plan = plan_memory(schedule, *rank.counts, comm.rank());
            EXPECT_EQ(rank.tracker.current(), plan.adjacency_bytes + plan.arena_bytes + plan.request_bytes);
            rank.run(0);
            EXPECT_EQ(rank.tracker.current(),
                      plan.adjacency_bytes + plan.arena_bytes + plan.request_bytes + plan.served_bytes);
        });
    }
}

// A GPU's products copy the rows of their operand, to room that was planned.
TEST_P(Memory, OfProductsThatCopyRowsIsWhatWasPlanned) {
    const data::Graph graph = testing::ring_graph(23);
    for (testing::ProductCase product : testing::grids_and_contractions(GetParam())) {
        product.switch_to(Exchange::panels, false);
        product.width = 41;
        SCOPED_TRACE(product.text());
        const std::int64_t row_start_bytes = gnnplan::testing::wanted_blocking().row_start_bytes;
        product.blocking = {.row_start_bytes = row_start_bytes};
        const Schedule in_place = testing::schedule_of(product);
        product.blocking = gpu_blocking(0);
        product.blocking.row_start_bytes = row_start_bytes;
        const Schedule schedule = testing::schedule_of(product);
        comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
            testing::Rank rank(schedule, graph, comm);
            const MemoryPlan plan = plan_memory(schedule, *rank.counts, comm.rank());
            EXPECT_EQ(rank.tracker.current(), plan.adjacency_bytes + plan.arena_bytes);
            const std::int64_t uncopied = plan_memory(in_place, *rank.counts, comm.rank()).staging_bytes[0];
            const bool multiplies = !pieces_of(product.grid, schedule.tensors[testing::matrix], comm.rank()).empty();
            EXPECT_EQ(plan.staging_bytes[0] > uncopied, multiplies);
        });
    }
}

// Every tensor and staging buffer keeps what it was given while others that live at the same time are written.
TEST_P(Memory, TensorsThatLiveTogetherDoNotOverlap) {
    for (const Grid& grid : testing::grids_of(GetParam())) {
        const Schedule schedule = small_schedule(grid, 21);
        const data::Graph graph = testing::ring_graph(21);
        comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
            testing::Rank rank(schedule, graph, comm);
            const auto marked = [](float mark) { return [mark](auto, auto) { return mark; }; };
            rank.fill(1, marked(1));
            rank.fill(2, marked(2));
            rank.fill(6, marked(6));
            for (std::size_t step = 0; step < 3; ++step) {
                rank.run(step);
                const std::int64_t staged = rank.store.plan().staging_bytes[step];
                const std::vector<std::byte> spoilt(static_cast<std::size_t>(staged), std::byte{0xff});
                kernels::upload(*rank.device, spoilt, rank.store.staging(step));
            }
            rank.expect(1, marked(1));
            rank.expect(2, marked(2));
            rank.expect(6, marked(6));
        });
    }
}

TEST(ModelState, IsTheSameForEveryScheduleThatTrainsTheSameParameters) {
    const Schedule schedule = small_schedule({1, 1, 1}, 7);
    Schedule other = small_schedule({1, 2, 1}, 7);
    MemoryTracker tracker;
    const auto device = kernels::host_device(kernels::reference_table());
    const ModelState state(schedule, 3, *device, tracker);
    EXPECT_EQ(state.place(schedule.tensors[2]), state.place(other.tensors[2]));
    EXPECT_EQ(tracker.current(), ModelState::bytes_of(other));
    for (const StateTensor& stored : state.tensors()) {
        if (!stored.moment) continue;
        EXPECT_THAT(state.values(stored), ::testing::Each(0));
    }

    other.tensors[2].columns = 4;
    EXPECT_THROW(state.place(other.tensors[2]), Error);
    other.tensors[6].name = "W9.m1";
    EXPECT_THROW(state.place(other.tensors[6]), Error);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Memory, ::testing::Values(1, 2, 3, 4, 6, 8));

}  // namespace
}  // namespace gnnplan::exec
