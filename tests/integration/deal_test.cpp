// The bytes of DEAL's primitives (section 3, Figure 10, Tables 1 to 3), counted, beside the choices of plans.
#include "planner/lower/lower.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "tests/integration/problem.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/models.hpp>
#include <gnnplan/select.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

namespace gnnplan::testing {
namespace {

using Edges = std::vector<std::array<std::int32_t, 2>>;  // source, target

// With `loops` every vertex is its own neighbour, else none is.
data::Graph graph_of(const Edges& edges, std::int64_t vertices, bool loops = false) {
    data::EdgeList list;
    for (const auto& [source, target] : edges) list.add(source, target);
    data::PreparationCounts counts;
    return data::build_graph(std::move(list), vertices, {.symmetrise = false, .add_self_loops = loops}, counts);
}

// Values that each machine receives.
using Received = std::vector<std::int64_t>;

// DEAL's two, on P x M machines: x of a grid is its P, y its M. Machine (p, m) has rows of block p, and of them the
// columns m. It gets the whole rows of targets, and of the sources of its nonzeros.
struct Deal {
    const data::Graph& graph;
    Grid grid;
    std::int64_t width;

    Received duplicating() const {
        Received received;
        for (int rank = 0; rank < grid.size(); ++rank) received.push_back(features(rank, rows(rank)));
        return received;
    }
    // Each machine of a block makes the nonzeros of a part of its rows and gets the others.
    Received dealing() const {
        Received received;
        for (int rank = 0; rank < grid.size(); ++rank) {
            const Range own = split_block(graph.vertices(), Axes::parse("xy"), grid, rank);
            received.push_back(features(rank, own) + nonzeros(rows(rank)) - nonzeros(own));
        }
        return received;
    }

private:
    Range rows(int rank) const { return split_block(graph.vertices(), Axes::parse("x"), grid, rank); }
    std::int64_t nonzeros(Range of) const {
        const auto& start = graph.matrix(forward_matrix).row_start;
        return start[static_cast<std::size_t>(of.end)] - start[static_cast<std::size_t>(of.begin)];
    }
    std::int64_t features(int rank, Range of) const {
        const data::Csr& m = graph.matrix(forward_matrix);
        std::set<std::int32_t> sources;
        for (auto e = m.row_start[static_cast<std::size_t>(of.begin)];
             e < m.row_start[static_cast<std::size_t>(of.end)]; ++e) {
            sources.insert(m.column[static_cast<std::size_t>(e)]);
        }
        const Range block = rows(rank);
        const std::int64_t lacks = width - balanced_block({0, width}, grid.coordinate(rank, Axis::y), grid.y).size();
        std::int64_t values = of.size() * lacks;
        for (const std::int32_t u : sources) values += u >= block.begin && u < block.end ? lacks : width;
        return values;
    }
};

// The bytes that ranks receive for the first layer's scores of an AGNN with hidden rows of so many columns.
Received ours(const data::Graph& graph, const Grid& grid, std::int64_t width, Scores scores) {
    ModelRecord model;
    model.name = "agnn";
    model.widths = {3, width, 2};
    Configuration on;
    on.grid = grid;
    on.forward = {Order::sparse_first, Order::sparse_first};
    on.backward = {Order::dense_first, Order::dense_first};
    on.operands = {Operand::gradient, Operand::gradient};
    on.exchange = grid.x > 1 ? Exchange::rows : Exchange::none;
    on.scores = scores;
    const data::GraphCounts counts(graph);
    lower::GraphShape shape;
    shape.vertices = graph.vertices();
    shape.nonzeros = graph.nonzeros();
    const Schedule schedule = lower::lower(sites_of(models::build(model)), on, shape);
    validate(schedule);
    Received received(static_cast<std::size_t>(grid.size()), 0);
    for (const Step& step : schedule.steps) {
        if (step.name != "forward.1.scores" && !step.name.starts_with("forward.1.scores.")) continue;
        const auto traffic = traffic_of(schedule, step, counts);
        for (std::size_t rank = 0; rank < traffic.size(); ++rank) received[rank] += traffic[rank].received_bytes / 4;
    }
    return received;
}

// "The communication size is 26"; with dealt nonzeros "machine 0 receives 17 values", and of machine 1 "the total # of
// received values is 19". The figure shows which of its nonzeros are where: rows 0 and 1 have three, of which (1, 6) is
// remote, rows 2 and 3 five; together they meet columns 5, 6 and 7 of the other half and three of their own. Here each
// rank gathers 8 values of its own half once, for targets and sources, or gets 6 and 8 sums of scores. With dealt rows
// it gets 4 for the whole rows that rest with it, 12 for sources that rest elsewhere, 2, 3 and 6, and 5 scores; or 4
// for the rows 2 and 3, 12 for 0, 5 and 7, and 3 scores.
TEST(Deal, WorkedExampleOfSddmm) {
    const Edges upper = {{2, 0}, {3, 0}, {6, 1}, {0, 2}, {5, 2}, {0, 3}, {2, 3}, {7, 3}};
    Edges edges = upper;
    for (const auto& [source, target] : upper) edges.push_back({7 - source, 7 - target});
    const data::Graph graph = graph_of(edges, 8);
    ASSERT_EQ(graph.nonzeros(), 16);
    const Grid grid{2, 2, 1};
    const Deal deal{graph, grid, 4};
    EXPECT_EQ(deal.duplicating()[0], 26);
    EXPECT_EQ(deal.dealing()[0], 17);
    EXPECT_EQ(deal.dealing()[1], 19);
    EXPECT_EQ(ours(graph, grid, 4, Scores::whole_rows)[0], 8 + 12);
    EXPECT_EQ(ours(graph, grid, 4, Scores::columns)[0], 6 + 8);
    EXPECT_EQ(ours(graph, grid, 4, Scores::dealt_rows)[0], 4 + 12 + 5);
    EXPECT_EQ(ours(graph, grid, 4, Scores::dealt_rows)[1], 4 + 12 + 3);
}

Edges random_edges(std::int64_t vertices, int degree, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::int32_t> vertex(0, static_cast<std::int32_t>(vertices) - 1);
    Edges edges;
    for (std::int64_t e = 0; e < degree * vertices; ++e) edges.push_back({vertex(random), vertex(random)});
    return edges;
}

Edges all_edges(std::int32_t vertices) {
    Edges edges;
    for (std::int32_t u = 0; u < vertices; ++u) {
        for (std::int32_t v = 0; v < vertices; ++v) edges.push_back({u, v});
    }
    return edges;
}

// Table 1: a machine sends N D (M - 1) / (P M^2) before its product and as much behind it, where summing partial
// products takes N D (M - 1) / (P M). Ours are two redistributions, or a ring, whose tiles are of N D / (P M^2)
// elements, as in the table, where there are eight machines or more, and of an eighth of a machine's rows else. A rank
// has an M-th of a tile in place; the rest it holds twice, as one is on its way while another is multiplied, and so of
// its results.
TEST(Deal, TableOneIsTwoRedistributionsOrARing) {
    constexpr std::int64_t n = 1024, width = 256;  // buffers are whole cache lines
    for (const Grid& grid : {Grid{4, 2, 1}, Grid{2, 4, 1}, Grid{1, 8, 1}, Grid{2, 8, 1}, Grid{1, 16, 1}}) {
        Schedule schedule{grid, {}, {}, {}};
        for (const Layout& layout : {layout_c(), layout_r(), layout_r(), layout_c()})
            schedule.tensors.push_back({"", Role::transient, DType::f32, n, width, layout});
        const UniformStats graph(n, n, false);
        const std::int64_t p = grid.x, m = grid.y;
        for (const Operation& step : {Operation(RedistributeStep{0, 1}), Operation(RedistributeStep{2, 3})}) {
            for (const RankTraffic& rank : traffic_of(schedule, Step{"", Phase::epoch, step}, graph))
                EXPECT_EQ(rank.sent_bytes, 4 * n * width * (m - 1) / (p * m * m)) << grid.text();
        }
        schedule.tensors.push_back({"W", Role::weight, DType::f32, width, width, layout_replicated()});
        const RingGemmStep ring{0, 4, 3};
        const Step step{"", Phase::epoch, ring};
        for (int rank = 0; rank < grid.size(); ++rank) {
            const RankTraffic traffic = traffic_of(schedule, step, graph, rank);
            EXPECT_EQ(traffic.sent_bytes, 4 * 2 * n * width * (m - 1) / (p * m * m)) << grid.text();
            EXPECT_EQ(traffic.received_bytes, traffic.sent_bytes);
            const std::int64_t tiles = std::max<std::int64_t>(8, m);
            const std::int64_t tile = 4 * n * width / (p * m * tiles);
            if (m >= 8) {
                EXPECT_EQ(tile, 4 * n * width / (p * m * m)) << "as in the table";
            }
            for (int t = 0; t < tiles; ++t) {
                EXPECT_EQ(4 * ring.arriving(schedule, rank, t), tile * (m - 1) / m) << grid.text();
                EXPECT_EQ(4 * ring.leaving(schedule, rank, t), tile * (m - 1) / m);
            }
            const Staging staging = staging_of(schedule, step, graph, rank);
            EXPECT_EQ(staging.receive_bytes, 2 * tile * (m - 1) / m) << "two tiles";
            EXPECT_EQ(staging.send_bytes, staging.receive_bytes);
        }
    }
}

// Table 2 has "N (P - 1) / P^2 unique columns" for what a machine gets of the others. That many there are only if no
// two machines need the same row: of Z neighbours in random places a machine needs N (P - 1) / P (1 - e^(-Z / P)) rows.
TEST(Deal, TableTwoCountsNoRowTwice) {
    constexpr std::int64_t n = 4000, machines = 4;
    for (const int degree : {1, 8, 51}) {
        const data::Graph graph = graph_of(random_edges(n, degree, 3), n);
        const data::GraphCounts counts(graph);
        const double found =
            static_cast<double>(counts.distinct_columns(forward_matrix, {0, n / machines}, {n / machines, n}));
        const double others = static_cast<double>(n * (machines - 1)) / machines;
        EXPECT_NEAR(found, others * (1 - std::exp(-static_cast<double>(degree) / machines)), 0.03 * others) << degree;
        const double in_the_table = others / machines;
        if (degree < 51) continue;
        EXPECT_GT(found, 3.9 * in_the_table) << "0.75 N, where the table has 0.19 N";
    }
}

// Table 3: where every row is needed everywhere, duplicating moves (M + M P - 2) N D / (M P) to a machine, as it says.
// Dealing is to take 1 / M of that and N Z (M - 1) / (P M) results; but the machines of a block need the same sources.
TEST(Deal, TableThreeDividesSourcesThatAllNeed) {
    constexpr std::int64_t n = 48, width = 16;
    const data::Graph graph = graph_of(all_edges(n), n);
    for (const Grid& grid : {Grid{1, 4, 1}, Grid{2, 4, 1}, Grid{4, 2, 1}}) {
        const std::int64_t p = grid.x, m = grid.y;
        const std::int64_t in_the_table = (m + m * p - 2) * n * width / (m * p);
        const Deal deal{graph, grid, width};
        for (const std::int64_t values : deal.duplicating()) EXPECT_EQ(values, in_the_table) << grid.text();
        const std::int64_t results = graph.nonzeros() * (m - 1) / (p * m);
        for (const std::int64_t values : deal.dealing()) {
            EXPECT_EQ(values, in_the_table - n * width * (m - 1) * (m - 1) / (p * m * m) + results) << grid.text();
            EXPECT_GT(values, in_the_table / m + results);
        }
    }
}

// Vertices in groups, each of which has edges to all of its own group and to no other.
Edges grouped_edges(std::int32_t vertices, std::int32_t group) {
    Edges edges;
    for (std::int32_t v = 0; v < vertices; ++v) {
        for (std::int32_t u = v / group * group; u < (v / group + 1) * group; ++u) edges.push_back({u, v});
    }
    return edges;
}

std::int64_t total(const Received& received) {
    return std::accumulate(received.begin(), received.end(), std::int64_t{0});
}

const std::array<Grid, 4> grids_of_figure_18 = {Grid{1, 8, 1}, Grid{2, 4, 1}, Grid{4, 2, 1}, Grid{8, 1, 1}};
constexpr std::array<Scores, 3> all_ways = {Scores::columns, Scores::whole_rows, Scores::dealt_rows};

// Eight machines as in Figure 18: on all its grids the best of the three ways moves no more than the better of DEAL's,
// where neighbours are anywhere and where they are near.
TEST(Deal, OurChoiceNeverMovesMore) {
    constexpr std::int32_t vertices = 96;
    std::vector<data::Graph> graphs;
    for (const int degree : {1, 3, 10, 40}) graphs.push_back(graph_of(random_edges(vertices, degree, 7), vertices));
    for (const int group : {2, 4, 12, 24}) graphs.push_back(graph_of(grouped_edges(vertices, group), vertices));
    for (const data::Graph& graph : graphs) {
        for (const Grid& grid : grids_of_figure_18) {
            for (const std::int64_t width : {16, 64, 256}) {
                const Deal deal{graph, grid, width};
                const std::int64_t theirs = std::min(total(deal.duplicating()), total(deal.dealing()));
                std::int64_t best = std::numeric_limits<std::int64_t>::max();
                for (const Scores scores : all_ways) best = std::min(best, total(ours(graph, grid, width, scores)));
                EXPECT_LE(best, theirs) << grid.text() << ", " << width << " columns, " << graph.nonzeros() << " edges";
            }
        }
    }
}

// The ranks of a group need the same sources where neighbours are anywhere.
TEST(Deal, DealtRowsNeverMoveTheLeastWhereNeighboursAreAnywhere) {
    constexpr std::int32_t vertices = 96;
    for (const int degree : {1, 3, 10, 40}) {
        const data::Graph graph = graph_of(random_edges(vertices, degree, 7), vertices, true);
        for (const Grid& grid : grids_of_figure_18) {
            for (const std::int64_t width : {16, 64, 256}) {
                EXPECT_GE(total(ours(graph, grid, width, Scores::dealt_rows)),
                          std::min(total(ours(graph, grid, width, Scores::columns)),
                                   total(ours(graph, grid, width, Scores::whole_rows))))
                    << grid.text() << ", " << width << " columns, degree " << degree;
            }
        }
    }
}

// Where every vertex has a loop, dealing rows here never moves more than DEAL's, which counts rows of its own twice.
TEST(Deal, DealtRowsMoveNoMoreThanDealsWhereVerticesHaveLoops) {
    constexpr std::int32_t vertices = 96;
    for (const int degree : {1, 3, 10, 40}) {
        const data::Graph graph = graph_of(random_edges(vertices, degree, 7), vertices, true);
        for (const Grid& grid : grids_of_figure_18) {
            for (const std::int64_t width : {16, 64, 256}) {
                EXPECT_LE(total(ours(graph, grid, width, Scores::dealt_rows)),
                          total(Deal{graph, grid, width}.dealing()))
                    << grid.text() << ", " << width << " columns, degree " << degree;
            }
        }
    }
}

// Neighbours that are near share their sources, so that few rows are asked for: then dealing rows moves the least. On 1
// x 8 ranks of 12 vertices each, groups of 12 with 32 columns: N D 7 / 8 values of rows and seven of each score, where
// columns take 14 of each score and whole rows N D 7 values.
TEST(Deal, DealtRowsMoveTheLeastWhereNeighboursAreNear) {
    constexpr std::int32_t n = 96, group = 12, width = 32;
    const data::Graph graph = graph_of(grouped_edges(n, group), n, true);
    const Grid grid{1, 8, 1};
    const std::int64_t dealt = n * width * 7 / 8 + n * group * 7;
    EXPECT_EQ(total(ours(graph, grid, width, Scores::dealt_rows)), dealt);
    EXPECT_EQ(total(ours(graph, grid, width, Scores::columns)), n * group * 2 * 7);
    EXPECT_EQ(total(ours(graph, grid, width, Scores::whole_rows)), n * width * 7);
    EXPECT_LT(dealt, n * group * 2 * 7);
    EXPECT_LT(dealt, n * width * 7);
}

// How the fastest plan on 1 x 8 ranks makes scores, where links are so slow that bytes decide.
Scores chosen(const data::Graph& graph, std::int64_t width) {
    const data::GraphCounts counts(graph);
    Problem problem;
    problem.record.model.name = "agnn";
    problem.record.model.widths = {3, width, 2};
    problem.ops = models::build(problem.record.model);
    problem.graph = &counts;
    problem.record.ranks = 8;
    problem.record.graph.name = "made here";
    problem.record.graph.source = "file: made here";
    problem.record.graph.vertices = graph.vertices();
    problem.record.graph.nonzeros = graph.nonzeros();
    problem.record.graph.symmetric = graph.symmetric;
    problem.record.graph.self_loops = true;
    problem.record.graph.normalisation = Normalisation::none;
    problem.record.graph.exact = true;
    Machine machine = test_machine();
    machine.ranks_per_node = 8;
    machine.intra_node = {1e-9, 1e6};
    SelectOptions options;
    options.grid = Grid{1, 8, 1};
    const SelectResult result = select(problem, machine, options);
    if (!result) throw Error(result.code, result.message);
    return result.selection->plan.candidates.front().configuration.scores;
}

TEST(Deal, TheSearchPicksWhatMovesTheLeast) {
    constexpr std::int32_t n = 96;
    EXPECT_EQ(chosen(graph_of(grouped_edges(n, 12), n, true), 32), Scores::dealt_rows);
    EXPECT_EQ(chosen(graph_of(grouped_edges(n, 2), n, true), 32), Scores::columns);
    EXPECT_EQ(chosen(graph_of(all_edges(n), n, true), 8), Scores::whole_rows);
}

}  // namespace
}  // namespace gnnplan::testing
