// Folders of .npy files are read as archives of these arrays are.
#include "runtime/data/dataset.hpp"
#include "tests/support/test_files.hpp"

#include <gmock/gmock.h>

namespace gnnplan::data {
namespace {

using files::Array;
using files::bytes_of;
using files::expect_error;
using files::npy_bytes;
using files::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using I64 = std::int64_t;

Array edges() { return {"edge_index", "<i8", {3, 2}, bytes_of<I64>({0, 1, 1, 2, 2, 0})}; }
Array features() { return {"node_feat", "<f4", {3, 2}, bytes_of<float>({1, 2, 3, 4, 5, 6})}; }

void save(const TempFolder& folder, const std::string& place, const Array& array) {
    folder.write(place + array.name + ".npy", npy_bytes(array));
}

Dataset open(const TempFolder& folder) {
    DatasetOptions options;
    options.preparation.add_self_loops = false;
    return open_dataset(folder.path(), options);
}

TEST(NpyFolder, ArraysAreCalledByTheirFiles) {
    const TempFolder folder;
    save(folder, "", edges());
    save(folder, "", features());
    save(folder, "", {"y", "<i8", {3}, bytes_of<I64>({0, 1, 1})});
    save(folder, "", {"train_mask", "|b1", {3}, std::string("\1\0\1", 3)});
    const Dataset data = open(folder);
    EXPECT_EQ(data.vertices(), 3);
    EXPECT_EQ(data.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2, 0}));
    EXPECT_EQ(data.features(), 2);
    EXPECT_EQ(data.classes(), 2);
    EXPECT_THAT(data.subset(), ElementsAre(train, unused, train));
    EXPECT_THAT(data.report().describe(), HasSubstr("folder of .npy arrays"));
}

// IGB's folders, with its name of the labels.
TEST(NpyFolder, KindsOfVerticesAndEdgesHaveFolders) {
    const TempFolder folder;
    save(folder, "paper__cites__paper/", edges());
    save(folder, "paper/", features());
    save(folder, "paper/", {"node_label_19", "<f4", {3}, bytes_of<float>({0, 1, 1})});
    const Dataset data = open(folder);
    EXPECT_EQ(data.features(), 2);
    EXPECT_EQ(data.classes(), 2);
}

TEST(NpyFolder, SeveralKindsAreNoGraph) {
    const TempFolder folder;
    save(folder, "author__writes__paper/", edges());
    save(folder, "paper__cites__paper/", edges());
    expect_error(ErrorCode::data,
                 {"two arrays of the name edge_index", "author__writes__paper/edge_index.npy",
                  "paper__cites__paper/edge_index.npy", "one kind of vertices"},
                 [&] { open(folder); });
}

TEST(NpyFolder, ArraysAreCheckedAsThoseOfArchives) {
    const TempFolder folder;
    save(folder, "", {"edge_index", "<i8", {2, 2}, bytes_of<I64>({0, 1, 2})});
    expect_error(ErrorCode::data, {"edge_index.npy: the header promises int64 [2, 2], 32 bytes, but 24 bytes follow"},
                 [&] { open(folder); });
}

// Large arrays of IGB are such.
TEST(NpyFolder, AnArrayWithoutItsHeaderIsToldHowToGetOne) {
    const TempFolder folder;
    save(folder, "", edges());
    folder.write("node_feat.npy", features().bytes);
    expect_error(ErrorCode::data,
                 {"node_feat.npy: is not an .npy array", "files of np.memmap have no header", "np.save("},
                 [&] { open(folder); });
}

TEST(NpyFolder, FilesOfOtherFormsThatMayHoldTheSplitAreNamed) {
    const TempFolder folder;
    save(folder, "", edges());
    save(folder, "", {"y", "<i8", {3}, bytes_of<I64>({0, 1, 1})});
    folder.write("README.md", "of MAG240M");
    folder.write("split_dict.pt", "PK");
    const Dataset data = open(folder);
    EXPECT_THAT(data.report().describe(), HasSubstr("Not read: split_dict.pt."));
    expect_error(ErrorCode::usage, {"the split would be generated", "split_dict.pt"},
                 [&] { check_generated(data.report()); });
}

TEST(NpyFolder, FoldersWithoutEdgesAreNoGraph) {
    const TempFolder folder;
    save(folder, "", features());
    expect_error(ErrorCode::missing_input, {"no graph in this folder", "edge_index.npy", "it holds node_feat.npy"},
                 [&] { open(folder); });
}

}  // namespace
}  // namespace gnnplan::data
