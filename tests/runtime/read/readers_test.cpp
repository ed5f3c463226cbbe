#include "runtime/read/readers.hpp"

#include "tests/support/test_files.hpp"

#include <functional>

namespace gnnplan::data {
namespace {

using files::expect_error;
using files::TempFolder;

std::string form_of(const std::filesystem::path& path) { return find_reader(path).name; }

std::filesystem::path write_archive(const TempFolder& folder) {
    return files::write_npz(folder, {{"edge_index", "<i8", {2, 1}, files::bytes_of<std::int64_t>({0, 1})}});
}

TEST(Readers, AreFoundByThePathAndTheFirstBytes) {
    const TempFolder folder;
    folder.write("ogb/raw/edge.csv", "0,1\n");
    EXPECT_EQ(form_of(folder.path() / "ogb"), "OGB raw folders");
    EXPECT_EQ(form_of(write_archive(folder)), ".npz archives");
    EXPECT_EQ(form_of(folder.write("banner.txt.gz", "%%MatrixMarket matrix")), "Matrix Market");
    EXPECT_EQ(form_of(folder.write("lower", "%%matrixmarket")), "Matrix Market");
    for (const char* banner : {"%%MATRIXMARKET matrix", "%MatrixMarket matrix", "\n \t%%MatrixMarket  MATRIX",
                               "\xEF\xBB\xBF%%MatrixMarket matrix", "MatrixMarket matrix"}) {
        EXPECT_EQ(form_of(folder.write("banner.txt", banner)), "Matrix Market") << banner;
        EXPECT_EQ(form_of(folder.write("banner.csv.gz", banner)), "Matrix Market") << banner;
    }
    EXPECT_EQ(form_of(folder.write("word.txt", "# made of MatrixMarket\n0 1\n")), "SNAP and CSV edge lists");
    EXPECT_EQ(form_of(folder.write("konect.txt", "% sym unweighted\n1 2\n")), "SNAP and CSV edge lists");
    for (const char* name : {"a.graph", "a.metis", "a.graph.gz", "a.metis.gz"})
        EXPECT_EQ(form_of(folder.write(name, "% comment\n2 1\n2\n1\n")), "METIS graphs") << name;
    EXPECT_EQ(form_of(folder.write("snap.graph", "# Nodes: 2\n0 1\n")), "SNAP and CSV edge lists");
    EXPECT_EQ(form_of(folder.write("named.mtx", "1 2\n")), "Matrix Market");
    EXPECT_EQ(form_of(folder.write("named.mtx.gz", "1 2\n")), "Matrix Market");
    EXPECT_EQ(form_of(folder.write("edges.csv", "0,1\n")), "SNAP and CSV edge lists");
    EXPECT_EQ(form_of(folder.write("empty", "")), "SNAP and CSV edge lists");
}

// The content of a file goes before its name, and bytes are no form of text.
TEST(Readers, AFileOfBytesIsNoMatrixMarketByItsName) {
    const TempFolder folder;
    const auto archive = folder.path() / "archive.mtx";
    std::filesystem::copy_file(write_archive(folder), archive);
    EXPECT_EQ(form_of(archive), ".npz archives");
    expect_error(ErrorCode::data, {"lone .npy"}, [&] { form_of(folder.write("array.mtx", "\x93NUMPY")); });
    expect_error(ErrorCode::data, {"binary file"}, [&] { form_of(folder.write("bytes.mtx", std::string("a\0b", 3))); });
}

TEST(Readers, TextOfWideCharactersIsNamed) {
    const TempFolder folder;
    const std::string plain("0\0 \0001\0\n\0", 8);
    for (const std::string& text : {"\xFF\xFE" + plain, plain, "\xFE\xFF" + plain.substr(1) + "0"}) {
        expect_error(ErrorCode::data, {"UTF-16", "save it as UTF-8"}, [&] { form_of(folder.write("wide.txt", text)); });
    }
}

TEST(Readers, FilesOfOtherProgramsAreToldTheWayOut) {
    const TempFolder folder;
    const std::string zip("PK\3\4\0\0", 6);
    const std::vector<std::vector<std::string>> cases = {
        {"PAR1\x15\x04\x15 and no zero byte", "a Parquet file", "pandas.read_parquet", "edge_index="},
        {std::string("ARROW1\0\0", 8), "an Arrow file", "pandas.read_feather"},
        {"\x89HDF\r\n\x1a\n and no zero byte", "an HDF5 file", "h5py"},
        {"MATLAB 5.0 MAT-file, Platform: GLNXA64", "a MATLAB file", "scipy.io.loadmat"},
        {zip + "graph/data.pkl", "a PyTorch file", "never loaded", "edge_index=data.edge_index"}};
    for (const auto& parts : cases) {
        expect_error(ErrorCode::data, {parts.begin() + 1, parts.end()},
                     [&] { form_of(folder.write("edges.txt", parts.front())); });
    }
    EXPECT_EQ(form_of(folder.write("a.npz", zip + "data.npy")), ".npz archives");
}

TEST(Readers, FoldersOfOtherProgramsAreToldTheWayOut) {
    const TempFolder folder;
    folder.write("pq/part-0.parquet", "PAR1");
    folder.write("dgl/metadata.yaml", "dataset_name: x\n");
    expect_error(ErrorCode::missing_input, {"it holds part-0.parquet: a Parquet file", "pandas.read_parquet"},
                 [&] { form_of(folder.path() / "pq"); });
    expect_error(ErrorCode::missing_input, {"an on-disk data set of DGL", "link its arrays", "edge_index.npy"},
                 [&] { form_of(folder.path() / "dgl"); });
    folder.write("dgl/edge_index.npy", "");
    EXPECT_EQ(form_of(folder.path() / "dgl"), "folders of .npy arrays");
}

TEST(Readers, TheListOfKnownFormsIsTheTable) {
    expect_error(ErrorCode::missing_input,
                 {"known are OGB raw folders, OGB binary raw folders, folders of .npy arrays, .npz archives, Matrix "
                  "Market, METIS graphs, SNAP and "
                  "CSV edge lists, gzipped or not"},
                 [] { form_of("/nowhere/at/all"); });
}

TEST(Readers, FormsWithoutFeaturesAndLabelsHaveNone) {
    const TempFolder folder;
    const auto path = folder.write("edges.txt", "0 1\n");
    const Reader& reader = find_reader(path);
    EXPECT_EQ(open_features(reader, path, 2), nullptr);
    EXPECT_TRUE(read_supervision(reader, path, "", 2).label.empty());
    expect_error(ErrorCode::usage, {"named splits"}, [&] { read_supervision(reader, path, "time", 2); });
    const auto archive = write_archive(folder);
    expect_error(ErrorCode::usage, {"named splits"},
                 [&] { read_supervision(find_reader(archive), archive, "time", 2); });
}

}  // namespace
}  // namespace gnnplan::data
