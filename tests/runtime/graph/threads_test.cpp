// Matrices are the same bits however many threads make them.
#include "kernels/table.hpp"
#include "runtime/blocks/block.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/graph/row_parts.hpp"
#include "runtime/graph/sort_columns.hpp"
#include "runtime/sample/neighbours.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <gnnplan/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <vector>

namespace gnnplan::data {
namespace {

// Threads of this test alone.
class Threads {
public:
    explicit Threads(int count) { kernels::set_threads(count); }
    ~Threads() { kernels::set_threads(1); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
};

// Large enough to be divided, with duplicates and self loops.
Graph made(bool weighted, bool symmetrise) {
    return weighted ? testing::weighted_random_graph(3000, 50000, symmetrise, true, 7)
                    : testing::random_graph(3000, 50000, symmetrise, true, 7);
}

TEST(WithThreads, GraphsAndWhatLayersDrawAreTheSame) {
    for (const bool weighted : {false, true}) {
        for (const bool symmetrise : {false, true}) {
            kernels::set_threads(1);
            const Graph one = made(weighted, symmetrise);
            const auto drawn = sample::draw_neighbours(one.matrix(forward_matrix), {5, 20, 5, 3}, 11, true);
            for (const int threads : {2, 3, 5}) {
                const Threads several(threads);
                const Graph graph = made(weighted, symmetrise);
                EXPECT_EQ(graph.out, one.out);
                EXPECT_EQ(graph.in, one.in);
                EXPECT_EQ(fingerprint(graph), fingerprint(one));
                EXPECT_EQ(imbalance_of_rows(graph.out, {}), imbalance_of_rows(one.out, {}));
                EXPECT_EQ(sample::draw_neighbours(graph.matrix(forward_matrix), {5, 20, 5, 3}, 11, true), drawn);
            }
        }
    }
}

TEST(WithThreads, BlocksAreTheSame) {
    for (const bool weighted : {false, true}) {
        kernels::set_threads(1);
        const Graph graph = made(weighted, true);
        const DegreeScales scales = compute_scales(graph, Normalisation::symmetric);
        const VertexOrder shuffled = make_order(graph.vertices(), {.permuted = true, .seed = 3});
        const std::vector<Range> columns{{10, 700}, {700, 700}, {900, 3000}};
        for (const VertexOrder* order : {static_cast<const VertexOrder*>(nullptr), &shuffled}) {
            for (const std::int64_t panel : {0, 250}) {
                const auto cut = [&] {
                    return build_blocks(graph, forward_matrix, {100, 2900}, columns, scales, order,
                                        {.panel_columns = panel});
                };
                kernels::set_threads(1);
                const std::vector<LocalBlock> one = cut();
                const Threads several(3);
                const std::vector<LocalBlock> blocks = cut();
                ASSERT_EQ(blocks.size(), one.size());
                for (std::size_t b = 0; b < one.size(); ++b) {
                    EXPECT_EQ(blocks[b].nonzeros(), one[b].nonzeros());
                    EXPECT_TRUE(std::ranges::equal(blocks[b].buffer(), one[b].buffer())) << "block " << b;
                }
            }
        }
    }
}

TEST(RowParts, CoverAllRowsInOrder) {
    const Threads several(3);
    for (const std::vector<std::int64_t>& degree : {std::vector<std::int64_t>(70000, 1),
                                                    {100000},
                                                    {0, 0, 100000, 0, 0},
                                                    std::vector<std::int64_t>(50000, 0),
                                                    {}}) {
        std::vector<std::int64_t> starts{5};  // of rows in the middle of a matrix
        for (const std::int64_t d : degree) starts.push_back(starts.back() + d);
        const std::vector<Range> parts = row_parts(starts);
        std::int64_t end = 0;
        for (const Range& part : parts) {
            EXPECT_EQ(part.begin, end);
            EXPECT_GE(part.end, part.begin);
            end = part.end;
        }
        EXPECT_EQ(end, std::ssize(degree));
    }
}

TEST(RowParts, TheFirstFailureIsThrown) {
    const Threads several(4);
    std::atomic<int> done = 0;
    try {
        for_parts(16, [&](std::int64_t i) {
            ++done;
            if (i == 5 || i == 9) throw Error(ErrorCode::data, "part " + std::to_string(i));
        });
        FAIL() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "part 5");
    }
    EXPECT_EQ(done, 16);
}

TEST(ColumnSorter, SortsRowsOfEveryLength) {
    std::mt19937 random(5);
    for (const std::int64_t columns : {1, 2, 600, 70000, 2147483647}) {
        ColumnSorter sorter(columns);
        for (const std::size_t length : {0, 1, 2, 31, 32, 33, 63, 255, 256, 257, 3000}) {
            std::vector<std::int32_t> row(length);  // with duplicates
            for (std::int32_t& column : row)
                column = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(columns));
            std::vector<std::int32_t> expected = row;
            std::ranges::sort(expected);
            sorter.sort(row);
            EXPECT_EQ(row, expected) << length << " of " << columns;
        }
    }
}

}  // namespace
}  // namespace gnnplan::data
