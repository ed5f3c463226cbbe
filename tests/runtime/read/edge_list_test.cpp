#include "runtime/data/dataset.hpp"

#include "tests/support/test_files.hpp"

namespace gnnplan::data {
namespace {

using files::expect_error;
using files::TempFolder;

DatasetOptions bare() {
    DatasetOptions options;
    options.preparation.add_self_loops = false;
    return options;
}

Dataset open_text(const std::string& content, const std::string& name = "graph.txt") {
    const TempFolder folder;
    return open_dataset(folder.write(name, content), bare());
}

void expect_bad(const std::string& content, const std::vector<std::string>& parts) {
    expect_error(ErrorCode::data, parts, [&] { open_text(content); });
}

TEST(EdgeList, SnapWithCommentsBlanksAndWindowsLines) {
    const Dataset d = open_text("# Nodes: 5 Edges: 3\n# From\tTo\n0\t1\r\n\n 2  1 \n1 0\n3 3");
    EXPECT_EQ(d.report().format, "SNAP edge list");
    EXPECT_EQ(d.vertices(), 5);
    EXPECT_EQ(d.report().edges_read, 4);
    EXPECT_EQ(d.report().self_loops_dropped, 1);
    EXPECT_TRUE(d.report().directed);
    EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 0, 1}));
    EXPECT_THAT(d.report().describe(), testing::HasSubstr("ids from 0, directed as listed: 5 vertices, 4 edges read"));
}

TEST(EdgeList, AByteOrderMarkIsNoPartOfTheFirstLine) {
    EXPECT_EQ(open_text("\xEF\xBB\xBF"
                        "0 7\n")
                  .vertices(),
              8);
    EXPECT_EQ(open_text("\xEF\xBB\xBF"
                        "# Nodes: 2\n0 1\n")
                  .vertices(),
              2);
}

TEST(EdgeList, LargestIdCountsWhenMoreThanDeclared) { EXPECT_EQ(open_text("# Nodes: 2\n0 7\n").vertices(), 8); }

using Weights = kernels::LargeVector<float>;

Dataset open_weighted(const std::string& content) {
    const TempFolder folder;
    DatasetOptions options = bare();
    options.preparation.edge_weights = true;
    return open_dataset(folder.write("graph.txt", content), options);
}

TEST(EdgeList, TheThirdColumnIsTheWeight) {
    const Dataset d = open_weighted("# u v w time\n2 0 -1e-3 1999\n0\t1 0.5\n1 2 7\n");
    EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2, 0}));
    EXPECT_EQ(d.graph().out.weight, (Weights{0.5F, 7, -1e-3F}));
    EXPECT_EQ(d.graph().in.column, (kernels::LargeVector<std::int32_t>{2, 0, 1}));
    EXPECT_EQ(d.graph().in.weight, (Weights{-1e-3F, 0.5F, 7}));
    EXPECT_TRUE(d.report().weighted);
    EXPECT_EQ(d.report().edge_values_ignored, 1);
    EXPECT_THAT(d.report().describe(),
                testing::HasSubstr("3 edges read with their weights (further values of 1 ignored)"));
    EXPECT_EQ(open_weighted("from,to,weight\n0,1,0.5\n").graph().out.weight, Weights{0.5F});
}

TEST(EdgeList, WeightsThatAreNotUsedAreSaid) {
    const Dataset d = open_text("0 1 0.5\n1 2 3\n");
    EXPECT_FALSE(d.report().weighted);
    EXPECT_TRUE(d.graph().out.weight.empty());
    EXPECT_THAT(d.report().describe(),
                testing::HasSubstr("(the values of 2 ignored: plan with `edge-weights` to use weights)"));
}

