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
    const auto refused = [&](const std::string& bytes, const std::string& what, const std::string& hint) {
        expect_error(ErrorCode::data, {"file: " + what, hint}, [&] { form_of(folder.write("file", bytes)); });
        expect_error(ErrorCode::data, {what}, [&] { form_of(folder.write("zipped.gz", bytes)); });
    };
    refused("PAR1 and more", "a Parquet file", "pandas.read_parquet(FILE)");
    refused("ARROW1", "an Arrow (Feather) file", "pandas.read_feather(FILE)");
    refused("\x89HDF\r\n\x1a\n", "an HDF5 file", "h5py.File(FILE)");
    refused("MATLAB 5.0 MAT-file, Platform", "a MATLAB file", "scipy.sparse.save_npz");
    refused("\x3F\xA1\xB4\x46\xF0\x4F\x2E\xDD", "a file of dgl.save_graphs (.bin)", "dgl.load_graphs(FILE)");
    refused("name.mtx" + std::string(249, '\0') + "ustar", "a tar archive", "tar -xf FILE");
    refused("BZh91AY&SY", "a bzip2 file", "bunzip2 FILE");
    refused(std::string("\xFD"
                        "7zXZ\0",
                        6),
            "an xz file", "unxz FILE");
    refused("\x28\xB5\x2F\xFD", "a Zstandard file", "unzstd FILE");
    refused("7z\xBC\xAF\x27\x1C", "a 7-Zip archive", "7z x FILE");
    refused("PK\x03\x04" + std::string(22, '\0') + '\x0D' + std::string(3, '\0') + "data/data.pkl and more",
            "a file of torch.save (.pt)", "torch.load(FILE");
}

TEST(Readers, TheFolderThatWasMeantIsNamed) {
    const TempFolder folder;
    const auto hint = [&](const std::string& given, const std::string& text) {
        expect_error(ErrorCode::missing_input, {"no graph in this folder", text},
                     [&] { form_of(folder.path() / given); });
    };
    const auto in = [&](const std::string& meant) { return "there is one in " + (folder.path() / meant).string(); };
    folder.write("igb/processed/paper__cites__paper/edge_index.npy", "");
    hint("igb", in("igb/processed") + ": give that path");
    folder.write("arxiv/raw/edge.csv.gz", "0,1\n");
    folder.write("arxiv/split/time/train.csv", "0\n");
    hint("arxiv/raw", in("arxiv"));
    hint("arxiv/split", in("arxiv"));
    folder.write("papers/raw/data.npz", "");
    hint("papers/raw", in("papers"));
    folder.write("pq/part-0.parquet", "PAR1");
    hint("pq", "there is a Parquet file: save its edges as CSV");
    for (const char* place : {"disk/metadata.yaml", "made/preprocessed/metadata.yaml"}) {
        folder.write(place, "graph:\n");
        hint(std::filesystem::path(place).begin()->string(), "an OnDiskDataset of DGL");
    }
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
