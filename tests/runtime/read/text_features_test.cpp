// Features in files of lines that begin with the ids of vertices.
#include "runtime/read/text_features.hpp"
#include "runtime/data/dataset.hpp"
#include "tests/support/test_files.hpp"

#include <fstream>
#include <memory>

namespace gnnplan::data {
namespace {

using files::expect_error;
using files::TempFolder;

// Five vertices on a path, whose features lie in the files of a folder.
class FeaturesById : public ::testing::Test {
protected:
    const TempFolder folder{};

    void SetUp() override {
        folder.write("raw/edge.csv", "0,1\n1,2\n2,3\n3,4\n");
        folder.write("raw/num-node-list.csv", "5\n");
    }
    void write(const std::string& name, const std::string& text) const { folder.write("raw/node-feat/" + name, text); }
    std::vector<float> read(Range rows, Range columns, const VertexOrder* order = nullptr) const {
        const Dataset dataset = open_dataset(folder.path());
        std::vector<float> values(static_cast<std::size_t>(rows.size() * columns.size()));
        dataset.read_features(rows, columns, values.data(), columns.size(), order);
        return values;
    }
    std::vector<float> all() const { return read({0, 5}, {0, 2}); }
    void expect_bad(const std::vector<std::string>& parts) const {
        expect_error(ErrorCode::data, parts, [&] { all(); });
    }
};

TEST_F(FeaturesById, LieInAnyOrderInSeveralFiles) {
    write("part-00000.csv", "3,30,31\n0,0.5,-1\n");
    write("part-00001.csv.gz", "4,40,41\n");
    write("part-00002.csv", "");
    write("part-00003.csv", "2,20,21\n1,10,11");
    EXPECT_EQ(all(), (std::vector<float>{0.5F, -1, 10, 11, 20, 21, 30, 31, 40, 41}));
    EXPECT_EQ(read({1, 4}, {1, 2}), (std::vector<float>{11, 21, 31}));
    const VertexOrder order{{4, 3, 2, 1, 0}, {4, 3, 2, 1, 0}};
    EXPECT_EQ(read({0, 2}, {0, 1}, &order), (std::vector<float>{40, 30}));
    const Dataset dataset = open_dataset(folder.path());
    EXPECT_EQ(dataset.features(), 2);
    EXPECT_FALSE(dataset.report().features_generated);
    EXPECT_TRUE(dataset.report().leftovers.unread.empty());
}

TEST_F(FeaturesById, MayHaveHeadersAndOtherSeparators) {
    write("a.tsv", "id\tfirst\tsecond\r\n0\t1\t2\r\n1\t3\t4\r\n");
    write("b.csv", "\"id\";\"first\";\"second\"\n2;5,5;6\n3;7;8\n");
    write("c.txt", "4 9 1.0E-1\n");
    write("_SUCCESS", "");
    write(".part-00000.csv.crc", "no text of features");
    EXPECT_EQ(all(), (std::vector<float>{1, 2, 3, 4, 5.5F, 6, 7, 8, 9, 0.1F}));
}

TEST_F(FeaturesById, AreThoseOfTheFileInOrder) {
    const TempFolder other;
    other.write("raw/edge.csv", "0,1\n1,2\n2,3\n3,4\n");
    other.write("raw/num-node-list.csv", "5\n");
    other.write("raw/node-feat.csv", "1,2\n3,4\n5,6\n7,8\n9,10\n");
    write("any", "4,9,10\n2,5,6\n0,1,2\n1,3,4\n3,7,8\n");
    EXPECT_EQ(fingerprints_of(open_dataset(folder.path())).features,
              fingerprints_of(open_dataset(other.path())).features);
}

TEST_F(FeaturesById, AVertexHasOneLine) {
    write("a.csv", "id,x,y\n0,1,2\n1,1,2\n2,1,2\n");
    write("b.csv", "4,1,2\n");
    expect_bad({"raw/node-feat: no line has the features of vertex 3: each of 5 vertices needs one (add lines of"});
    write("b.csv", "3,1,2\n1,5,5\n");
    expect_bad({"b.csv:2: a second line for vertex 1; its first is ", "a.csv:3 (keep one of them"});
    write("b.csv", "");
    expect_bad({"vertex 3, nor of 1 others"});
}

TEST_F(FeaturesById, BadLinesAreNamed) {
    const std::string good = "0,1,2\n1,1,2\n2,1,2\n";
    write("a.csv", good);
    const auto with = [&](const std::string& text, const std::vector<std::string>& parts) {
        write("b.csv", text);
        expect_bad(parts);
    };
    with("3,1,2\n5,1,2\n", {"b.csv:2: vertex id '5' is out of range: it must be below 5"});
    with("3,1,2\n-4,1,2\n", {"b.csv:2: vertex id '-4' is negative"});
    with("3,1,2\n4.0,1,2\n", {"b.csv:2: malformed line: vertex id expected, found '4.0'"});
    with("3,1,2\n\n4,1,2\n", {"b.csv:2: malformed line: vertex id is missing"});
    with("3,1,2\n4,1\n", {"b.csv:2: 2 features expected, as in ", "a.csv:1, found 1"});
    with("3,1,2\n4,1,2,3\n", {"b.csv:2: more than the 2 features of ", "a.csv:1"});
    with("3,1,2\n4,nan,2\n", {"b.csv:2: feature 0 is not finite"});
    with("3,1,2\n4,1,1e39\n", {"b.csv:2: feature 1 is not finite (or beyond float32)"});
    with("3,1,2\n4,1,x\n", {"b.csv:2: malformed line: feature expected, found 'x'"});
    write("a.csv", "id,x,y\n0\n");
    expect_bad({"a.csv:2: no features behind the id of the vertex"});
}

// The bytes that this process has read of files since it began.
std::int64_t bytes_read() {
    std::ifstream io("/proc/self/io");
    std::string key;
    std::int64_t bytes = 0;
    io >> key >> bytes;
    EXPECT_EQ(key, "rchar:");
    return bytes;
}

TEST_F(FeaturesById, AShareIsReadWithoutThoseBeforeIt) {
    std::string text;
    for (int i = 0; i < 400'000; ++i) text += std::to_string(i % 5) + ",0.125,-3.75\n";
    write("large.csv", text);
    const std::unique_ptr<FeatureSource> source = open_text_features_by_id(folder.path() / "raw/node-feat", 5);
    const std::int64_t before = bytes_read();
    std::int64_t rows = 0;
    const auto last = source->files()->rows_of({15, 16}, 0);
    while (last->next() >= 0) ++rows;
    EXPECT_NEAR(static_cast<double>(rows), 400'000.0 / 16, 2);
    EXPECT_LT(bytes_read() - before, std::ssize(text) / 4);
}

TEST_F(FeaturesById, FoldersOfOtherThingsAreRefused) {
    std::filesystem::create_directories(folder.path() / "raw/node-feat");
    expect_bad({"raw/node-feat: no file in this folder has a line of features", "such as 7,0.5,-1"});
    write("part-00000.parquet", "PAR1 and what follows");
    expect_bad({"part-00000.parquet: a Parquet file"});
    folder.write("raw/node-feat.csv", "1\n1\n1\n1\n1\n");
    expect_bad({"raw/node-feat: features are in this folder and in node-feat.csv beside it (keep one of them)"});
}

}  // namespace
}  // namespace gnnplan::data
