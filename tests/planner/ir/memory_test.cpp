#include "tests/planner/lower/configurations.hpp"
#include "tests/planner/lower/full_configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

const UniformStats graph(101, 700, true);
const std::vector<std::int64_t> widths = {13, 7, 5, 3};

struct Span {
    std::int64_t begin, end;
    std::size_t first, last;
};

// Lifetimes recomputed from scratch: position of first and last use in time order.
std::vector<Span> live_spans(const Schedule& s, const MemoryPlan& plan, int rank) {
    std::vector<const Step*> order;
    for (const Phase phase : {Phase::setup, Phase::epoch, Phase::evaluation}) {
        for (const Step& step : s.steps) {
            if (step.phase == phase) order.push_back(&step);
        }
    }
    std::vector<Span> spans;
    for (std::size_t id = 0; id < s.tensors.size(); ++id) {
        if (s.tensors[id].role == Role::adjacency) continue;
        Span span{plan.tensor_offset[id], plan.tensor_offset[id] + block_bytes(s, static_cast<TensorId>(id), rank),
                  order.size(), 0};
        for (std::size_t p = 0; p < order.size(); ++p) {
            const Operands operands = operands_of(order[p]->operation);
            for (const auto* ids : {&operands.reads, &operands.writes}) {
                if (std::find(ids->begin(), ids->end(), static_cast<TensorId>(id)) == ids->end()) continue;
                span.first = std::min(span.first, p);
                span.last = std::max(span.last, p);
            }
        }
        const Role role = s.tensors[id].role;
        const bool setup_only = span.last < order.size() && order[span.last]->phase == Phase::setup;
        if (is_resident(role)) span.first = 0;
        if (role == Role::cached || (is_resident(role) && !(role == Role::features && setup_only))) {
            span.last = order.size();
        }
        spans.push_back(span);
    }
    for (std::size_t p = 0; p < order.size(); ++p) {
        const auto step = static_cast<std::size_t>(order[p] - s.steps.data());
        spans.push_back({plan.staging_offset[step], plan.staging_offset[step] + plan.staging_bytes[step], p, p});
    }
    return spans;
}

void expect_no_overlap(const Schedule& s, const GraphStats& stats, int rank) {
    const MemoryPlan plan = plan_memory(s, stats, rank);
    const auto spans = live_spans(s, plan, rank);
    for (std::size_t a = 0; a < spans.size(); ++a) {
        EXPECT_EQ(spans[a].begin % arena_alignment, 0);
        EXPECT_LE(spans[a].end, plan.arena_bytes);
        for (std::size_t b = 0; b < a; ++b) {
            const bool together = spans[a].first <= spans[b].last && spans[b].first <= spans[a].last;
            const bool overlap = spans[a].begin < spans[b].end && spans[b].begin < spans[a].end;
            EXPECT_FALSE(together && overlap) << "buffers " << a << " and " << b;
        }
    }
}

TEST(Memory, BuffersThatLiveTogetherNeverOverlap) {
    for (const int id : {0, 2, 10, 13, 15, 36, 44, 63}) {
        const auto orders = enumerate::all_orders(3)[static_cast<std::size_t>(id)];
        for (const int replication : {1, 2, 3, 6}) {
            SCOPED_TRACE("id " + std::to_string(id) + ", R_A = " + std::to_string(replication));
            const Schedule s = lower::lowered(orders, widths, 6, replication, 101, true);
            for (int rank = 0; rank < 6; ++rank) expect_no_overlap(s, graph, rank);
        }
    }
}

TEST(Memory, NorDoTheyInTheFullSpace) {
    const UniformStats stats(53, 400, false, 0.3);
    for (const lower::FullCase& full : lower::full_cases({1, 4, 6, 8, 12}, 41)) {
        SCOPED_TRACE(full.text());
        const Schedule s = lower::lowered(full, {13, 7, 5}, stats);
        for (const int rank : {0, full.on.grid.size() - 1}) expect_no_overlap(s, *stats.numbered(s.numbering), rank);
    }
}

