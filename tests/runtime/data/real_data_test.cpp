// Published graphs. The folder is that of the environment variable GNNPLAN_DATA; without it the tests skip and say so.
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/graph/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace gnnplan::data {
namespace {

class RealData : public testing::Test {
protected:
    void SetUp() override {
        const char* set = std::getenv("GNNPLAN_DATA");
        folder = set != nullptr ? set : GNNPLAN_DEFAULT_DATA;
        if (!std::filesystem::exists(folder / "cora.npz")) {
            GTEST_SKIP() << "no real graphs at " << folder << ": set GNNPLAN_DATA to the folder that holds cora.npz";
        }
    }

    std::filesystem::path folder;
};

TEST_F(RealData, CoraIsTheSameInBothForms) {
    Dataset csv = open_dataset(folder / "cora");
    Dataset npz = open_dataset(folder / "cora.npz");
    EXPECT_EQ(csv.vertices(), 2708);
    EXPECT_EQ(csv.report().edges_read, 10556);
    EXPECT_EQ(csv.report().duplicates_dropped + csv.report().self_loops_dropped, 0);
    EXPECT_FALSE(csv.report().directed);
    EXPECT_EQ(csv.nonzeros(), 10556 + 2708);
    EXPECT_EQ(csv.features(), 1433);
    EXPECT_EQ(csv.classes(), 7);
    EXPECT_EQ(csv.subset_size(train), 140);
    EXPECT_EQ(csv.subset_size(valid), 500);
    EXPECT_EQ(csv.subset_size(test), 1000);
    EXPECT_EQ(csv.fingerprint(), npz.fingerprint());
    EXPECT_EQ(csv.graph().out, npz.graph().out);
    EXPECT_EQ(csv.labels(), npz.labels());
    EXPECT_EQ(csv.subset(), npz.subset());
    std::vector<float> a(std::size_t{2708} * 1433);
    std::vector<float> b(a.size());
    csv.read_features({0, 2708}, {0, 1433}, a.data(), 1433);
    npz.read_features({0, 2708}, {0, 1433}, b.data(), 1433);
    EXPECT_EQ(a, b);
}

struct Listed {
    const char* path;
    const char* format;
    std::int64_t vertices;
    std::int64_t edges;
};

TEST_F(RealData, CountsOfTheEdgeLists) {
    const Listed graphs[] = {{"snap/email-enron.txt.gz", "SNAP edge list", 36692, 183831},
                             {"snap/soc-slashdot0902.txt.gz", "SNAP edge list", 82168, 582533},
                             {"snap/ego-twitter.txt.gz", "SNAP edge list", 81306, 1342310},
                             {"mtx/facebook-combined.mtx.gz", "Matrix Market, symmetric", 4039, 88234}};
    for (const Listed& listed : graphs) {
        const Dataset d =
            open_dataset(folder / listed.path, {.preparation = {.symmetrise = true, .add_self_loops = false}});
        const LoadReport& report = d.report();
        EXPECT_EQ(report.format, listed.format);
        EXPECT_EQ(report.vertices, listed.vertices) << listed.path;
        EXPECT_EQ(report.edges_read, listed.edges) << listed.path;
        // Each undirected edge is listed once, so nothing but self loops and repeats is missing from the two
        // directions.
        EXPECT_EQ(report.nonzeros, 2 * (listed.edges - report.self_loops_dropped - report.duplicates_dropped))
            << listed.path;
        EXPECT_TRUE(d.graph().symmetric);
    }
}

// The rows that one rank of four in row blocks holds and asks for, on graphs as they are published: a shuffle balances
// nonzeros, parts save rows of others.
TEST_F(RealData, NumberingsBalanceAndSave) {
    for (const char* path : {"snap/email-enron.txt.gz", "snap/soc-slashdot0902.txt.gz", "snap/ego-twitter.txt.gz"}) {
        const Dataset d = open_dataset(folder / path, {.preparation = {.symmetrise = true}, .graph_only = true});
        const GraphCounts in_file_order(d.graph());
        const auto shuffled = in_file_order.numbered({.permuted = true, .seed = 1});
        const Range all = {0, d.vertices()};
        const auto imbalance = [&](const GraphStats& counts) {
            std::int64_t most = 0;
            for (int i = 0; i < 4; ++i)
                most = std::max(most, counts.row_nonzeros(forward_matrix, balanced_block(all, i, 4)));
            return 4.0 * static_cast<double>(most) / static_cast<double>(d.nonzeros());
        };
        EXPECT_GT(imbalance(in_file_order), 1.5) << path;
        EXPECT_LT(imbalance(*shuffled), 1.05) << path;

        const auto rows_of_others = [&](const GraphStats& counts) {
            std::int64_t rows = 0;
            for (int i = 0; i < 16; ++i) {
                if (i / 4 == i % 4) continue;
                rows += counts.distinct_columns(forward_matrix, balanced_block(all, i / 4, 4),
                                                balanced_block(all, i % 4, 4));
            }
            return rows;
        };
        if (has_partitioner()) {
            EXPECT_LT(rows_of_others(*in_file_order.numbered({.parts = 4})), rows_of_others(in_file_order)) << path;
        }
    }
}

// The rows that 1D's nodes need of others: as their ranks ask for them, and each once a node.
struct RowsOfNodes {
    std::int64_t by_ranks = 0;
    std::int64_t once = 0;

    double share() const { return static_cast<double>(once) / static_cast<double>(by_ranks); }
};
RowsOfNodes rows_of_nodes(const GraphStats& counts, int ranks, int per_node) {
    const Range all = {0, counts.vertices()};
    RowsOfNodes rows;
    for (int owner = 0; owner < ranks; ++owner) {
        const Range columns = balanced_block(all, owner, ranks);
        for (int first = 0; first < ranks; first += per_node) {
            if (first == owner / per_node * per_node) continue;
            const Range begin = balanced_block(all, first, ranks);
            const Range end = balanced_block(all, first + per_node - 1, ranks);
            rows.once += counts.distinct_columns(forward_matrix, {begin.begin, end.end}, columns);
            for (int rank = first; rank < first + per_node; ++rank)
                rows.by_ranks += counts.distinct_columns(forward_matrix, balanced_block(all, rank, ranks), columns);
        }
    }
    return rows;
}

// The test bounds how many bytes needed rows would save between nodes if they were relayed as panels are
// (docs/cost-model.md).
TEST_F(RealData, NodesNeedManyRowsOnSeveralRanks) {
    for (const char* path : {"snap/email-enron.txt.gz", "snap/soc-slashdot0902.txt.gz", "snap/ego-twitter.txt.gz"}) {
        SCOPED_TRACE(path);
        const Dataset d = open_dataset(folder / path, {.preparation = {.symmetrise = true}, .graph_only = true});
        const GraphCounts in_file_order(d.graph());
        const auto shuffled = in_file_order.numbered({.permuted = true, .seed = 1});
        for (const int ranks : {8, 16}) {
            EXPECT_GT(rows_of_nodes(*shuffled, ranks, 2).share(), 0.55);
            EXPECT_LT(rows_of_nodes(*shuffled, ranks, 2).share(), 0.80);
            EXPECT_GT(rows_of_nodes(*shuffled, ranks, 4).share(), 0.30);
            EXPECT_LT(rows_of_nodes(*shuffled, ranks, 4).share(), 0.58);
            if (!has_partitioner()) continue;
            const auto parts = in_file_order.numbered({.parts = ranks});
            EXPECT_GT(rows_of_nodes(*parts, ranks, 4).share(), 0.40);
            EXPECT_LT(rows_of_nodes(*parts, ranks, 4).share(), 0.75);
        }
    }
}

}  // namespace
}  // namespace gnnplan::data