TEST(EdgeList, BadWeightsAreRefusedWithTheirLine) {
    const auto expect_bad_weights = [](const std::string& content, const std::vector<std::string>& parts) {
        expect_error(ErrorCode::data, parts, [&] { open_weighted(content); });
    };
    expect_bad_weights("0 1 0.5\n1 2\n", {"graph.txt:2", "edge weight is missing", "third column"});
    expect_bad_weights("0 1\n", {"graph.txt:1", "edge weight is missing"});
    expect_bad_weights("0 1 1\n1 2 nan\n", {"graph.txt:2", "edge weight 'nan' is not finite"});
    expect_bad_weights("0 1 -inf\n", {"graph.txt:1", "edge weight '-inf' is not finite"});
    expect_bad_weights("0 1 1e39\n", {"graph.txt:1", "edge weight '1e39' is not finite (or beyond float32)"});
    expect_bad_weights("0 1 heavy\n", {"graph.txt:1", "edge weight expected, found 'heavy'"});
    expect_bad_weights("0 1 3e38\n0 1 3e38\n", {"graph.txt", "0 -> 1", "listed more than once", "float32"});
}

TEST(EdgeList, GzipIsTransparent) {
    EXPECT_EQ(open_text("0 1\n1 2\n", "graph.txt.gz").fingerprint(), open_text("0 1\n1 2\n").fingerprint());
}

TEST(EdgeList, CsvWithHeaderAndValues) {
    const Dataset d = open_text("source,target,weight\n0,1,0.5\n1;2;-3e1\n2,0\n", "graph.csv");
    EXPECT_EQ(d.report().format, "CSV edge list");
    EXPECT_EQ(d.report().edges_read, 3);
    EXPECT_EQ(d.report().edge_values_ignored, 2);
}

TEST(EdgeList, LinesLongerThanABlock) {
    const Dataset d = open_text("#" + std::string(3 << 18, 'x') + "\n0 1\n");
    EXPECT_EQ(d.report().edges_read, 1);
}

TEST(EdgeList, ManyBlocks) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += std::to_string(i) + "\t" + std::to_string((i + 1) % 100000) + "\n";
    const Dataset d = open_text(text);
    EXPECT_EQ(d.nonzeros(), 100000);
    for (std::int32_t v = 0; v < 100000; ++v)
        ASSERT_EQ(d.graph().out.column[static_cast<std::size_t>(v)], (v + 1) % 100000);
}

TEST(EdgeList, IdsMayCountFromOne) {
    const auto open = [](const std::string& content, IndexBase base) {
        const TempFolder folder;
        DatasetOptions options = bare();
        options.index_base = base;
        return open_dataset(folder.write("graph.txt", content), options);
    };
    const std::string from_one = "# Nodes: 3\n1 2\n2 1\n2 3\n";
    const std::string fingerprint = open_text("# Nodes: 3\n0 1\n1 0\n1 2\n").fingerprint();
    for (const IndexBase base : {IndexBase::one, IndexBase::automatic}) {
        const Dataset d = open(from_one, base);
        EXPECT_EQ(d.fingerprint(), fingerprint);
        EXPECT_EQ(d.report().index_base, 1);
        EXPECT_TRUE(d.report().hints.empty());
    }
    EXPECT_EQ(open(from_one, IndexBase::zero).vertices(), 4);
    EXPECT_TRUE(open(from_one, IndexBase::zero).report().hints.empty());
    EXPECT_EQ(open(from_one, IndexBase::unsaid).report().hints.size(), 1U);
    EXPECT_EQ(open("0 1\n1 0\n", IndexBase::automatic).report().index_base, 0);
    expect_error(ErrorCode::data, {"graph.txt:2: vertex id '0' is out of range: it must be 1 to 2147483647"},
                 [&] { open("1 2\n0 1\n", IndexBase::one); });
    // The largest id is that of the largest number of vertices.
    expect_error(ErrorCode::data, {"2147483647 vertices but only 1 edges"},
                 [&] { open("1 2147483647\n", IndexBase::one); });
}

TEST(EdgeList, IdsFromOneAreHintedAtWhereThatHelps) {
    const auto hints = [](const std::string& content) { return open_text(content).report().hints; };
    EXPECT_EQ(hints("# Nodes: 2\n1 2\n2 1\n").size(), 1U);
    EXPECT_TRUE(hints("# Nodes: 6\n1 88160\n88160 1\n").empty());  // few ids have edges, from 0 or from 1
    EXPECT_TRUE(hints("# Nodes: 2\n1 2\n2 3\n3 1\n1 3\n").empty());
}