// Tensors that only setup reads make room: features whose aggregation is cached for evaluation, too.
TEST(Memory, FeaturesEndWithSetupWhenTheirAggregationIsCached) {
    lower::FullCase full{{Sharing::replicated, {4, 1, 1}}, {}, Exchange::panels};
    full.choices = {{Order::sparse_first, Order::none, Operand::product, true, true},
                    {Order::dense_first, Order::sparse_first, Operand::gradient}};
    const UniformStats stats(40'000, 400'000, true, 0.1);
    const std::int64_t features = 40'000 / 4 * 256 * 4;
    const auto arena = [&] { return plan_memory(lower::lowered(full, {256, 16, 4}, stats), stats, 0).arena_bytes; };
    // H^0, T^1 and a panel of H^0 in setup; nothing of an epoch is as large as a panel.
    EXPECT_LE(arena(), 3 * features + features / 4);
    full.loss_rows = true;  // evaluation reads every vertex: it needs the features themselves
    const Schedule pruned = lower::lowered(full, {256, 16, 4}, stats);
    EXPECT_TRUE(std::any_of(pruned.steps.begin(), pruned.steps.end(),
                            [](const Step& step) { return step.name == "evaluation.forward.1.spmm"; }));
}

// The peak cannot be below the largest sum of what lives at once, and sharing must save something.
TEST(Memory, SharingSavesMemory) {
    const Schedule s = lower::lowered(enumerate::all_orders(3)[0], {64, 64, 64, 64}, 4, 4, 1000);
    const UniformStats g(1000, 5000, true);
    const MemoryPlan plan = plan_memory(s, g, 0);
    std::int64_t everything = 0;
    for (std::size_t id = 0; id < s.tensors.size(); ++id) {
        if (s.tensors[id].role != Role::adjacency) everything += aligned(block_bytes(s, static_cast<TensorId>(id), 0));
    }
    EXPECT_LT(plan.arena_bytes, everything * 2 / 3);
    EXPECT_EQ(plan.peak_bytes, plan.adjacency_bytes + std::max(plan.load_bytes, plan.arena_bytes));
}

