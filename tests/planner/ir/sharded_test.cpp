// Counts for all ranks of a slice at once equal those of each of them alone.
#include "planner/ir/sharded.hpp"
#include "tests/planner/lower/full_configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/memory.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan {
namespace {

// Sharded grids: 2D and 3D, more ranks along x than along y and fewer, dividing each other and not.
const std::vector<Grid> grids = {{1, 2, 1}, {2, 2, 1}, {2, 3, 1}, {4, 3, 1}, {3, 5, 1}, {12, 2, 1}, {2, 9, 1},
                                 {7, 4, 1}, {2, 2, 2}, {3, 2, 2}, {4, 3, 2}, {1, 3, 4}, {5, 2, 3}};

// Every two-layer choice in turns under every switch.
std::vector<lower::FullCase> cases_on(const Grid& grid, std::size_t every) {
    const Distribution on{Sharing::sharded, grid};
    const auto choices = lower::two_layer_choices(on);
    std::vector<lower::FullCase> cases;
    for (std::size_t i = 0, turn = 0; i < choices.size(); i += every, ++turn) {
        lower::FullCase full{on, choices[i]};
        if (grid.x > 1) full.exchange = turn % 2 == 0 ? Exchange::rows : Exchange::panels;
        full.overlap = turn / 2 % 2 == 1;
        full.loss_rows = turn / 4 % 2 == 1;
        cases.push_back(full);
    }
    return cases;
}

void expect_like_one_rank(const Schedule& schedule, const GraphStats& graph) {
    ShardedSlices slices(schedule, graph);
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        for (const Step& step : schedule.steps) {
            if (!slices.matrix_of(step)) continue;
            EXPECT_EQ(slices.traffic(step, rank), traffic_of(schedule, step, graph, rank))
                << step.name << " on " << rank;
            const SpmmStep* product = product_of(step.operation);
            if (product == nullptr) continue;
            SpmmBuffers counted = slices.buffers(*product, rank);
            const SpmmBuffers expected = spmm_buffers(schedule, *product, graph, rank);
            counted.panel = expected.panel;
            EXPECT_EQ(counted.bytes(), expected.bytes()) << step.name << " on " << rank;
            EXPECT_EQ(counted.pack, expected.pack) << step.name << " on " << rank;
            EXPECT_EQ(counted.dense, expected.dense) << step.name << " on " << rank;
        }
        for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
            const auto matrix = static_cast<TensorId>(id);
            if (schedule.tensors[id].role != Role::adjacency) continue;
            const bool needed_rows = std::any_of(schedule.steps.begin(), schedule.steps.end(), [](const Step& step) {
                return requested_rows(step.operation).has_value();
            });
            EXPECT_EQ(slices.adjacency_bytes(matrix, needed_rows, rank),
                      adjacency_block_bytes(schedule, matrix, graph, rank))
                << schedule.tensors[id].name << " on " << rank;
        }
    }
}

// The busiest rank, as the definition has it.
void expect_same_peak(const Schedule& schedule, const GraphStats& graph) {
    std::int64_t peak = 0, device_peak = 0;
    for (const int rank : rank_classes(schedule).representative) {
        const MemoryPlan plan = plan_memory(schedule, graph, rank);
        peak = std::max(peak, plan.peak_bytes);
        device_peak = std::max(device_peak, plan.device_peak_bytes);
    }
    EXPECT_EQ(peak_bytes_per_rank(schedule, graph), peak);
    EXPECT_EQ(peak_bytes_per_rank(schedule, graph, {.accelerator = true}), device_peak);
}

TrafficTotal added_up(const Schedule& schedule, Phase phase, const GraphStats& graph) {
    const RankClasses classes = rank_classes(schedule);
    TrafficTotal total;
    for (std::size_t rank = 0; rank < classes.class_of.size(); ++rank) {
        RankTraffic sum;
        for (const Step& step : schedule.steps) {
            if (step.phase != phase) continue;
            const int alike = classes.representative[static_cast<std::size_t>(classes.class_of[rank])];
            const int of = varies_with_rank(step.operation) ? static_cast<int>(rank) : alike;
            const RankTraffic traffic = traffic_of(schedule, step, graph, of);
            sum.sent_bytes += traffic.sent_bytes;
            sum.received_bytes += traffic.received_bytes;
        }
        total.total_bytes += sum.sent_bytes;
        total.max_rank_bytes = std::max({total.max_rank_bytes, sum.sent_bytes, sum.received_bytes});
    }
    return total;
}

void expect_same_totals(const Schedule& schedule, const GraphStats& graph) {
    for (const Phase phase : {Phase::setup, Phase::epoch, Phase::evaluation}) {
        const TrafficTotal expected = added_up(schedule, phase, graph);
        EXPECT_EQ(total_traffic(schedule, phase, graph).total_bytes, expected.total_bytes);
        EXPECT_EQ(total_traffic(schedule, phase, graph).max_rank_bytes, expected.max_rank_bytes);
    }
}