TEST(EdgeList, SaysWhenNoEdgeComesWithItsReverse) {
    EXPECT_EQ(open_text("0 1\n0 2\n2 1\n").report().hints.size(), 1U);
    EXPECT_TRUE(open_text("0 1\n0 2\n2 0\n").report().hints.empty());  // one does
    EXPECT_TRUE(open_text("0 0\n1 1\n").report().hints.empty());       // there is none
}

TEST(EdgeList, NamesFileAndLineOfBadLines) {
    expect_bad("0 1\n\n0 x\n", {"graph.txt:3: malformed line: vertex id expected, found 'x'"});
    expect_bad("# c\n0\n", {"graph.txt:2: malformed line: vertex id is missing"});
    expect_bad("0 1 2 y\n", {"graph.txt:1: malformed line: edge value expected, found 'y'"});
    expect_bad("0 1\n2 -1\n", {"graph.txt:2: vertex id '-1' is negative"});
    expect_bad("0 2147483647\n", {"graph.txt:1: vertex id '2147483647' is out of range"});
    expect_bad("0 9223372036854775808\n", {"graph.txt:1: vertex id '9223372036854775808' is out of range"});
    expect_bad("1.5 2\n", {"graph.txt:1: malformed line"});
    expect_bad("0,1,\n", {"graph.txt:1: malformed line"});
    expect_bad("hello world\n0 1\n", {"graph.txt:1: malformed line: vertex id expected, found 'hello'"});
    expect_bad("0 1\nsource,target\n", {"graph.txt:2: malformed line"});
    expect_bad("# Nodes: 4294967296\n0 1\n", {"4294967296 vertices"});
}

TEST(EdgeList, RefusesSparseIdsBeforeAllocating) {
    expect_bad("0 2147483646\n", {"graph.txt: 2147483647 vertices but only 1 edges"});
}

TEST(EdgeList, EmptyFileHasNoVertices) {
    expect_bad("", {"graph.txt: the graph has no vertices"});
    expect_bad("# only a comment\n", {"the graph has no vertices"});
    EXPECT_EQ(open_text("# Nodes: 3\n").vertices(), 3);
}

TEST(EdgeList, CutOrDamagedGzip) {
    const TempFolder folder;
    std::string text;
    for (int i = 0; i < 20000; ++i)
        text += std::to_string(i * 7919 % 20000) + " " + std::to_string(i * 104729 % 20000) + "\n";
    const auto path = folder.write("graph.txt.gz", text);
    const std::string whole = files::read_bytes(path);
    files::write_bytes(path, whole.substr(0, whole.size() / 2));
    expect_error(ErrorCode::data, {"graph.txt.gz", "cut short"}, [&] { open_dataset(path); });
    std::string damaged = whole;
    for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 64; ++i) damaged[i] = '\xff';
    files::write_bytes(path, damaged);
    expect_error(ErrorCode::data, {"graph.txt.gz"}, [&] { open_dataset(path); });
}

TEST(Detection, SaysWhatItLookedFor) {
    const TempFolder folder;
    expect_error(ErrorCode::missing_input, {"nowhere", "no such file or folder"},
                 [&] { open_dataset(folder.path() / "nowhere"); });
    expect_error(ErrorCode::missing_input, {"looked for raw/edge.csv.gz"}, [&] { open_dataset(folder.path()); });
}

TEST(Detection, NeverLoadsPickles) {
    expect_bad(std::string("\x80\x04\x95\x00\x00", 5), {"pickles", "np.savez"});
    expect_bad("\x93NUMPY...", {".npy"});
}

TEST(Detection, NamedSplitsBelongToOgb) {
    const TempFolder folder;
    DatasetOptions options;
    options.split = "time";
    expect_error(ErrorCode::usage, {"named splits"}, [&] { open_dataset(folder.write("g.txt", "0 1\n"), options); });
}

}  // namespace
}  // namespace gnnplan::data
