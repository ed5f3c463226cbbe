// Values of matrices whose edges have weights, computed by hand.
#include "runtime/blocks/block.hpp"

#include <gnnplan/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

namespace gnnplan::data {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<double>;

struct Entry {
    std::int32_t from, to;
    float weight;
};

Graph graph_of(std::int64_t vertices, std::initializer_list<Entry> edges, bool self_loops) {
    EdgeList list(true);
    for (const Entry& e : edges) list.add(e.from, e.to, e.weight);
    PreparationCounts counts;
    return build_graph(std::move(list), vertices, {false, self_loops, true}, counts);
}

// A^T (transposed) or A, row-major.
Values dense(const Graph& graph, Normalisation how, bool transposed = true) {
    const Range all{0, graph.vertices()};
    const LocalBlock block = build_block(graph, MatrixId(transposed), all, all, compute_scales(graph, how));
    const kernels::Csr csr = block.view();
    Values values(static_cast<std::size_t>(all.size() * all.size()), 0);
    for (std::int64_t i = 0; i < all.size(); ++i) {
        for (std::int64_t k = csr.row_start[i]; k < csr.row_start[i + 1]; ++k)
            values[static_cast<std::size_t>(i * all.size() + csr.column[k])] = double{csr.value[k]};
    }
    return values;
}

void expect_near(const Values& actual, const Values& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 0x1p-24) << i;
}

std::string refusal(const Graph& graph, Normalisation how) {
    try {
        check_degrees(graph, how, "edges.txt");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        return error.what();
    }
    return "";
}

// D^-1/2 (W + I) D^-1/2 with D = 4, 12, 9.
TEST(WeightedBlocks, OfAnUndirectedGcn) {
    const Graph graph = graph_of(3, {{0, 1, 3}, {1, 0, 3}, {1, 2, 8}, {2, 1, 8}}, true);
    ASSERT_TRUE(graph.symmetric);
    const double a = 3 / std::sqrt(48), b = 8 / std::sqrt(108);
    expect_near(dense(graph, Normalisation::symmetric), {0.25, a, 0, a, 1 / 12.0, b, 0, b, 1 / 9.0});
}

// Out-degrees 4, 9, 6 and in-degrees 1, 9, 9.
TEST(WeightedBlocks, OfADirectedGcn) {
    const Graph graph = graph_of(3, {{0, 1, 3}, {2, 1, 5}, {1, 2, 8}}, true);
    ASSERT_FALSE(graph.symmetric);
    const double last = 1 / std::sqrt(54);
    expect_near(dense(graph, Normalisation::symmetric), {0.5, 0, 0, 0.5, 1 / 9.0, 5 * last, 0, 8 / 9.0, last});
    expect_near(dense(graph, Normalisation::symmetric, false), {0.5, 0.5, 0, 0, 1 / 9.0, 8 / 9.0, 0, 5 * last, last});
}

TEST(WeightedBlocks, OfMeansAndSums) {
    const Graph graph = graph_of(3, {{0, 1, 3}, {2, 1, 5}, {1, 2, -8}}, false);
    expect_near(dense(graph, Normalisation::row_mean), {0, 0, 0, 0.375, 0, 0.625, 0, 1, 0});
    expect_near(dense(graph, Normalisation::none), {0, 0, 0, 3, 0, 5, 0, -8, 0});
}

// As vertices without edges; an edge of weight 0 stays an edge.
TEST(WeightedBlocks, ADegreeOfZeroGivesZeros) {
    const Graph graph = graph_of(3, {{0, 1, 2}, {2, 1, -2}, {1, 2, 0}}, false);
    EXPECT_EQ(graph.nonzeros(), 3);
    for (const auto how : {Normalisation::symmetric, Normalisation::row_mean}) {
        EXPECT_EQ(refusal(graph, how), how == Normalisation::symmetric
                                           ? "edges.txt: the weights of the edges out of vertex 2 (counted from 0) "
                                             "add up to -2, and symmetric normalisation takes the square root of that "
                                             "(use `normalisation row_mean` or none, or weights that are not negative)"
                                           : "");
    }
    expect_near(dense(graph, Normalisation::row_mean), Values(9, 0));
}

TEST(WeightedBlocks, NegativeDegreesHaveNoSquareRoot) {
    const Graph graph = graph_of(2, {{0, 1, -1.5F}, {1, 0, -1.5F}}, true);
    EXPECT_THAT(refusal(graph, Normalisation::symmetric), HasSubstr("into vertex 0 (counted from 0) add up to -0.5"));
    EXPECT_THROW(compute_scales(graph, Normalisation::symmetric), Error);
    EXPECT_EQ(refusal(graph, Normalisation::row_mean), "");
    EXPECT_EQ(refusal(graph, Normalisation::none), "");
}

TEST(WeightedBlocks, ValuesBeyondFloatsAreRefused) {
    const Graph graph = graph_of(3, {{0, 1, 1e30F}, {2, 1, -1e30F}, {1, 1, 0}, {1, 0, 1}, {1, 2, 1}}, false);
    EXPECT_EQ(refusal(graph, Normalisation::row_mean), "");  // they cancel out, and 0 has no inverse
    const Graph nearly = graph_of(4, {{0, 1, 3e38F}, {2, 1, -3e38F}, {3, 1, 1e-20F}}, false);
    EXPECT_THAT(refusal(nearly, Normalisation::row_mean),
                HasSubstr("the weight of the edge 0 -> 1 (counted from 0) is beyond float32 once it is normalised"));
}

TEST(WeightedBlocks, AreNotFactored) {
    const Graph graph = graph_of(2, {{0, 1, 2}}, true);
    EXPECT_THROW(build_block(graph, forward_matrix, {0, 2}, {0, 2}, compute_scales(graph, Normalisation::symmetric),
                             nullptr, {false, 0}),
                 Error);
}

}  // namespace
}  // namespace gnnplan::data
