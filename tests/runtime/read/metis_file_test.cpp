#include "runtime/data/dataset.hpp"

#include "tests/support/test_files.hpp"

namespace gnnplan::data {
namespace {

Dataset open_metis(const std::string& content, const std::string& name = "g.graph", bool edge_weights = false) {
    const files::TempFolder folder;
    DatasetOptions options;
    options.preparation.add_self_loops = false;
    options.preparation.edge_weights = edge_weights;
    return open_dataset(folder.write(name, content), options);
}

void expect_bad(const std::string& content, const std::vector<std::string>& parts, bool edge_weights = false) {
    files::expect_error(ErrorCode::data, parts, [&] { open_metis(content, "g.graph", edge_weights); });
}

TEST(MetisFile, IsTheGraphThatItLists) {
    const std::string text = "% five vertices, six edges\n5 6\n2 3\n1 3 4\n% a comment\n1 2 5\n2 5\n3 4\n\n";
    for (const std::string name : {"g.graph", "g.metis", "g.graph.gz", "g.metis.gz"}) {
        const Dataset d = open_metis(text, name);
        EXPECT_EQ(d.report().format, "METIS graph");
        EXPECT_EQ(d.report().index_base, 1);
        EXPECT_EQ(d.vertices(), 5);
        EXPECT_EQ(d.nonzeros(), 12);
        EXPECT_FALSE(d.report().directed);
        EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2, 0, 2, 3, 0, 1, 4, 1, 4, 2, 3}));
        EXPECT_FALSE(d.report().divisible);
        EXPECT_TRUE(d.report().remarks.empty());
    }
}

TEST(MetisFile, BlankLinesAreVerticesWithoutEdges) {
    const Dataset d = open_metis("4 1\n\n4\n\n2\n");
    EXPECT_EQ(d.vertices(), 4);
    EXPECT_EQ(d.graph().out.row_start, (std::vector<std::int64_t>{0, 0, 1, 1, 2}));
    expect_bad("4 1\n\n4\n\n2\n3\n", {"g.graph:6: more lines than the 4 vertices"});
}

TEST(MetisFile, WeightsAreReadWhereFmtSaysThatThereAreSome) {
    const std::string edges = "3 3 1\n2 5 3 7\n1 5 3 0.5\n1 7 2 0.5\n";
    const std::string all = "3 3 111 2\n9 1 1 2 5 3 7\n9 1 1 1 5 3 0.5\n9 2 2 1 7 2 0.5\n";
    for (const std::string& text : {edges, all}) {
        const Dataset d = open_metis(text, "g.graph", true);
        EXPECT_EQ(d.graph().out.weight, (kernels::LargeVector<float>{5, 7, 5, 0.5F, 7, 0.5F}));
        EXPECT_EQ(open_metis(text).report().edge_values_ignored, 6);
        EXPECT_EQ(open_metis(text).nonzeros(), 6);
    }
    EXPECT_EQ(open_metis("2 1 10\n7 2\n7 1\n").nonzeros(), 2);
    EXPECT_EQ(open_metis("2 1 100\n7 2\n7 1\n").nonzeros(), 2);
    expect_bad("2 1\n2\n1\n", {"g.graph:1: the edges have no weights", "`edge-weights`"}, true);
}

TEST(MetisFile, RefusesWhatIsNone) {
    expect_bad("3 2\n2 3\n1\n", {"ends after the neighbours of 2 of 3 vertices", "edges.txt"});
    expect_bad("3 3\n2 3\n1\n1\n", {"4 neighbours, and 3 edges are declared"});
    expect_bad("3 2\n2 3\n3\n1\n", {"not every edge is listed at both of its ends"});
    expect_bad("2 1 1\n2 5\n1 6\n", {"with the same weight"}, true);
    expect_bad("2 1\n2\n3\n", {"g.graph:3: neighbour '3' is out of range: it must be 1 to 2"});
    expect_bad("2 1\n2\n0\n", {"g.graph:3: neighbour '0' is out of range"});
    expect_bad("2 1\n1\n2\n", {"g.graph:2: vertex 1 is its own neighbour"});
    expect_bad("2 1 12\n2\n1\n", {"fmt 12"});
    expect_bad("2\n2\n1\n", {"number of edges is missing"});
    expect_bad("% nothing\n", {"line of sizes"});
    expect_bad("2,1\n2\n1\n", {"g.graph:1: malformed line: both blanks and ','"});
}

}  // namespace
}  // namespace gnnplan::data
