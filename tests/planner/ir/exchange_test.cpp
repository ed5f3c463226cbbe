// Messages of reduce-scatters, of redistributions with layout F, of needed rows and of a column-parallel loss, against
// direct simulations.
#include <gtest/gtest.h>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

const UniformStats graph(23, 90, false);
const Grid grids[] = {{1, 4, 1}, {3, 2, 1}, {4, 1, 1}, {1, 1, 5}, {2, 3, 2}, {2, 1, 3}, {1, 7, 1}, {1, 2, 9}};

Schedule one_step(const Grid& grid, std::vector<Tensor> tensors, Operation operation) {
    return {grid, {}, std::move(tensors), {{"step", Phase::epoch, std::move(operation)}}};
}

Tensor dense(const char* name, std::int64_t rows, std::int64_t columns, const Layout& layout) {
    return {name, Role::transient, DType::f32, rows, columns, layout, 0, false};
}

// Round by round: in round k the i-th rank of a ring sends block i - k - 1 to the next, so that block i ends up summed
// on rank i.
TEST(Exchange, ReduceScatterIsARing) {
    for (const Grid& grid : grids) {
        for (const Axis axis : {Axis::y, Axis::z}) {
            for (const std::int64_t rows : {2, 11, 23}) {
                const char* letter = axis == Axis::y ? "y" : "z";
                const Layout in{Axes::parse("x"), {}, Axes::parse(letter)};
                const Layout out{Axes::parse(std::string("x") + letter), {}, {}};
                const Schedule s =
                    one_step(grid, {dense("in", rows, 5, in), dense("out", rows, 5, out)}, ReduceScatterStep{0, 1});
                std::vector<Message> expected(static_cast<std::size_t>(grid.size()));  // by sender
                const int g = grid.extent(axis);
                for (int rank = 0; rank < grid.size(); ++rank) {
                    const int own = grid.coordinate(rank, axis);
                    for (int round = 0; round + 1 < g; ++round) {
                        const int block = ((own - round - 1) % g + g) % g;
                        const Range part = block_of(s, 1, grid.neighbour(rank, axis, block)).rows;
                        Message& sent = expected[static_cast<std::size_t>(rank)];
                        sent.bytes += 4 * 5 * part.size();
                        sent.count += part.empty() ? 0 : 1;
                    }
                }
                const StepMessages messages(s, s.steps[0], graph);
                for (int rank = 0; rank < grid.size() && g > 1; ++rank) {
                    const int right = grid.neighbour(rank, axis, (grid.coordinate(rank, axis) + 1) % g);
                    EXPECT_EQ(messages.between(rank, right).bytes, expected[static_cast<std::size_t>(rank)].bytes);
                    EXPECT_EQ(messages.between(rank, right).count, expected[static_cast<std::size_t>(rank)].count);
                    EXPECT_EQ(traffic_of(s, s.steps[0], graph, rank).sent_bytes,
                              expected[static_cast<std::size_t>(rank)].bytes)
                        << "only the right neighbour is sent to";
                }
            }
        }
    }
}

bool holds(const Block& block, std::int64_t i, std::int64_t j) {
    return i >= block.rows.begin && i < block.rows.end && j >= block.columns.begin && j < block.columns.end;
}

// Element by element: into F each rank gets what it lacks from its only owner; out of F everybody has everything.
TEST(Exchange, RedistributionIntoAndOutOfF) {
    constexpr std::int64_t rows = 13, columns = 5;
    for (const Grid& grid : grids) {
        for (const Layout& other : {layout_c(), layout_r()}) {
            const Schedule in =
                one_step(grid, {dense("a", rows, columns, other), dense("b", rows, columns, layout_f())},
                         RedistributeStep{0, 1});
            for (int rank = 0; rank < grid.size(); ++rank) {
                std::int64_t lacks = 0, wanted = 0;
                for (std::int64_t i = 0; i < rows; ++i) {
                    for (std::int64_t j = 0; j < columns; ++j) {
                        const bool has = holds(block_of(in, 0, rank), i, j);
                        if (holds(block_of(in, 1, rank), i, j) && !has) ++lacks;
                        if (!has) continue;
                        for (int peer = 0; peer < grid.size(); ++peer) {
                            if (peer != rank && holds(block_of(in, 1, peer), i, j)) ++wanted;
                        }
                    }
                }
                EXPECT_EQ(traffic_of(in, in.steps[0], graph, rank), (RankTraffic{4 * wanted, 4 * lacks}))
                    << grid.text();
            }
            const Schedule out = one_step(grid, {in.tensors[1], in.tensors[0]}, RedistributeStep{0, 1});
            EXPECT_TRUE(messages_of(out, out.steps[0], graph).empty()) << grid.text();
        }
    }
}

// Rows are asked for by number, 4 bytes each, by those who get them, once for each width of the operand.
TEST(Exchange, NeededRowsAnswerRequests) {
    constexpr std::int64_t width = 5;
    for (const Grid& grid : grids) {
        if (grid.x == 1) continue;
        const Tensor matrix{"A^T", Role::adjacency, DType::f32, 23, 23, {Axes::parse("x"), Axes::parse("z"), {}}, 0,
                            true};
        const Layout partial{Axes::parse("x"), Axes::parse("y"), Axes::parse("z")};
        Schedule s = one_step(grid, {matrix, dense("a", 23, width, layout_c()), dense("b", 23, width, partial)},
                              SpmmStep{0, {1}, {2}, Exchange::rows, false});
        s.steps.push_back({"index", Phase::setup, RowRequestStep{0}});
        const StepMessages product(s, s.steps[0], graph), index(s, s.steps[1], graph);
        std::int64_t requests = 0;
        for (int rank = 0; rank < grid.size(); ++rank) {
            for (const int peer : product.peers(rank)) {
                const std::int64_t columns = block_of(s, 1, peer).columns.size();
                EXPECT_EQ(product.between(rank, peer).bytes, columns * index.between(peer, rank).bytes) << grid.text();
                const Range own = block_of(s, 0, peer).rows, held = block_of(s, 1, rank).rows;
                EXPECT_EQ(index.between(peer, rank).bytes, 4 * graph.distinct_columns(forward_matrix, own, held));
                requests += index.between(peer, rank).bytes;
            }
        }
        EXPECT_GT(requests, 0);
    }
}

// A maximum and a sum of four bytes each for every row of the block, to every other rank of the y-group.
TEST(Exchange, ColumnParallelLossSendsTwoNumbersARow) {
    for (const Grid& grid : grids) {
        for (const Layout& layout : {layout_c(), layout_r()}) {
            Tensor labels = dense("labels", 23, 1, {layout.rows, {}, {}});
            Tensor loss = dense("loss", 1, 1, layout_partial());
            const Schedule s = one_step(grid, {dense("Z", 23, 5, layout), labels, labels, loss}, LossStep{0, 1, 2, 3});
            const bool whole_rows = same_placement(layout, layout_r(), grid);
            for (int rank = 0; rank < grid.size(); ++rank) {
                const std::int64_t bytes = whole_rows ? 0 : 8 * (grid.y - 1) * block_of(s, 0, rank).rows.size();
                EXPECT_EQ(traffic_of(s, s.steps[0], graph, rank), (RankTraffic{bytes, bytes})) << grid.text();
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan
