// One rank's store for a schedule built by hand, and matrices whose elements tell where they belong.
#pragma once

#include "runtime/comm/counting.hpp"
#include "runtime/comm/threads.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/exec/handlers.hpp"
#include "runtime/exec/model_state.hpp"
#include "tests/support/devices.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
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

// Every grid of `ranks`.
inline std::vector<Grid> all_grids_of(int ranks) {
    std::vector<Grid> grids;
    for (int z = 1; z <= ranks; ++z) {
        if (ranks % z != 0) continue;
        for (const Grid& plane : grids_of(ranks / z)) grids.push_back({plane.x, plane.y, z});
    }
    return grids;
}

// A matrix with its rows over x and its contraction side over `columns`.
inline Layout matrix_layout(const std::string& columns) { return {Axes::parse("x"), Axes::parse(columns), {}}; }

inline TensorId add(Schedule& schedule, const std::string& name, Role role, DType dtype, std::int64_t rows,
                    std::int64_t columns, const Layout& layout) {
    Tensor tensor{name, role, dtype, rows, columns, layout, role == Role::adjacency};
    if (role == Role::weight || role == Role::bias) {
        tensor.parameter = static_cast<int>(schedule.parameters.size());
        schedule.parameters.push_back({name, name, {rows, columns}, role == Role::bias ? Init::zeros : Init::glorot});
    }
    schedule.tensors.push_back(std::move(tensor));
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

// All values of the matrix 1.
inline data::DegreeScales no_scales(const data::Graph& graph) {
    return data::compute_scales(graph, Normalisation::none);
}

inline std::shared_ptr<const GraphCounts> numbered_counts(const data::Graph& graph, const Numbering& numbering,
                                                          const std::vector<std::uint8_t>& subset = {}) {
    return std::dynamic_pointer_cast<const GraphCounts>(GraphCounts(graph, subset).numbered(numbering));
}

// The memory and the communicator that tests run on.
struct TestedDevice {
    explicit TestedDevice(comm::Communicator& world)
        : device(wanted ? wanted->open() : kernels::host_device(kernels::reference_table())),
          of_device(wanted ? wanted->communicator(world, *device) : nullptr),
          comm(of_device ? *of_device : world) {}

    std::optional<gnnplan::testing::DeviceKind> wanted = gnnplan::testing::wanted_device();
    std::unique_ptr<kernels::Device> device;
    std::unique_ptr<comm::Communicator> of_device;
    comm::Communicator& comm;
};

// Counts, and in the host's memory spoils receive buffers as soon as an exchange begins: from then on they belong to
// the communicator, which may fill them before anyone waits.
class SpoilingCommunicator final : public comm::CountingCommunicator {
public:
    using CountingCommunicator::CountingCommunicator;
    std::unique_ptr<comm::PendingExchange> start_exchange(std::span<const comm::Send> sends,
                                                          std::span<const comm::Receive> receives) override {
        for (const comm::Receive& receive : needs_progress() ? receives : std::span<const comm::Receive>())
            std::fill(receive.bytes.begin(), receive.bytes.end(), std::byte{0xff});
        for (const comm::Receive& receive : receives) {
            if (receive.bytes.empty()) continue;
            const auto begin = reinterpret_cast<std::uintptr_t>(receive.bytes.data());
            first_ = std::min(first_, begin), end_ = std::max(end_, begin + receive.bytes.size());
        }
        return CountingCommunicator::start_exchange(sends, receives);
    }

    std::unique_ptr<comm::Loan> lend(std::span<const comm::Send> sends,
                                     std::span<const comm::Receive> receives) override {
        return lends ? CountingCommunicator::lend(sends, receives) : nullptr;
    }
    bool lends = true;  // false: messages travel, as between processes

    // From the first to the last byte that anything was received into since it was forgotten.
    std::int64_t received_extent() const { return end_ > first_ ? static_cast<std::int64_t>(end_ - first_) : 0; }
    void forget_extent() { first_ = std::numeric_limits<std::uintptr_t>::max(), end_ = 0; }

private:
    std::uintptr_t first_ = std::numeric_limits<std::uintptr_t>::max(), end_ = 0;
};

// A rank with everything allocated.
class Rank {
public:
    Rank(const Schedule& schedule, const data::Graph& graph, comm::Communicator& comm)
        : Rank(schedule, graph, no_scales(graph), comm) {}
    Rank(const Schedule& schedule, const data::Graph& graph, const data::DegreeScales& scales, comm::Communicator& comm)
        : counts(numbered_counts(graph, schedule.numbering)),
          tested(comm),
          tracker(tested.device->memory().accelerator),
          world(tested.comm, traffic),
          device(tested.device.get()),
          store(schedule, *counts, comm.rank(), *device, tracker),
          state(schedule, 1, *device, tracker) {
        store.build_blocks(graph, scales, *counts);
        store.allocate(state);
    }

    // Runs step `index` of the schedule.
    void run(std::size_t index, const PassSettings& settings = {}) {
        const auto* pass = device->begin_pass(kernels::pass_values(settings.epoch));
        const StepContext context{store, device->table(), world, settings, pass, index};
        traffic.reset();
        world.forget_extent();
        std::visit([&](const auto& step) { run_step(step, context); }, store.schedule().steps[index].operation);
        device->finish();  // or ranks that nobody asks for values would not move theirs
    }

    // Element (i, j) of the whole matrix is value(i, j); fills the local block.
    void fill(TensorId id, const std::function<float(std::int64_t, std::int64_t)>& value) {
        const Block block = store.block(id);
        std::vector<float> values;
        for (std::int64_t i = block.rows.begin; i < block.rows.end; ++i) {
            for (std::int64_t j = block.columns.begin; j < block.columns.end; ++j) values.push_back(value(i, j));
        }
        write(id, values);
    }

    // The local block of a tensor, as it lies in memory.
    template <class T>
    void write(TensorId id, const std::vector<T>& values) {
        kernels::upload(*device, std::as_bytes(std::span(values)), store.bytes(id));
    }
    template <class T>
    std::vector<T> read(TensorId id) const {
        const auto bytes = bytes_of(tensor_of(store.schedule(), id).dtype, store.block(id).count());
        return download<T>(store.bytes(id), bytes / static_cast<std::int64_t>(sizeof(T)));
    }
    template <class T>
    std::vector<T> download(const std::byte* from, std::int64_t count) const {
        std::vector<T> values(static_cast<std::size_t>(count));
        device->download(from, std::as_writable_bytes(std::span(values)));
        device->finish();
        return values;
    }

    // Whether the local block holds value(i, j).
    void expect(TensorId id, const std::function<float(std::int64_t, std::int64_t)>& value) const {
        const Block block = store.block(id);
        const std::vector<float> values = read<float>(id);
        const float* at = values.data();
        for (std::int64_t i = 0; i < block.rows.size(); ++i) {
            for (std::int64_t j = 0; j < block.columns.size(); ++j) {
                const float expected = value(block.rows.begin + i, block.columns.begin + j);
                ASSERT_EQ(*at++, expected) << tensor_of(store.schedule(), id).name << " on rank " << store.rank()
                                           << " at " << block.rows.begin + i << "," << block.columns.begin + j;
            }
        }
    }

    // Whether the step that ran last moved the bytes it is predicted to move as step `index`.
    void expect_predicted_bytes(std::size_t index) const {
        const Schedule& schedule = store.schedule();
        const RankTraffic predicted = traffic_of(schedule, schedule.steps[index], *counts, store.rank());
        EXPECT_EQ(traffic.sent_bytes, predicted.sent_bytes) << schedule.steps[index].name;
        EXPECT_EQ(traffic.received_bytes, predicted.received_bytes) << schedule.steps[index].name;
    }

    std::shared_ptr<const GraphCounts> counts;
    TestedDevice tested;
    MemoryTracker tracker;
    comm::Traffic traffic;
    SpoilingCommunicator world;
    kernels::Device* device;
    Store store;
    ModelState state;
};

}  // namespace gnnplan::exec::testing
