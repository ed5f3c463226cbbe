// Columns are read as the header names them, in whatever order they come.
#include "runtime/data/dataset.hpp"

#include "tests/support/test_files.hpp"

namespace gnnplan::data {
namespace {

using files::TempFolder;
using Columns = kernels::LargeVector<std::int32_t>;
using Weights = kernels::LargeVector<float>;

Dataset open_csv(const std::string& content, bool edge_weights = false) {
    const TempFolder folder;
    DatasetOptions options;
    options.preparation.add_self_loops = false;
    options.preparation.edge_weights = edge_weights;
    return open_dataset(folder.write("g.csv", content), options);
}

void expect_bad(const std::string& content, const std::vector<std::string>& parts, bool edge_weights = false) {
    files::expect_error(ErrorCode::data, parts, [&] { open_csv(content, edge_weights); });
}

// The edges 0 -> 1, of weight 0.5, and 1 -> 2, of weight 2, whatever the columns.
TEST(EdgeColumns, AreTakenByTheirNames) {
    for (const std::string text :
         {"source,target,weight\n0,1,0.5\n1,2,2\n", "id,source,target,weight\n7,0,1,0.5\n8,1,2,2\n",
          "weight,src,dst\n0.5,0,1\n2,1,2\n", "source,weight,target\n0,0.5,1\n1,2,2\n",
          "target,source,w\n1,0,0.5\n2,1,2\n", "\"To\",\"From\",\"Weight\"\n1,0,0.5\n2,1,2\n",
          ",source,target,value\n0,0,1,0.5\n1,1,2,2\n",
          "\"\",\"from\",\"to\",\"weight\"\n\"1\",\"0\",\"1\",0.5\n\"2\",1,2,2\n",
          "Source,Target,Type,Id,Label,timeset,Weight\n0,1,Directed,0,,,0.5\n1,2,Directed,1,\"a, \"\"b\"\"\",,2.0\n",
          "ToNodeId\tFromNodeId\tWeight\n1\t0\t0.5\n2\t1\t2\n", "v u weight\n1 0 0.5\n 2  1 2 \n",
          "source;weight;target\n0;0,5;1\n1;2;2\n", "node_2,node_1,weight\n1,0,0.5\n2,1,2\n",
          ":END_ID,:START_ID(Person),weight:float,:TYPE\n1,0,0.5,KNOWS\n2,1,2,KNOWS\n",
          "# target source weight\n1 0 0.5\n2 1 2\n", "#id,source,target,weight\n4,0,1,0.5\n5,1,2,2\n",
          "\xEF\xBB\xBFsource,weight,target\r\n0,0.5,1\r\n\r\n1,2,2\r\n"}) {
        const Dataset d = open_csv(text, true);
        EXPECT_EQ(d.vertices(), 3) << text;
        EXPECT_EQ(d.graph().out.row_start, (std::vector<std::int64_t>{0, 1, 2, 2})) << text;
        EXPECT_EQ(d.graph().out.column, (Columns{1, 2})) << text;
        EXPECT_EQ(d.graph().out.weight, (Weights{0.5F, 2})) << text;
        EXPECT_EQ(open_csv(text).graph().out.column, (Columns{1, 2})) << text;
        EXPECT_EQ(open_csv(text).report().edge_values_ignored, 2) << text;
    }
    const Dataset quoted = open_csv("\"source\",\"target\"\n\"0\",\"1\"\n\"1\",\"2\"\n");
    EXPECT_EQ(quoted.graph().out.column, (Columns{1, 2}));
    const Dataset tabs = open_csv("FromNodeId\tToNodeId\n0\t1\n1\t2\n");
    EXPECT_EQ(tabs.graph().out.column, (Columns{1, 2}));
    EXPECT_EQ(tabs.report().format, "SNAP edge list");
    EXPECT_EQ(open_csv("source target\n0 1\n1 2\n").graph().out.column, (Columns{1, 2}));
}

TEST(EdgeColumns, WhichAreTheEndsIsAskedWhereNamesDoNotTell) {
    expect_bad("a,b,c\n0,1,2\n", {"g.csv:1: which columns are the ends of an edge?", "a, b, c", "source and target"});
    expect_bad("source,src,target\n0,1,2\n", {"g.csv:1", "no other column so"});
    expect_bad("source,src\n0,1\n", {"g.csv:1", "no other column so"});
    const Dataset guessed = open_csv("a;b\n0;1\n1;0\n");
    EXPECT_EQ(guessed.report().edges_read, 2);
    EXPECT_EQ(guessed.report().hints, std::vector<std::string>{"the columns a, b are taken for source and target"});
    EXPECT_EQ(open_csv("person,source\n1,0\n2,0\n").graph().out.row_start, (std::vector<std::int64_t>{0, 2, 2, 2}));
}

TEST(EdgeColumns, WeightsNeedTheirName) {
    expect_bad("id,source,target\n0,4,7\n", {"g.csv:1: no column has the name weight", "id, source, target"}, true);
    expect_bad("source,target,time\n0,4,7\n", {"g.csv:1: no column has the name weight"}, true);
    expect_bad("weight,source,target\n,0,1\n", {"g.csv:2", "edge weight is missing"}, true);
    EXPECT_EQ(open_csv("source,target,time\n0,1,7\n").report().edge_values_ignored, 0);
}

TEST(EdgeColumns, EveryLineHasThem) {
    expect_bad("id,source,target\n0,4,7\n1,5\n", {"g.csv:3: malformed line: it has 2 columns, and the header names 3"});
    expect_bad("id,source,target\n0,4,7,1\n", {"g.csv:2: malformed line: it has 4 columns"});
    expect_bad("source,target\n0,4\n4,7,1\n", {"g.csv:3: malformed line: it has 3 columns, and the header names 2"});
    expect_bad("id,source,target\n0,4.0,7\n", {"g.csv:2", "'4.0'", "without a decimal point"});
    expect_bad("id,source,target\n0,,7\n", {"g.csv:2", "vertex id is missing"});
    expect_bad("id,source,target\n0,-4,7\n", {"g.csv:2", "'-4' is negative"});
}

TEST(EdgeColumns, UndirectedEdgesOfGephiAreSaid) {
    const std::string text = "Source,Target,Type\n0,1,Undirected\n1,2,undirected\n";
    EXPECT_EQ(open_csv(text).report().hints,
              std::vector<std::string>{"the file calls 2 of its edges undirected; `symmetrise` adds their reverses"});
}

TEST(DecimalCommas, AreNoSeparatorsWhereSemicolonsOrBlanksAre) {
    for (const std::string text : {"0;1;0,5\n1;2;2\n", "0 ; 1 ; 0,5\n1;2;2,0\n", "0\t1\t0,5\n1\t2\t20,0e-1\n",
                                   "0 1 0,5\n1 2 2\n", "source;target;weight\n0;1;0,5\n1;2;+2\n"}) {
        EXPECT_EQ(open_csv(text, true).graph().out.weight, (Weights{0.5F, 2})) << text;
        EXPECT_EQ(open_csv(text).report().edge_values_ignored, 2) << text;
    }
    EXPECT_EQ(open_csv("0;1;,5\n", true).graph().out.weight, Weights{0.5F});
    expect_bad("0;1;0,5,5\n", {"g.csv:1: malformed line: edge weight expected"}, true);
    expect_bad("0;1;1.000,5\n", {"g.csv:1: malformed line: edge weight expected"}, true);
    expect_bad("0;1;5,\n", {"g.csv:1: malformed line: edge value expected"});
    expect_bad("0;1,5;2\n", {"g.csv:1: malformed line: both ';' and ',' between its numbers"});
    expect_bad("0,1;5\n", {"g.csv:1: malformed line: both ',' and ';'"});
    expect_bad("1,000 2,000\n", {"g.csv:1: malformed line: both ',' and blanks"});
}

}  // namespace
}  // namespace gnnplan::data
