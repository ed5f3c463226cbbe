// Texts that look like edge lists and are none are refused with a way out; texts that may be edge lists are still read.
#include "runtime/data/dataset.hpp"

#include "tests/support/test_files.hpp"

namespace gnnplan::data {
namespace {

using files::TempFolder;

Dataset open_text(const std::string& content, bool edge_weights = false) {
    const TempFolder folder;
    DatasetOptions options;
    options.preparation.add_self_loops = false;
    options.preparation.edge_weights = edge_weights;
    return open_dataset(folder.write("g.txt", content), options);
}

void expect_bad(const std::string& content, const std::vector<std::string>& parts, bool edge_weights = false) {
    files::expect_error(ErrorCode::data, parts, [&] { open_text(content, edge_weights); });
}

TEST(OtherForms, AdjacencyListsAreRefused) {
    const std::vector<std::string> said = {"an adjacency list, not a list of edges", "networkx.write_edgelist"};
    const auto with = [&](const std::string& more) {
        std::vector<std::string> all = said;
        all.push_back(more);
        return all;
    };
    expect_bad("0 1 2 3\n1 2 3\n2 3 4\n3 4\n4 0\n",
               with("g.txt:2: this line has 3 numbers, and those before it have 4"));
    expect_bad("# c\n0 1\n\n1 2\n2 3 0\n", with("g.txt:5: this line has 3 numbers, and those before it have 2"));
    expect_bad("0 1 2\n1 3 4 5\n", with("g.txt:2"));              // a tree: most ids are behind the second column
    expect_bad("0 1 2\n1 2 3\n2 3 0\n3 0 1\n", with("g.txt:1"));  // two neighbours each
    expect_bad("0 1 2 3\n1 0 2 3\n2 0 1 3\n3 0 1 2\n", with("g.txt:1"), true);
    expect_bad("0 1 0.5 2 0.3\n1 2 0.7\n", with("g.txt:2"));  // with weights
    expect_bad("0,1,2,3\n1,2,3\n", with("g.txt:2"));
    expect_bad("0 1 2 3\n1 2\n4\n", {"g.txt:3: malformed line: vertex id is missing", "networkx.read_adjlist"});
    expect_bad("0 1\n1\n", {"g.txt:2: malformed line: vertex id is missing", "networkx.read_adjlist"});
}

TEST(OtherForms, AMetisGraphNeedsItsName) {
    const std::vector<std::string> said = {"a METIS graph", ".graph or .metis"};
    expect_bad("% c\n5 6\n2 3\n1 3 4\n1 2 5\n2 5\n3 4\n", said);
    expect_bad("5 5\n2 5\n1 3\n2 4\n3 5\n4 1\n", said);  // a ring: two numbers in every line
    expect_bad("4 3\n2 3 4\n1\n1\n1\n", said);           // a star: lines of one number
    expect_bad("5 2\n2 3\n1\n1\n\n\n", said);            // blank lines are vertices
    expect_bad("3 3 1\n2 5 3 7\n1 5 3 9\n1 7 2 9\n", said);
}

TEST(OtherForms, ALineOfSizesIsNoEdge) {
    expect_bad("4 4 4\n1 2\n2 3\n3 4\n4 1\n", {"g.txt:1", "'4 4 4'", "Matrix Market file without its banner"});
    expect_bad("% c\n3 3 3\n1 2 0.5\n2 3 1\n3 1 2\n", {"g.txt:2", "without its banner"});
    expect_bad("5 6\n0 1\n1 2\n2 3\n3 4\n4 0\n0 2\n", {"g.txt:1", "'5 6'", "sizes of the graph", "5 vertices"});
    expect_bad("5 4\n1 2 7\n1 3 8\n1 4 9\n1 5 1\n", {"g.txt:1", "sizes of the graph"});
    EXPECT_EQ(open_text("3 1\n0 1\n1 2\n").report().edges_read, 3);
    EXPECT_EQ(open_text("1 2\n0 1\n2 0\n").report().edges_read, 3);
}

TEST(OtherForms, LinesOfColumnsStayEdges) {
    for (const std::string text : {"0 1 1 1082008561\n1 2 1 1082008561\n2 0 -1 1082008562\n", "0 1 1\n1 2 1\n2 0 1\n",
                                   "0 1 0\n1 2 1\n2 0 2\n", "0 1 0.5\n1 2\n2 0\n", "1 0 3\n1 2 1\n2 0 1\n"}) {
        const Dataset d = open_text(text);
        EXPECT_EQ(d.report().edges_read, 3) << text;
        EXPECT_EQ(d.vertices(), 3) << text;
    }
    EXPECT_TRUE(open_text("0 1 1 1082008561\n1 2 1 1082008561\n2 0 -1 1082008562\n").report().remarks.empty());
    EXPECT_TRUE(open_text("0 1 1\n1 2 1\n2 0 1\n").report().remarks.empty());
}

TEST(OtherForms, WhatCannotBeKnownIsRemarked) {
    const auto remark = [](const std::string& content) {
        const std::vector<std::string> remarks = open_text(content).report().remarks;
        return remarks.size() == 1 ? remarks.front() : std::string();
    };
    EXPECT_THAT(remark("2 1 0\n0 2 1\n0 1 2\n"), testing::HasSubstr("behind the second column are ids of vertices"));
    EXPECT_THAT(remark("0 1 0.5\n1 2\n2 0\n"), testing::HasSubstr("lines differ in length (line 2 has 2 numbers"));
}

TEST(OtherForms, WordsTellWhatAFileIs) {
    const std::pair<const char*, const char*> files[] = {{"p edge 3 2\ne 1 2\n", "DIMACS"},
                                                         {"c comment\np sp 3 2\n", "DIMACS"},
                                                         {"*Vertices 3\n1\n", "Pajek"},
                                                         {"AdjacencyGraph\n3\n2\n", "Ligra"},
                                                         {"graph [\n", "GML"},
                                                         {"<?xml version=\"1.0\"?>\n", "GraphML"},
                                                         {"{\"nodes\": []}\n", "JSON"}};
    for (const auto& [text, form] : files) expect_bad(text, {"g.txt:1", form, "networkx.write_edgelist"});
    expect_bad("0 1 {}\n1 2 {}\n", {"g.txt:1", "'{}'", "data=False"});
    expect_bad("0 1 {'weight': 1.0}\n", {"g.txt:1", "data=['weight']"}, true);
    expect_bad("0.0 1.0\n", {"g.txt:1", "'0.0'", "without a decimal point"});
    expect_bad("\"0\",\"1\"\n", {"g.txt:1", "without quotes"});
    expect_bad("alice,bob\ncarol,dave\n", {"g.txt:2", "'carol'", "number the names"});
    expect_bad("0 1 Undirected\n", {"g.txt:1", "'Undirected'", "header that names source and target"});
    expect_bad("% bip unweighted\n1 1\n", {"g.txt:1", "KONECT", "both sides count from 1"});
    EXPECT_EQ(open_text("% sym unweighted\n% 3 3 3\n1 2\n2 3\n3 1\n").report().edges_read, 3);
}

TEST(OtherForms, SizesThatContradictAreSaid) {
    const auto remarks = [](const std::string& content) { return open_text(content).report().remarks; };
    const std::string few = remarks("# Nodes: 6 Edges: 3\n1 88160\n2 88160\n2 548551\n").at(0);
    EXPECT_THAT(few, testing::HasSubstr("4 of 548,552 ids have edges, and the file declares 6 nodes"));
    EXPECT_THAT(few, testing::HasSubstr("numpy.unique"));
    EXPECT_THAT(remarks("35 1033\n40 35\n").at(0), testing::HasSubstr("3 of 1,034 ids have edges: every number"));
    EXPECT_THAT(remarks("# Nodes: 2\n0 1\n1 2\n").at(0), testing::HasSubstr("declares 2 nodes, and there are 3"));
    EXPECT_THAT(remarks("# Nodes: 3 Edges: 7\n0 1\n1 2\n").at(0), testing::HasSubstr("declares 7 edges and lists 2"));
    EXPECT_TRUE(remarks("0 1\n1 2\n2 4\n4 0\n").empty());               // one hole
    EXPECT_TRUE(remarks("# Nodes: 100 Edges: 2\n0 1\n1 2\n").empty());  // the others are meant to be there
    EXPECT_TRUE(remarks("# Nodes: 3 Edges: 1\n0 1\n1 0\n2 0\n0 2\n").size() == 1);
    EXPECT_TRUE(remarks("# Nodes: 3 Edges: 2\n0 1\n1 0\n2 0\n0 2\n").empty());  // listed in both directions
}

}  // namespace
}  // namespace gnnplan::data
