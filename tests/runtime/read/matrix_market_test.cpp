#include "runtime/data/dataset.hpp"

#include "tests/support/test_files.hpp"

namespace gnnplan::data {
namespace {

Dataset open_mtx(const std::string& content, const std::string& name = "graph.mtx", bool edge_weights = false) {
    const files::TempFolder folder;
    DatasetOptions options;
    options.preparation.add_self_loops = false;
    options.preparation.edge_weights = edge_weights;
    return open_dataset(folder.write(name, content), options);
}

void expect_bad(const std::string& content, const std::vector<std::string>& parts) {
    files::expect_error(ErrorCode::data, parts, [&] { open_mtx(content); });
}

const std::string general = "%%MatrixMarket matrix coordinate pattern general\n";

TEST(MatrixMarket, GeneralPattern) {
    const Dataset d = open_mtx(general + "% comment\n\n3 3 3\n1 2\n3 1\n2 2\n");
    EXPECT_EQ(d.report().format, "Matrix Market, general");
    EXPECT_EQ(d.report().index_base, 1);
    EXPECT_TRUE(d.report().directed);
    EXPECT_EQ(d.report().self_loops_dropped, 1);
    EXPECT_EQ(d.graph().out.row_start, (std::vector<std::int64_t>{0, 1, 1, 2}));
    EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 0}));
}

TEST(MatrixMarket, ValuesAreWeights) {
    using Weights = kernels::LargeVector<float>;
    const Dataset symmetric =
        open_mtx("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 0.5\n3 3 1\n3 2 -1e3\n", "a.mtx", true);
    EXPECT_TRUE(symmetric.graph().symmetric);
    EXPECT_EQ(symmetric.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 0, 2, 1}));
    EXPECT_EQ(symmetric.graph().out.weight, (Weights{0.5F, 0.5F, -1e3F, -1e3F}));
    EXPECT_EQ(symmetric.report().edge_values_ignored, 0);
    const Dataset directed =
        open_mtx("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 4\n2 1 5\n", "a.mtx", true);
    EXPECT_FALSE(directed.graph().symmetric);
    EXPECT_TRUE(directed.report().directed);
    EXPECT_TRUE(directed.report().weights_only_directed);
    EXPECT_EQ(directed.graph().out.weight, (Weights{4, 5}));
    EXPECT_EQ(directed.graph().in.weight, (Weights{5, 4}));
}

TEST(MatrixMarket, RefusesBadWeights) {
    const auto expect_bad_weights = [](const std::string& content, const std::vector<std::string>& parts) {
        files::expect_error(ErrorCode::data, parts, [&] { open_mtx(content, "graph.mtx", true); });
    };
    expect_bad_weights(general + "2 2 1\n1 2\n", {"graph.mtx:1", "field 'pattern'", "no values", "`edge-weights`"});
    const std::string real = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n";
    expect_bad_weights(real + "2 1\n", {"graph.mtx:4", "value is missing"});
    expect_bad_weights(real + "2 1 nan\n", {"graph.mtx:4", "value 'nan' is not finite"});
}

TEST(MatrixMarket, SymmetricMirrorsOffDiagonalEntries) {
    const Dataset d =
        open_mtx("%%MatrixMarket MATRIX Coordinate Real Symmetric\n3 3 3\n2 1 0.5\n3 3 1\n3 2 -1e3\n", "a.mtx.gz");
    EXPECT_EQ(d.report().edges_read, 3);
    EXPECT_EQ(d.report().edge_values_ignored, 3);
    EXPECT_EQ(d.report().self_loops_dropped, 1);
    EXPECT_FALSE(d.report().directed);
    EXPECT_TRUE(d.graph().symmetric);
    EXPECT_EQ(d.nonzeros(), 4);
}

// By the draft of the format, neither the case of letters nor blanks matter.
TEST(MatrixMarket, TheBannerMakesItOneUnderAnyName) {
    const std::string rest = "% comment\n4 4 4\n1 2\n2 3\n3 4\n4 1\n";
    const std::string fingerprint = open_mtx(general + rest).fingerprint();
    for (const std::string banner :
         {"%%MATRIXMARKET MATRIX COORDINATE PATTERN GENERAL\n", "  %%MatrixMarket matrix coordinate pattern general\n",
          "%MatrixMarket matrix coordinate pattern general\r\n",
          "\n% matrixmarket Matrix  coordinate pattern general\n",
          "\xEF\xBB\xBF%%MatrixMarket matrix coordinate pattern general\n"}) {
        for (const std::string name : {"graph.mtx", "graph.txt", "graph.csv.gz", "graph.graph"}) {
            const Dataset d = open_mtx(banner + rest, name);
            EXPECT_EQ(d.fingerprint(), fingerprint) << banner << name;
            EXPECT_EQ(d.report().format, "Matrix Market, general");
        }
    }
}

TEST(MatrixMarket, IntegerValues) {
    EXPECT_EQ(open_mtx("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 7\n").nonzeros(), 1);
}

TEST(MatrixMarket, VerticesWithoutEntries) { EXPECT_EQ(open_mtx(general + "4 4 0\n").vertices(), 4); }

TEST(MatrixMarket, HeaderLies) {
    expect_bad(general + "3 3 2\n1 2\n", {"graph.mtx:3: the file ends after 1 of 2 declared entries"});
    expect_bad(general + "3 3 1\n1 2\n2 3\n", {"graph.mtx:4: more entries than the 1 declared"});
    expect_bad(general + "3 3 1\n4 1\n", {"graph.mtx:3: row index '4' is out of range"});
    expect_bad(general + "3 3 1\n1 0\n", {"graph.mtx:3: column index '0' is out of range: it must be 1 to 3"});
    expect_bad(general + "3 3 1\n1 -2\n", {"graph.mtx:3: column index '-2' is negative"});
    expect_bad(general + "3 4 1\n1 2\n", {"graph.mtx:2: a 3 x 4 matrix is no graph"});
    expect_bad(general + "9223372036854775808 9223372036854775808 1\n1 2\n", {"graph.mtx:2", "out of range"});
    expect_bad(general + "4000000000 4000000000 1\n1 2\n", {"graph.mtx:2", "at most 2^31 - 1"});
    expect_bad(general + "2000000000 2000000000 1\n1 2\n", {"graph.mtx", "only 1 edges"});
    expect_bad(general + "0 0 0\n", {"no vertices"});
    expect_bad(general, {"graph.mtx:1: the size line is missing"});
    expect_bad("", {"the file is empty"});
}

TEST(MatrixMarket, RefusesWhatIsNoGraph) {
    expect_bad("%%MatrixMarket matrix array real general\n1 1\n1\n", {"graph.mtx:1: format 'array'"});
    expect_bad("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", {"field 'complex'"});
    expect_bad("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", {"symmetry 'hermitian'"});
    expect_bad("1 2\n", {"'%%MatrixMarket matrix' expected", "put the line", "another name, such as edges.txt"});
    expect_bad("% comment\n4 4 4\n1 2\n", {"graph.mtx:1: '%%MatrixMarket matrix' expected"});
    expect_bad("%%MatrixMarket graph coordinate pattern general\n",
               {"'%%MatrixMarket matrix' expected, found 'graph'"});
    expect_bad("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n",
               {"graph.mtx:3: malformed line: value is missing"});
    expect_bad(general + "2 2 1\n1 2 5\n", {"graph.mtx:3: malformed line: unexpected '5'"});
}

}  // namespace
}  // namespace gnnplan::data
