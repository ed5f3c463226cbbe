// One rank's store for a schedule built by hand, and matrices whose elements tell where they belong.
#pragma once

#include "runtime/comm/counting.hpp"
#include "runtime/comm/threads.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/exec/handlers.hpp"
#include "runtime/exec/model_state.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace gnnplan::exec::testing {

// Every grid of `ranks` with z = 1.
inline std::vector<Grid> grids_of(int ranks) {
    std::vector<Grid> grids;
    for (int y = 1; y <= ranks; ++y) {
        if (ranks % y == 0) grids.push_back({ranks / y, y, 1});
    }
    return grids;
}

inline TensorId add(Schedule& schedule, const std::string& name, Role role, DType dtype, std::int64_t rows,
                    std::int64_t columns, const Layout& layout, int layer = 0) {
    schedule.tensors.push_back({name, role, dtype, rows, columns, layout, layer, role == Role::adjacency});
    return static_cast<TensorId>(schedule.tensors.size()) - 1;
}

inline void add_step(Schedule& schedule, const std::string& name, Operation operation) {
    schedule.steps.push_back({name, Phase::epoch, std::move(operation)});
}

inline data::Graph ring_graph(std::int64_t vertices) {
    data::EdgeList edges;
    for (std::int64_t v = 0; v < vertices; ++v) {
        edges.add(static_cast<std::int32_t>(v), static_cast<std::int32_t>((v * 3 + 1) % vertices));
        edges.add(static_cast<std::int32_t>(v), static_cast<std::int32_t>((v + 1) % vertices));
    }
    data::PreparationCounts counts;
    return data::build_graph(std::move(edges), vertices, {true, true}, counts);
}

// A rank with everything allocated.
class Rank {
public:
    Rank(const Schedule& schedule, const data::Graph& graph, comm::Communicator& comm)
        : counts(graph),
          world(comm, traffic),
          store(schedule, counts, comm.rank(), tracker),
          state(schedule, 1, tracker) {
        const Grid& grid = schedule.grid;
        x_group = world.split(grid.coordinate(comm.rank(), Axis::y), grid.coordinate(comm.rank(), Axis::x));
        store.build_blocks(graph, data::compute_scales(graph, data::Normalisation::none));
        store.allocate(state);
    }

    // Runs step `index` of the schedule.
    void run(std::size_t index, const PassSettings& settings = {}) {
        const StepContext context{store, kernels::reference_table(), world, *x_group, settings, index};
        traffic.reset();
        std::visit([&](const auto& step) { run_step(step, context); }, store.schedule().steps[index].operation);
    }

    // Element (i, j) of the whole matrix is value(i, j); fills the local block.
    void fill(TensorId id, const std::function<float(std::int64_t, std::int64_t)>& value) {
        const Block block = store.block(id);
        const kernels::Matrix matrix = store.matrix(id);
        for (std::int64_t i = 0; i < matrix.rows; ++i) {
            for (std::int64_t j = 0; j < matrix.columns; ++j) {
                matrix.row(i)[j] = value(block.rows.begin + i, block.columns.begin + j);
            }
        }
    }

    // Whether the local block holds value(i, j).
    void expect(TensorId id, const std::function<float(std::int64_t, std::int64_t)>& value) const {
        const Block block = store.block(id);
        const kernels::Matrix matrix = store.matrix(id);
        for (std::int64_t i = 0; i < matrix.rows; ++i) {
            for (std::int64_t j = 0; j < matrix.columns; ++j) {
                const float expected = value(block.rows.begin + i, block.columns.begin + j);
                ASSERT_EQ(matrix.row(i)[j], expected)
                    << tensor_of(store.schedule(), id).name << " on rank " << store.rank() << " at "
                    << block.rows.begin + i << "," << block.columns.begin + j;
            }
        }
    }

    GraphCounts counts;
    MemoryTracker tracker;
    comm::Traffic traffic;
    comm::CountingCommunicator world;
    Store store;
    ModelState state;
    std::unique_ptr<comm::Communicator> x_group;
};

}  // namespace gnnplan::exec::testing
