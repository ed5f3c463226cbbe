// A ring GEMM moves what the two redistributions move that it takes the place of, pair by pair, and stages tiles.
#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/ring_tiles.hpp>
#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace gnnplan {
namespace {

struct Sizes {
    std::int64_t rows, in, out;
};

// In C, in R and the weight; the result in R and in C. Steps: the ring, what it takes the place of.
Schedule schedule_of(const Grid& grid, const Sizes& sizes) {
    const auto dense = [&](const char* name, std::int64_t columns, const Layout& layout) {
        Tensor tensor{name, Role::transient, DType::f32, sizes.rows, columns, layout};
        tensor.space = 0;
        return tensor;
    };
    Tensor weight{"W", Role::weight, DType::f32, sizes.in, sizes.out, layout_replicated()};
    weight.parameter = 0;
    Schedule s;
    s.grid = grid;
    s.spaces = {{"vertices", sizes.rows, 0}};
    s.parameters = {{"layers.1.weight", "W", {sizes.in, sizes.out}, Init::glorot}};
    s.tensors = {dense("in.C", sizes.in, layout_c()), dense("in.R", sizes.in, layout_r()), weight,
                 dense("out.R", sizes.out, layout_r()), dense("out.C", sizes.out, layout_c())};
    for (const Operation& operation : {Operation(RingGemmStep{0, 2, 4}), Operation(RedistributeStep{0, 1}),
                                       Operation(GemmStep{1, 2, 3, false}), Operation(RedistributeStep{3, 4})})
        s.steps.push_back({std::string(kind_of(operation)), Phase::epoch, operation});
    return s;
}

void on_every_grid(const std::function<void(const Schedule&, const GraphStats&)>& check) {
    const std::vector<Sizes> all = {{1, 3, 5}, {5, 1, 7}, {29, 13, 2}, {30, 7, 7}, {64, 32, 16}, {61, 2, 11}};
    for (const Sizes& sizes : all) {
        const UniformStats graph(sizes.rows, sizes.rows, false);
        for (int x = 1; x <= 4; ++x) {
            for (const int y : {2, 3, 4, 5, 7, 9}) {
                for (int z = 1; z <= 2; ++z) {
                    Schedule schedule = schedule_of({x, y, z}, sizes);
                    check(schedule, graph);
                    set_wire(schedule, Wire::bfloat16);
                    check(schedule, graph);
                }
                if (::testing::Test::HasFailure()) return;  // the first failure says enough
            }
        }
    }
}

TEST(RingGemm, MovesWhatTwoRedistributionsMoveBetweenEveryTwoRanks) {
    on_every_grid([](const Schedule& s, const GraphStats& graph) {
        const StepMessages ring(s, s.steps[0], graph), there(s, s.steps[1], graph), back(s, s.steps[3], graph);
        for (int from = 0; from < s.grid.size(); ++from) {
            EXPECT_EQ(ring.peers(from), there.peers(from));
            for (int to = 0; to < s.grid.size(); ++to) {
                if (from == to || s.grid.coordinate(from, Axis::x) != s.grid.coordinate(to, Axis::x) ||
                    s.grid.coordinate(from, Axis::z) != s.grid.coordinate(to, Axis::z))
                    continue;
                EXPECT_EQ(ring.between(from, to).bytes, there.between(from, to).bytes + back.between(from, to).bytes)
                    << s.grid.text() << " " << from << " to " << to;
            }
        }
    });
}

// Every tile that has rows is a message for those who have columns of it.
TEST(RingGemm, SendsAMessageForEveryTile) {
    on_every_grid([](const Schedule& s, const GraphStats& graph) {
        const auto& step = std::get<RingGemmStep>(s.steps[0].operation);
        for (const Message& message : messages_of(s, s.steps[0], graph)) {
            std::int64_t bytes = 0, count = 0;
            const auto add = [&](std::int64_t elements) {
                bytes += wire_bytes(step.wire, elements), count += elements > 0 ? 1 : 0;
            };
            for (int t = 0; t < ring_tiles(s.grid); ++t) {
                add(step.tile(s, message.to, t).size() * block_of(s, 0, message.from).columns.size());
                add(step.tile(s, message.from, t).size() * block_of(s, 4, message.to).columns.size());
            }
            EXPECT_EQ(message.bytes, bytes);
            EXPECT_EQ(message.count, count);
        }
    });
}

// The tiles of all ranks are the rows of the matrix, each once: the blocks of layout R, one after the other.
TEST(RingGemm, TilesAreTheRowsInLayoutR) {
    on_every_grid([](const Schedule& s, const GraphStats& graph) {
        const auto& step = std::get<RingGemmStep>(s.steps[0].operation);
        double flops = 0, of_product = 0;
        for (int rank = 0; rank < s.grid.size(); ++rank) {
            const Range rows = block_of(s, 1, rank).rows;
            std::int64_t next = rows.begin;
            for (int t = 0; t < ring_tiles(s.grid); ++t) {
                const Range tile = step.tile(s, rank, t);
                EXPECT_EQ(tile.begin, next);
                next = tile.end;
                EXPECT_LE(step.arriving(s, rank, t), step.arriving(s, rank, t % 2));
                EXPECT_LE(step.leaving(s, rank, t), step.leaving(s, rank, t % 2));
            }
            EXPECT_EQ(next, rows.end);
            flops += work_of(s, s.steps[0], graph, rank).dense_flops;
            of_product += work_of(s, s.steps[2], graph, rank).dense_flops;
        }
        EXPECT_EQ(flops, of_product);
    });
}

// Beside operand and result, tiles take less than either in whole rows and what its redistribution stages.
TEST(RingGemm, TakesLessMemoryThanWholeRows) {
    const UniformStats graph(6'400, 6'400, false);
    for (int y = 2; y <= 16; ++y) {
        for (const std::int64_t width : {16, 128}) {
            for (const Wire wire : {Wire::fp32, Wire::bfloat16}) {
                Schedule s = schedule_of({2, y, 1}, {6'400, width, 128});
                set_wire(s, wire);
                const auto tensor = [&](TensorId id) { return block_bytes(s, id, 0); };
                const auto staged = [&](std::size_t step) {
                    const Staging staging = staging_of(s, s.steps[step], graph, 0);
                    return staging.send_bytes + staging.receive_bytes;
                };
                const std::int64_t whole = std::max(
                    {tensor(0) + tensor(1) + staged(1), tensor(1) + tensor(3), tensor(3) + tensor(4) + staged(3)});
                EXPECT_LT(tensor(0) + tensor(4) + staged(0), whole) << y << " ranks, from " << width << " columns";
            }
        }
    }
}

// Where blocks are equal, and buffers whole cache lines: two tiles of floats have the place of one, and of two of
// bfloat16.
TEST(RingGemm, StagesAsMuchWhetherItRoundsOrNot) {
    const UniformStats graph(8'192, 8'192, false);
    for (const int y : {2, 4, 8, 16}) {
        Schedule s = schedule_of({2, y, 1}, {8'192, 64, 128});
        const Staging exact = staging_of(s, s.steps[0], graph, 0);
        set_wire(s, Wire::bfloat16);
        const Staging rounded = staging_of(s, s.steps[0], graph, 0);
        EXPECT_EQ(rounded.send_bytes + rounded.receive_bytes, exact.send_bytes + exact.receive_bytes) << y << " ranks";
    }
}

// Whoever is alike by sizes sends, stages and computes alike, and sums over classes are those over ranks.
TEST(RingGemm, RanksOfAClassAreAlike) {
    on_every_grid([](Schedule s, const GraphStats& graph) {
        s.steps.resize(1);
        const RankClasses classes = rank_classes(s);
        std::int64_t total = 0, busiest = 0, peak = 0;
        for (int rank = 0; rank < s.grid.size(); ++rank) {
            const int like =
                classes.representative[static_cast<std::size_t>(classes.class_of[static_cast<std::size_t>(rank)])];
            EXPECT_EQ(traffic_of(s, s.steps[0], graph, rank), traffic_of(s, s.steps[0], graph, like));
            EXPECT_EQ(staging_of(s, s.steps[0], graph, rank).send_bytes,
                      staging_of(s, s.steps[0], graph, like).send_bytes);
            EXPECT_EQ(staging_of(s, s.steps[0], graph, rank).receive_bytes,
                      staging_of(s, s.steps[0], graph, like).receive_bytes);
            const RankTraffic traffic = traffic_of(s, s.steps[0], graph, rank);
            total += traffic.sent_bytes;
            busiest = std::max({busiest, traffic.sent_bytes, traffic.received_bytes});
            peak = std::max(peak, plan_memory(s, graph, rank).peak_bytes);
        }
        EXPECT_EQ(total_traffic(s, Phase::epoch, graph).total_bytes, total);
        EXPECT_EQ(total_traffic(s, Phase::epoch, graph).max_rank_bytes, busiest);
        EXPECT_EQ(peak_bytes_per_rank(s, graph), peak);
    });
}

TEST(RingGemm, IsValidatedBeforeItRuns) {
    // A step that writes what the ring reads, and nothing else.
    const auto valid = [] {
        Schedule s = schedule_of({2, 2, 1}, {12, 6, 4});
        s.steps = {{"input", Phase::epoch, RedistributeStep{1, 0}}, s.steps[0]};
        s.tensors[1].role = Role::features;
        return s;
    };
    ASSERT_NO_THROW(validate(valid()));
    struct Alteration {
        const char* what;
        std::function<void(Schedule&)> apply;
    };
    const auto ring = [](Schedule& s) -> RingGemmStep& { return std::get<RingGemmStep>(s.steps[1].operation); };
    const Alteration alterations[] = {
        {"nobody to exchange with",
         [](Schedule& s) {
             s.grid = {4, 1, 1};
         }},
        {"an operand in whole rows", [&](Schedule& s) { ring(s).in = 1; }},
        {"a result in whole rows", [&](Schedule& s) { ring(s).out = 3; }},
        {"a result over its operand", [&](Schedule& s) { ring(s).out = 0; }},
        {"a weight that is none", [&](Schedule& s) { ring(s).weight = 1; }},
        {"a weight of another height", [](Schedule& s) { s.tensors[2].rows = 5; }},
        {"a result of another width", [](Schedule& s) { s.tensors[4].columns = 5; }},
        {"a result of other rows", [](Schedule& s) { s.tensors[4].rows = 11; }},
        {"bits", [](Schedule& s) { s.tensors[4].dtype = DType::bits; }},
        {"a result that is not there", [&](Schedule& s) { ring(s).out = 77; }},
    };
    for (const Alteration& alteration : alterations) {
        Schedule s = valid();
        alteration.apply(s);
        EXPECT_THROW(validate(s), Error) << alteration.what;
    }
}

}  // namespace
}  // namespace gnnplan
