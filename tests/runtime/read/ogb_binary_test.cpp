// Tests of reading OGB's binary raw folders.
#include "runtime/data/dataset.hpp"
#include "tests/support/test_files.hpp"

#include <cmath>

namespace gnnplan::data {
namespace {

using files::Array;
using files::bytes_of;
using files::expect_error;
using files::TempFolder;
using I64 = std::int64_t;
namespace fs = std::filesystem;

// Makes a folder of all files that ogbn-papers100M has, for four vertices, of which the last has no edges.
struct BinaryFolder {
    TempFolder folder;
    std::vector<Array> data = {{"edge_index", "<i8", {2, 2}, bytes_of<I64>({0, 1, 1, 2})},
                               {"node_feat", "<f2", {4, 1}, bytes_of<std::uint16_t>({0x3C00, 0xC000, 0, 0x3800})},
                               {"node_year", "<i8", {4, 1}, bytes_of<I64>({2010, 2011, 2012, 2013})},
                               {"num_nodes_list", "<i8", {1}, bytes_of<I64>({4})},
                               {"num_edges_list", "<i8", {1}, bytes_of<I64>({2})}};
    std::vector<Array> labels = {{"node_label", "<f4", {4, 1}, bytes_of<float>({1, std::nanf(""), 0, 2})}};

    BinaryFolder() {
        split("time");
        write();
    }

    void split(const std::string& name) const {
        folder.write("split/" + name + "/train.csv.gz", "0\n");
        folder.write("split/" + name + "/valid.csv.gz", "2\n");
        folder.write("split/" + name + "/test.csv", "3\n");
    }
    void write(bool stored = false) const {
        fs::create_directories(folder.path() / "raw");
        fs::rename(files::write_npz(folder, data, stored), folder.path() / "raw/data.npz");
        fs::rename(files::write_npz(folder, labels, stored), folder.path() / "raw/node-label.npz");
    }
    Dataset open(const DatasetOptions& options = {.preparation = {.add_self_loops = false}}) const {
        return open_dataset(folder.path(), options);
    }
    void replace(const Array& array) {
        for (Array& one : data) {
            if (one.name == array.name) one = array;
        }
        write();
    }
};

TEST(OgbBinaryFolder, ReadsEverything) {
    const BinaryFolder ogb;
    for (const bool stored : {false, true}) {
        ogb.write(stored);
        const Dataset d = ogb.open();
        EXPECT_EQ(d.report().format, "OGB binary raw folder");
        EXPECT_EQ(d.report().divisible, stored);
        EXPECT_EQ(d.vertices(), 4);
        EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2}));
        EXPECT_EQ(d.labels(), (std::vector<std::int32_t>{1, -1, 0, 2}));
        EXPECT_EQ(d.classes(), 3);
        EXPECT_EQ(d.subset(), (std::vector<std::uint8_t>{train, unused, valid, test}));
        std::vector<float> x(4);
        d.read_features({0, 4}, {0, 1}, x.data(), 1);
        EXPECT_EQ(x, (std::vector<float>{1, -2, 0, 0.5F}));
        EXPECT_THAT(d.report().describe(), testing::HasSubstr(" Not read: node_year int64 [4, 1]."));
        EXPECT_NO_THROW(check_generated(d.report()));
    }
}

TEST(OgbBinaryFolder, ChoosesAmongSplits) {
    const BinaryFolder ogb;
    ogb.split("venue");
    expect_error(ErrorCode::usage, {"several splits: time, venue", "`split NAME`"}, [&] { ogb.open(); });
    EXPECT_EQ(ogb.open({.split = "venue"}).subset_size(train), 1);
    fs::remove(ogb.folder.path() / "split/time/train.csv.gz");
    ogb.folder.write("split/time/split_dict.pt", "PK");
    expect_error(ErrorCode::missing_input, {"split/time/train.csv: not found", "pickles (.pt) are never loaded"},
                 [&] { ogb.open({.split = "time"}); });
}

