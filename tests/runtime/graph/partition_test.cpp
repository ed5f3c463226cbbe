#include "runtime/graph/partition.hpp"

#include "runtime/generate/generate.hpp"
#include "tests/runtime/graph/random_graphs.hpp"
#include "tests/support/test_files.hpp"

#include <gnnplan/base/range.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace gnnplan::data {
namespace {

std::int64_t edges_between_parts(const Graph& graph, const std::vector<std::int32_t>& part) {
    std::int64_t cut = 0;
    for (std::size_t u = 0; u < part.size(); ++u) {
        for (std::int64_t k = graph.out.row_start[u]; k < graph.out.row_start[u + 1]; ++k) {
            const std::int32_t v = graph.out.column[static_cast<std::size_t>(k)];
            cut += part[u] != part[static_cast<std::size_t>(v)] ? 1 : 0;
        }
    }
    return cut;
}

void expect_exact_sizes(const std::vector<std::int32_t>& part, int parts) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), 0);
    for (const std::int32_t p : part) ++sizes.at(static_cast<std::size_t>(p));
    for (int p = 0; p < parts; ++p) {
        ASSERT_EQ(sizes[static_cast<std::size_t>(p)], balanced_block({0, std::ssize(part)}, p, parts).size())
            << "part " << p << " of " << parts << ", " << part.size() << " vertices";
    }
}

class Partition : public ::testing::Test {
protected:
    void SetUp() override {
        if (!has_partitioner()) GTEST_SKIP() << "built without METIS";
    }
};

TEST(Partitioner, IsThereOrUnavailable) {
    const auto two_parts = [] { partition(testing::random_graph(9, 20, false, true, 1), 2); };
    if (has_partitioner()) {
        EXPECT_NO_THROW(two_parts());
    } else {
        files::expect_error(ErrorCode::unavailable, {"no partitioner", "libmetis-dev"}, two_parts);
    }
}

TEST_F(Partition, HasTheSizesOfBlocks) {
    std::vector<Graph> graphs = testing::small_graphs();
    graphs.push_back(testing::random_graph(101, 300, false, true, 8));
    graphs.push_back(testing::random_graph(64, 40, true, true, 9));
    for (const Graph& graph : graphs) {
        for (const int parts : {2, 3, 4, 5, 8, 9, 16, 40}) expect_exact_sizes(partition(graph, parts), parts);
    }
}

// Two cliques of eight and one edge between them.
TEST_F(Partition, FindsTheCliques) {
    EdgeList list;
    for (std::int32_t u = 0; u < 16; ++u) {
        for (std::int32_t v = 0; v < 16; ++v) {
            if (u % 2 == v % 2) list.add(u, v);
        }
    }
    list.add(3, 4);
    PreparationCounts counts;
    const Graph graph = build_graph(std::move(list), 16, {false, true}, counts);
    EXPECT_EQ(edges_between_parts(graph, partition(graph, 2)), 1);
}

TEST_F(Partition, CutsLessThanChance) {
    PlantedOptions options;
    options.vertices = 2000;
    options.nonzeros = 20000;
    options.classes = 4;
    options.features = 1;
    options.homophily = 0.9;
    options.seed = 3;
    GeneratedGraph generated = generate_planted(options);
    PreparationCounts counts;
    const Graph graph = build_graph(std::move(generated.edges), generated.vertices, {true, true}, counts);
    const std::vector<std::int32_t> part = partition(graph, 4);
    expect_exact_sizes(part, 4);
    // At random three edges of four are cut; a tenth of them joins vertices of any two classes.
    const double cut = static_cast<double>(edges_between_parts(graph, part));
    EXPECT_LT(cut / static_cast<double>(graph.nonzeros()), 0.15);
}

// Ranks that are threads of a process partition at the same time.
TEST_F(Partition, IsTheSameOnEveryThread) {
    const Graph graph = testing::random_graph(3000, 9000, false, true, 10);
    std::vector<std::vector<std::int32_t>> found(4);
    std::vector<std::thread> threads;
    for (std::vector<std::int32_t>& part : found) threads.emplace_back([&] { part = partition(graph, 8); });
    for (std::thread& thread : threads) thread.join();
    const std::vector<std::int32_t> expected = partition(graph, 8);
    for (const std::vector<std::int32_t>& part : found) EXPECT_EQ(part, expected);
}

}  // namespace
}  // namespace gnnplan::data