// On an accelerator neither the whole graph nor its numbering counts, which its host holds.
TEST(Memory, OfADeviceLeavesOutWhatItsHostHolds) {
    Schedule s = lower::lowered(enumerate::all_orders(2)[0], {4, 4, 4}, 4, 1, 1000);
    s.numbering.permuted = true;
    const UniformStats g(1000, 50'000, true);
    const MemoryPlan plan = plan_memory(s, g, 0);
    EXPECT_GT(plan.load_bytes, plan.arena_bytes);
    EXPECT_EQ(plan.order_bytes, 8000);
    EXPECT_EQ(plan.peak_bytes, plan.adjacency_bytes + plan.load_bytes + plan.order_bytes);
    EXPECT_EQ(plan.device_peak_bytes, plan.adjacency_bytes + plan.arena_bytes);
    EXPECT_EQ(peak_bytes_per_rank(s, g, {.accelerator = true, .workspace_bytes = 100}), plan.device_peak_bytes + 100);
    EXPECT_EQ(peak_bytes_per_rank(s, g), plan.peak_bytes);
}

// Outputs are written by the numbers of their vertices, which are those of the rows where these lie as in the file.
TEST(Memory, OfOutputsThatAreWritten) {
    Schedule s = lower::lowered(enumerate::all_orders(2)[0], {4, 4, 4}, 4, 1, 1001);
    const UniformStats g(1001, 50'000, true);
    const auto first = std::find_if(s.tensors.begin(), s.tensors.end(),
                                    [](const Tensor& tensor) { return tensor.role == Role::transient; });
    ASSERT_EQ(first->rows, 1001);
    for (const bool permuted : {false, true}) {
        s.numbering.permuted = permuted;
        s.output.reset();
        EXPECT_EQ(plan_memory(s, g, 0).output_vertex_bytes, 0);
        s.output = static_cast<TensorId>(first - s.tensors.begin());
        const MemoryPlan plan = plan_memory(s, g, 0);
        EXPECT_EQ(plan.output_vertex_bytes, permuted ? 4 * 251 : 0);
        EXPECT_EQ(plan.peak_bytes, plan.adjacency_bytes + plan.output_vertex_bytes +
                                       std::max(plan.load_bytes, plan.arena_bytes) + plan.order_bytes);
        EXPECT_EQ(plan.device_peak_bytes, plan.adjacency_bytes + plan.arena_bytes);
    }
}

// The peak is looked up by block sizes; it must be what every single rank needs.
TEST(Memory, ThePeakIsThatOfTheFullestRank) {
    for (const int id : {6, 9, 10, 15}) {
        for (const auto& [P, R] :
             {std::pair{6, 6}, std::pair{6, 3}, std::pair{6, 1}, std::pair{8, 4}, std::pair{12, 4}}) {
            for (const std::int64_t vertices : {5, 101, 4000}) {
                const UniformStats g(vertices, 7 * vertices, true);
                const Schedule s =
                    lower::lowered(enumerate::all_orders(2)[static_cast<std::size_t>(id)], {13, 7, 5}, P, R, vertices);
                std::int64_t peak = 0;
                for (int rank = 0; rank < P; ++rank) peak = std::max(peak, plan_memory(s, g, rank).peak_bytes);
                EXPECT_EQ(peak_bytes_per_rank(s, g), peak) << "id " << id << " P=" << P << " R=" << R;
            }
        }
    }
}

TEST(Memory, AdjacencyByHand) {
    // 2 x 1 grid, 101 rows: rank 0 holds 51 rows in two panels, 8 * (51 + 1) row starts each, 8 bytes per nonzero.
    const Schedule s = lower::lowered(enumerate::all_orders(2)[0], {13, 7, 5}, 2, 1, 101);
    EXPECT_EQ(adjacency_block_bytes(s, tensor_of(s, 0).role == Role::adjacency ? 0 : 2, graph, 0),
              2 * 8 * 52 + 8 * (700 * 51 / 101));
    EXPECT_EQ(load_bytes(graph), 8 * 102 + 4 * 700 + 16 * 101);
    EXPECT_EQ(load_bytes(UniformStats(101, 700, false)), 2 * (8 * 102 + 4 * 700) + 16 * 101);
    EXPECT_EQ(load_bytes(UniformStats(101, 700, true, 1, true)), 8 * 102 + 8 * 700 + 16 * 101);
}

// A directed pattern stored once as columns only, with two sets of scales, and in panels of at most 20 columns.
TEST(Memory, FactoredAdjacencyByHand) {
    Configuration configuration;
    configuration.grid = {2, 1, 1};
    configuration.forward = configuration.backward = parse_orders("S");
    configuration.operands = parse_operands("T");
    configuration.exchange = Exchange::panels;
    const SiteGraph model = sites_of(models::gcn({13, 5}, false));
    lower::GraphShape shape{101, false, {}, 0, true, 0};
    const auto adjacency = [&](const Schedule& s) {
        std::int64_t bytes = 0;
        for (std::size_t id = 0; id < s.tensors.size(); ++id) {
            if (s.tensors[id].role != Role::adjacency) continue;
            bytes += adjacency_block_bytes(s, static_cast<TensorId>(id), graph, 0);
        }
        EXPECT_EQ(bytes, plan_memory(s, graph, 0).adjacency_bytes);
        return bytes;
    };
    const std::int64_t row_starts = 8 * (51 + 1);  // of each of two blocks
    const std::int64_t nonzeros = 700 * 51 / 101;
    EXPECT_EQ(adjacency(lower::lower(model, configuration, shape)), 2 * (2 * row_starts + 8 * nonzeros));
    configuration.factored_values = true;
    const Schedule shared = lower::lower(model, configuration, shape);
    EXPECT_NO_THROW(validate(shared));
    EXPECT_EQ(adjacency(shared), 2 * row_starts + 4 * nonzeros + 2 * 4 * (51 + 101));
    shape.panel_columns = 20;
    EXPECT_EQ(adjacency(lower::lower(model, configuration, shape)), 6 * row_starts + 4 * nonzeros + 2 * 4 * (51 + 101));
    shape.symmetric_pattern = false;
    EXPECT_EQ(adjacency(lower::lower(model, configuration, shape)),
              2 * (6 * row_starts + 4 * nonzeros) + 2 * 4 * (51 + 101));
    shape.blocking.row_start_bytes = 4;
    EXPECT_EQ(adjacency(lower::lower(model, configuration, shape)),
              2 * (3 * row_starts + 4 * nonzeros) + 2 * 4 * (51 + 101));
}

TEST(Memory, RowStartsAreAsWideAsTheMachineSaysAndAsTheNonzerosNeed) {
    const Tensor matrix{"A", Role::adjacency, DType::f32, 10, 10, {Axes::parse("x"), Axes::parse("z"), {}}};
    const std::int64_t most = (std::int64_t{1} << 31) - 1;
    Blocking blocking;
    EXPECT_EQ(sparse_bytes(blocking, matrix, {0, 10}, {0, 10}, 7), 11 * 8 + 8 * 7);
    blocking.row_start_bytes = 4;
    EXPECT_EQ(sparse_bytes(blocking, matrix, {0, 10}, {0, 10}, 7), 11 * 4 + 8 * 7);
    EXPECT_EQ(sparse_bytes(blocking, matrix, {0, 10}, {0, 10}, most), 11 * 4 + 8 * most);
    EXPECT_EQ(sparse_bytes(blocking, matrix, {0, 10}, {0, 10}, most + 1), 11 * 8 + 8 * (most + 1));
}

TEST(Memory, StagingHoldsWhatIsNotContiguous) {
    // C -> R on 1 x 2: rows are sent as they lie; only the received columns are interleaved.
    Schedule s{
        {1, 2, 1},
        {},
        {{"a", Role::transient, DType::f32, 10, 4, layout_c()}, {"b", Role::transient, DType::f32, 10, 4, layout_r()}},
        {{"to_r", Phase::epoch, RedistributeStep{0, 1}}, {"to_c", Phase::epoch, RedistributeStep{1, 0}}}};
    EXPECT_EQ(staging_of(s, s.steps[0], graph, 0).send_bytes, 0);
    EXPECT_EQ(staging_of(s, s.steps[0], graph, 0).receive_bytes, 5 * 2 * 4);
    EXPECT_EQ(staging_of(s, s.steps[1], graph, 0).send_bytes, 5 * 2 * 4);
    EXPECT_EQ(staging_of(s, s.steps[1], graph, 0).receive_bytes, 0);
}

// 101 columns in panels of 20: six, the largest of 17 rows.
TEST(Memory, StagingHoldsAPackedPanel) {
    const auto staged = [](std::int64_t panel_columns, std::int64_t width, bool overlap, bool bf16 = false) {
        Schedule s{{1, 1, 1},
                   {},
                   {{"A^T", Role::adjacency, DType::f32, 101, 101, {Axes::parse("x"), Axes::parse("z"), {}}, true},
                    {"a", Role::transient, DType::f32, 101, width, layout_c()},
                    {"b", Role::transient, DType::f32, 101, width, layout_c()}},
                   {{"step", Phase::epoch, SpmmStep{0, {1}, {2}, Exchange::panels, overlap, bf16}}}};
        s.tensors[0].storage.panel_columns = panel_columns;
        const Staging staging = staging_of(s, s.steps[0], graph, 0);
        EXPECT_EQ(staging.send_bytes, 0);
        return staging.receive_bytes;
    };
    EXPECT_EQ(staged(20, 41, false), 17 * 48 * 4);
    EXPECT_EQ(staged(20, 256, false), 17 * 128 * 4) << "two slices";
    EXPECT_EQ(staged(20, 602, false), 17 * 160 * 4) << "four slices";
    EXPECT_EQ(staged(20, 128, false), 0) << "whole cache lines";
    EXPECT_EQ(staged(20, 272, false), 0) << "an odd number of them";
    EXPECT_EQ(staged(20, 7, false), 0) << "less than one";
    EXPECT_EQ(staged(0, 41, false), 0) << "one panel";
    EXPECT_EQ(staged(20, 41, true), 0) << "small portions";
    EXPECT_EQ(staged(20, 41, false, true), 17 * 64 * 2);
    EXPECT_EQ(staged(20, 256, false, true), 17 * 128 * 2) << "two slices";
    EXPECT_EQ(staged(20, 7, false, true), 17 * 32 * 2) << "of any width";
    EXPECT_EQ(staged(0, 128, false, true), 101 * 128 * 2) << "of a single panel, too";
}

// On two ranks a GPU copies the 51 or 50 rows of a piece, whose slices of at most 16 columns stay in its cache.
TEST(Memory, StagingHoldsASinglePanelOfAGpu) {
    const auto staged = [](std::int64_t width, Program program, bool overlap) {
        std::vector<TensorId> results{2};
        if (program == Program::max) results.push_back(3);
        Schedule s{{2, 1, 1},
                   {},
                   {{"A^T", Role::adjacency, DType::f32, 101, 101, {Axes::parse("x"), Axes::parse("z"), {}}, true},
                    {"a", Role::transient, DType::f32, 101, width, layout_c()},
                    {"b", Role::transient, DType::f32, 101, width, layout_c()},
                    {"n", Role::transient, DType::f32, 101, width, layout_c()}},
                   {{"step", Phase::epoch, SpmmStep{0, {1}, results, Exchange::panels, overlap, false, program}}}};
        s.blocking = gpu_blocking(3 * 51 * 16 * 4 / 2);
        s.blocking.least_slice_columns = 8;
        return spmm_buffers(s, std::get<SpmmStep>(s.steps[0].operation), UniformStats(101, 500, true), 1);
    };
    const SpmmBuffers sum = staged(41, Program::sum, false);
    EXPECT_EQ(sum.panel, aligned(51 * 16 * 4)) << "three slices";
    EXPECT_EQ(sum.slice_columns, 16);
    EXPECT_EQ(staged(12, Program::sum, false).slice_columns, 16);
    EXPECT_EQ(staged(16, Program::sum, false).panel, 0) << "rows begin with units";
    EXPECT_EQ(staged(41, Program::sum, true).panel, 0) << "small portions";
    EXPECT_EQ(staged(41, Program::max, false).panel, 0) << "maxima read them as they are";
}

TEST(Memory, LargestTensorsComeLargestFirst) {
    const Schedule s = lower::lowered(enumerate::all_orders(2)[0], {602, 128, 41}, 4, 4, 1000);
    const auto largest = largest_tensors(s, UniformStats(1000, 500, true), 0, 3);
    ASSERT_EQ(largest.size(), 3U);
    EXPECT_GE(largest[0].bytes, largest[1].bytes);
    EXPECT_GE(largest[1].bytes, largest[2].bytes);
    EXPECT_EQ(largest[0].bytes, 1000 * 151 * 4);  // 602 columns over 4 ranks: the first two hold 151
}

TEST(UniformStats, BlocksAddUpToTheTotal) {
    const UniformStats stats(7, 100, true);
    for (int k = 1; k <= 9; ++k) {
        std::int64_t sum = 0;
        for (int i = 0; i < k; ++i) sum += stats.row_nonzeros(forward_matrix, balanced_block({0, 7}, i, k));
        EXPECT_EQ(sum, 100);
    }
    const std::int64_t huge = std::int64_t{1} << 40;  // vertices * nonzeros exceeds 2^63
    EXPECT_EQ(UniformStats(huge, huge, true).row_nonzeros(forward_matrix, {0, huge}), huge);
}

}  // namespace
}  // namespace gnnplan