TEST(OgbBinaryFolder, BadArrays) {
    BinaryFolder ogb;
    const std::vector<Array> good = ogb.data;
    const auto expect_bad = [&](const Array& array, const std::vector<std::string>& parts) {
        ogb.data = good;
        ogb.replace(array);
        expect_error(ErrorCode::data, parts, [&] { ogb.open(); });
    };
    expect_bad({"num_edges_list", "<i8", {1}, bytes_of<I64>({3})},
               {"raw/data.npz:edge_index: there are 2 edges, and num_edges_list says 3"});
    expect_bad({"num_nodes_list", "<i8", {2}, bytes_of<I64>({2, 2})}, {"num_nodes_list", "several graphs"});
    expect_bad({"num_nodes_list", "<i8", {1}, bytes_of<I64>({2})}, {"edge_index: vertex id 2 is out of range"});
    expect_bad({"num_nodes_list", "<i8", {1}, bytes_of<I64>({7})},
               {"node_feat: the graph has 7 vertices, but there are features for 4"});
    expect_bad({"node_feat", "<i8", {4, 1}, bytes_of<I64>({1, 2, 3, 4})},
               {"node_feat: float16, bfloat16, float32 or float64"});
    ogb.data = good;
    ogb.labels[0].name = "label";
    ogb.write();
    expect_error(ErrorCode::data, {"node-label.npz", "looked for the array node_label", "its arrays: label"},
                 [&] { ogb.open(); });
}

// The archive by itself has no labels, but its folder has them.
TEST(OgbBinaryFolder, TheArchiveAloneIsToldOfItsFolder) {
    const BinaryFolder ogb;
    const fs::path archive = ogb.folder.path() / "raw/data.npz";
    const Dataset d = open_dataset(archive, {.generate_classes = 3});
    EXPECT_EQ(d.vertices(), 4);
    EXPECT_EQ(d.features(), 1);
    EXPECT_THAT(d.report().describe(), testing::HasSubstr("node_year int64 [4, 1], the OGB folder " +
                                                          ogb.folder.path().string() + " (to be given"));
    expect_error(ErrorCode::usage, {"labels, the split would be generated", ogb.folder.path().string()},
                 [&] { check_generated(d.report()); });
}

TEST(OgbFolder, AFileOfItIsToldOfTheFolder) {
    const TempFolder folder;
    const fs::path edges = folder.write("raw/edge.csv.gz", "0,1\n1,2\n");
    EXPECT_TRUE(open_dataset(edges).report().leftovers.unread.empty());
    folder.write("raw/node-feat.csv.gz", "1\n2\n3\n");
    const Dataset d = open_dataset(edges, {.generate_features = 2});
    expect_error(ErrorCode::usage, {"features would be generated", "the OGB folder " + folder.path().string()},
                 [&] { check_generated(d.report()); });
}

TEST(OgbFolder, FilesThatAreNotReadAreNamed) {
    const TempFolder folder;
    folder.write("raw/edge.csv", "0,1\n1,2\n");
    folder.write("raw/num-node-list.csv", "3\n");
    folder.write("raw/features.csv.gz", "1\n2\n3\n");
    folder.write("raw/node-label.csv", "0\n1\n1\n");
    folder.write("split/train.csv", "0\n");
    const Dataset d = open_dataset(folder.path(), {.generate_features = 2});
    EXPECT_THAT(d.report().describe(), testing::HasSubstr(" Not read: raw/features.csv.gz, split/train.csv."));
    expect_error(ErrorCode::usage,
                 {"features, the split would be generated", "raw/features.csv.gz, split/train.csv",
                  "save features as raw/node-feat.csv, the split as split/NAME/train.csv", "`generate`"},
                 [&] { check_generated(d.report()); });
}

TEST(Readers, AFolderWithoutAGraphIsListed) {
    const TempFolder folder;
    folder.write("adj_full.npz", "PK");
    folder.write("role.json", "{}");
    expect_error(ErrorCode::missing_input,
                 {"raw/edge.csv, raw/data.npz and edge_index.npy; it holds adj_full.npz, role.json"},
                 [&] { open_dataset(folder.path()); });
}

}  // namespace
}  // namespace gnnplan::data