// Answers of statistics are rounded by position; pruned rows have several bands, factored values scales.
TEST(ShardedSlices, AreWhatEachRankIsAskedForAlone) {
    for (const Grid& grid : grids) {
        std::size_t turn = 0;
        for (const lower::FullCase& full : cases_on(grid, 7)) {
            const std::int64_t vertices = std::vector<std::int64_t>{23, 61, 1009}[turn % 3];
            const UniformStats graph(vertices, vertices * 13 / 2, turn % 2 == 0, 0.3);
            ++turn;
            SCOPED_TRACE(full.text() + ", " + std::to_string(vertices) + " vertices");
            Schedule schedule = lower::lowered(full, {13, 7, 5}, graph);
            for (Tensor& tensor : schedule.tensors) {
                tensor.storage.factored = turn % 3 == 1;
                tensor.storage.panel_columns = turn % 4 == 1 ? 5 : 0;
                const bool cut = tensor.role == Role::adjacency && turn % 2 == 1;
                tensor.storage.splits = cut ? 1 + static_cast<int>(turn % 5) : 1;
                tensor.storage.ahead = cut ? 1 : 0;
            }
            const auto numbered = graph.numbered(schedule.numbering);
            expect_like_one_rank(schedule, *numbered);
            expect_same_peak(schedule, *numbered);
            expect_same_totals(schedule, *numbered);
            if (HasFailure()) return;  // the first failure says enough
        }
    }
}

// A graph that is there.
class SmallGraph final : public GraphStats {
public:
    explicit SmallGraph(std::int64_t vertices) : vertices_(vertices) {}
    std::int64_t vertices() const override { return vertices_; }
    std::int64_t nonzeros() const override { return row_nonzeros(forward_matrix, {0, vertices_}); }
    bool symmetric() const override { return false; }
    bool exact() const override { return true; }
    std::int64_t row_nonzeros(MatrixId which, Range rows) const override {
        return block_nonzeros(which, rows, {0, vertices_});
    }
    std::int64_t block_nonzeros(MatrixId which, Range rows, Range columns) const override {
        std::int64_t count = 0;
        for (std::int64_t c = columns.begin; c < columns.end; ++c) count += in_column(which, rows, c);
        return count;
    }
    std::int64_t distinct_columns(MatrixId which, Range rows, Range columns) const override {
        std::int64_t count = 0;
        for (std::int64_t c = columns.begin; c < columns.end; ++c) count += in_column(which, rows, c) > 0 ? 1 : 0;
        return count;
    }
    std::int64_t training_vertices() const override { return vertices_; }
    std::vector<std::int64_t> loss_rows(int layers) const override {
        return std::vector<std::int64_t>(static_cast<std::size_t>(layers) + 1, vertices_);
    }
    std::shared_ptr<const GraphStats> numbered(const Numbering& /*numbering*/) const override { return nullptr; }

private:
    std::int64_t in_column(MatrixId which, Range rows, std::int64_t c) const {
        std::int64_t count = 0;
        for (std::int64_t r = rows.begin; r < rows.end; ++r) {
            const std::int64_t to = which.transposed ? r : c, from = which.transposed ? c : r;
            count += from == to || from % 9 == 4 || (from * 7 + to * 5) % 23 == 0 ? 1 : 0;
        }
        return count;
    }
    std::int64_t vertices_;
};

// Ranks with all nonzeros of their slices, whose needed rows are counted for all of them at once.
TEST(ShardedSlices, OfACountedGraphAreWhatEachRankIsAskedForAlone) {
    const SmallGraph graph(61);
    std::size_t counted = 0;
    for (const Grid& grid :
         {Grid{4, 1, 1}, Grid{3, 2, 1}, Grid{2, 2, 2}, Grid{5, 1, 2}, Grid{7, 2, 1}, Grid{70, 1, 1}}) {
        const Distribution on{Sharing::replicated, grid};
        for (const int splits : {1, 3}) {
            const lower::FullCase full{on, lower::two_layer_choices(on).front(), Exchange::rows, splits > 1};
            Schedule schedule = lower::lowered(full, {13, 7, 5}, graph);
            for (Tensor& tensor : schedule.tensors) {
                tensor.storage.factored = splits > 1;
                tensor.storage.splits = tensor.role == Role::adjacency ? splits : 1;
            }
            ShardedSlices slices(schedule, graph);
            std::int64_t peak = 0;
            for (int rank = 0; rank < grid.size(); ++rank) {
                peak = std::max(peak, plan_memory(schedule, graph, rank).peak_bytes);
                for (const Step& step : schedule.steps) {
                    if (!slices.counts(step)) continue;
                    ++counted;
                    EXPECT_EQ(slices.traffic(step, rank), traffic_of(schedule, step, graph, rank)) << step.name;
                    const SpmmStep* product = product_of(step.operation);
                    if (product == nullptr) continue;
                    SpmmBuffers found = slices.buffers(*product, rank);
                    const SpmmBuffers expected = spmm_buffers(schedule, *product, graph, rank);
                    found.panel = expected.panel;
                    EXPECT_EQ(found.bytes(), expected.bytes()) << step.name << " on " << rank << " of " << full.text();
                }
            }
            EXPECT_EQ(peak_bytes_per_rank(schedule, graph), peak) << full.text();
        }
    }
    EXPECT_GT(counted, 400U);
}

}  // namespace
}  // namespace gnnplan
