#include "runtime/data/dataset.hpp"

#include "tests/support/test_files.hpp"

#include <sys/stat.h>

#include <cmath>
#include <limits>

namespace gnnplan::data {
namespace {

using files::Array;
using files::bytes_of;
using files::expect_error;
using files::TempFolder;

using I64 = std::int64_t;

// Three vertices; any array can be replaced.
std::vector<Array> arrays() {
    return {{"edge_index", "<i8", {2, 3}, bytes_of<I64>({0, 1, 2, 1, 2, 0})},
            {"x", "<f4", {3, 2}, bytes_of<float>({1, 2, 3, 4, 5, 6})},
            {"y", "<i8", {3}, bytes_of<I64>({0, 1, 1})},
            {"train_idx", "<i8", {1}, bytes_of<I64>({0})},
            {"valid_idx", "<i8", {1}, bytes_of<I64>({1})},
            {"test_idx", "<i8", {1}, bytes_of<I64>({2})}};
}

std::vector<Array> with(Array array) {
    std::vector<Array> all = arrays();
    std::erase_if(all, [&](const Array& a) { return a.name == array.name; });
    all.push_back(std::move(array));
    return all;
}

Dataset open_arrays(const TempFolder& folder, const std::vector<Array>& all, bool edge_weights = false) {
    DatasetOptions options;
    options.preparation.add_self_loops = false;
    options.preparation.edge_weights = edge_weights;
    return open_dataset(files::write_npz(folder, all), options);
}

void expect_bad(const std::vector<Array>& all, const std::vector<std::string>& parts) {
    const TempFolder folder;
    expect_error(ErrorCode::data, parts, [&] {
        Dataset d = open_arrays(folder, all);
        d.cache_features();
    });
}

TEST(Npz, ReadsWeightsOfEdges) {
    const TempFolder folder;
    const kernels::LargeVector<float> expected{0.5F, 2, -3};
    for (const Array& weights : {Array{"edge_weight", "<f4", {3}, bytes_of<float>({0.5F, 2, -3})},
                                 Array{"edge_weight", "<f8", {3, 1}, bytes_of<double>({0.5, 2, -3})}}) {
        const Dataset d = open_arrays(folder, with(weights), true);
        EXPECT_TRUE(d.report().weighted);
        EXPECT_EQ(d.report().edge_values_ignored, 0);
        EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2, 0}));
        EXPECT_EQ(d.graph().out.weight, expected);
        const Dataset plain = open_arrays(folder, with(weights));
        EXPECT_EQ(plain.report().edge_values_ignored, 3);
        EXPECT_TRUE(plain.graph().out.weight.empty());
        EXPECT_NE(plain.fingerprint(), d.fingerprint());
        EXPECT_EQ(plain.fingerprint(), open_arrays(folder, arrays()).fingerprint());
    }
    const Array integers{"edge_weight", "<i8", {3}, bytes_of<I64>({5, 6, 7})};
    EXPECT_EQ(open_arrays(folder, with(integers), true).graph().out.weight, (kernels::LargeVector<float>{5, 6, 7}));
}

TEST(Npz, ReadsWeightsOfPairsStoredTogether) {
    const TempFolder folder;
    Array pairs{"edge_index", "<i8", {2, 3}, bytes_of<I64>({2, 0, 0, 1, 1, 2})};
    pairs.fortran_order = true;
    std::vector<Array> all = with(pairs);
    all.push_back({"edge_weight", "<f4", {3}, bytes_of<float>({7, 8, 9})});
    EXPECT_EQ(open_arrays(folder, all, true).graph().out.weight, (kernels::LargeVector<float>{8, 9, 7}));
}

TEST(Npz, RefusesBadWeightsOfEdges) {
    const auto expect_bad_weights = [](const std::vector<Array>& all, const std::vector<std::string>& parts) {
        const TempFolder folder;
        expect_error(ErrorCode::data, parts, [&] { open_arrays(folder, all, true); });
    };
    expect_bad_weights(arrays(), {"no weights of edges: looked for the array edge_weight", "its arrays: edge_index"});
    expect_bad_weights(with({"edge_weight", "<f4", {2}, bytes_of<float>({1, 2})}),
                       {"edge_weight", "one weight for each of the 3 edges expected, found float32 [2]"});
    expect_bad_weights(with({"edge_weight", "<f4", {4}, bytes_of<float>({1, 2, 3, 4})}), {"found float32 [4]"});
    expect_bad_weights(with({"edge_weight", "<f4", {3, 2}, bytes_of<float>({1, 2, 3, 4, 5, 6})}),
                       {"found float32 [3, 2]"});
    expect_bad_weights(with({"edge_weight", "<f4", {3}, bytes_of<float>({1, std::nanf(""), 2})}),
                       {"edge_weight", "the weight of edge 1 (counted from 0) is not finite"});
    expect_bad_weights(with({"edge_weight", "<f8", {3}, bytes_of<double>({1, 2, 1e300})}),
                       {"the weight of edge 2 (counted from 0) is not finite (or beyond float32)"});
    expect_bad_weights(with({"edge_weight", "|b1", {3}, std::string("\1\0\1", 3)}),
                       {"float32, float64 or integers expected as weights"});
}

TEST(Npz, ReadsEverything) {
    const TempFolder folder;
    const Dataset d = open_arrays(folder, arrays());
    EXPECT_EQ(d.report().format, "NumPy .npz data set");
    EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2, 0}));
    EXPECT_EQ(d.labels(), (std::vector<std::int32_t>{0, 1, 1}));
    EXPECT_EQ(d.subset(), (std::vector<std::uint8_t>{train, valid, test}));
    std::vector<float> x(6);
    d.read_features({0, 3}, {0, 2}, x.data(), 2);
    EXPECT_EQ(x, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Npz, OtherTypesMeanTheSame) {
    const TempFolder folder;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Dataset d = open_arrays(folder, {{"edge_index", "<i4", {2, 2}, bytes_of<std::int32_t>({0, 1, 1, 2})},
                                           {"x", "<f8", {3, 1}, bytes_of<double>({0.5, 1.5, -2})},
                                           {"y", "<f8", {3, 1}, bytes_of<double>({1, nan, 0})},
                                           {"train_mask", "|b1", {3}, std::string("\1\0\1", 3)},
                                           {"val_mask", "|b1", {3}, std::string("\0\1\0", 3)}});
    EXPECT_EQ(d.labels(), (std::vector<std::int32_t>{1, -1, 0}));
    EXPECT_EQ(d.subset(), (std::vector<std::uint8_t>{train, valid, train}));
    std::vector<float> x(3);
    d.read_features({0, 3}, {0, 1}, x.data(), 1);
    EXPECT_EQ(x, (std::vector<float>{0.5F, 1.5F, -2}));
}

TEST(Npz, EdgeIndexInFortranOrderIsStoredPairByPair) {
    const TempFolder folder;
    const Dataset d = open_arrays(folder, {{"edge_index", "<i8", {2, 2}, bytes_of<I64>({0, 2, 1, 0}), true}});
    EXPECT_EQ(d.graph().out.row_start, (std::vector<I64>{0, 1, 2, 2}));
    EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{2, 0}));
    expect_bad(with({"x", "<f4", {3, 1}, bytes_of<float>({1, 2, 3}), true}),
               {"x: is stored in Fortran order", "ascontiguousarray"});
}

TEST(Npz, NumberOfVertices) {
    const TempFolder folder;
    const Array edges = {"edge_index", "<i8", {2, 1}, bytes_of<I64>({0, 1})};
    EXPECT_EQ(open_arrays(folder, {edges}).vertices(), 2);
    EXPECT_EQ(open_arrays(folder, {edges, {"num_nodes", "<i8", {}, bytes_of<I64>({5})}}).vertices(), 5);
    EXPECT_EQ(open_arrays(folder, {edges, {"num_nodes", "<i4", {1}, bytes_of<std::int32_t>({6})}}).vertices(), 6);
}

TEST(Npz, BadEdges) {
    expect_bad(
        with({"edge_index", "<i8", {2, 1}, bytes_of<I64>({0, 3})}),
        {"graph.npz:edge_index: vertex id 3 is out of range: it must be below 3 (x has 3 rows, one for each vertex)"});
    expect_bad(with({"num_nodes", "<i8", {}, bytes_of<I64>({2})}),
               {"vertex id 2 is out of range: it must be below 2 (num_nodes says how many vertices there are)"});
    expect_bad(with({"edge_index", "<i8", {2, 1}, bytes_of<I64>({-1, 0})}), {"edge_index: vertex id -1 is negative"});
    expect_bad(with({"edge_index", "<u8", {2, 1}, bytes_of<std::uint64_t>({0, 1ULL << 63U})}),
               {"edge_index: holds 9223372036854775808"});
    expect_bad(with({"edge_index", "<f4", {2, 1}, bytes_of<float>({0, 1})}),
               {"edge_index: integers expected, found float32 [2, 1]"});
    expect_bad(with({"edge_index", "<i8", {1, 3}, bytes_of<I64>({0, 1, 2})}),
               {"edge_index: [2, E] expected, found int64 [1, 3]"});
    expect_bad({{"edge_index", "<i8", {2, 0}, ""}}, {"the graph has no vertices"});
    expect_bad({{"edge_index", "<i8", {2, 1}, bytes_of<I64>({0, 1LL << 40})}},
               {"edge_index: vertex id 1099511627776 is out of range"});
    expect_bad({{"adjacency", "<i8", {1}, bytes_of<I64>({0})}}, {"neither edge_index", "its arrays: adjacency"});
}

TEST(Npz, HeaderLies) {
    expect_bad(with({"edge_index", "<i8", {2, 4}, bytes_of<I64>({0, 1, 2, 1, 2, 0})}),
               {"edge_index: the header promises int64 [2, 4], 64 bytes, but 48"});
    expect_bad(with({"x", "<f4", {3, 1LL << 40}, bytes_of<float>({1})}), {"x: the header promises"});
    expect_bad(with({"x", "<f4", {1LL << 40, 1LL << 40}, ""}),
               {"x: the header promises an array of 2^63 bytes or more"});
    expect_bad(with({"y", "<i8", {2}, bytes_of<I64>({0, 1, 1})}), {"y: the header promises"});
    expect_bad(with({"x", "<f4", {-3, 2}, ""}), {"x: malformed .npy header: the shape"});
    expect_bad(with({"x", "<q4", {3, 2}, ""}), {"x: malformed .npy header: unknown type"});
}

TEST(Npz, NeverLoadsPickles) {
    expect_bad(with({"y", "|O", {3}, "\x80\x04..."}), {"y: is an object array", "pickle", "astype"});
}

TEST(Npz, BadFeatures) {
    const float inf = std::numeric_limits<float>::infinity();
    expect_bad(with({"x", "<f4", {3, 1}, bytes_of<float>({1, inf, 2})}), {"x: feature 0 of vertex 1 is not finite"});
    expect_bad(with({"x", "<f8", {3, 1}, bytes_of<double>({1, 1e300, 2})}), {"x: feature 0 of vertex 1 is not finite"});
    expect_bad(with({"x", "<i8", {3, 1}, bytes_of<I64>({1, 2, 3})}),
               {"x: float16, bfloat16, float32 or float64 expected"});
    expect_bad(with({"x", "<f4", {6}, bytes_of<float>({1, 2, 3, 4, 5, 6})}), {"x: 2 dimension(s) expected"});
    expect_bad(with({"num_nodes", "<i8", {}, bytes_of<I64>({4})}),
               {"x: the graph has 4 vertices, but there are features for 3"});
    expect_bad(with({"x", "<f4", {3, 0}, ""}), {"x: has no columns"});
}

TEST(Npz, BadLabelsAndSplits) {
    expect_bad(with({"y", "<i8", {3}, bytes_of<I64>({0, -1, 1})}), {"y: vertex 1: label -1 is negative"});
    const double inf = std::numeric_limits<double>::infinity();
    expect_bad(with({"y", "<f8", {3}, bytes_of<double>({0, -inf, 1})}), {"y: vertex 1: label -inf is negative"});
    expect_bad(with({"y", "<f8", {3}, bytes_of<double>({0, inf, 1})}), {"y: vertex 1: label inf is out of range"});
    expect_bad(with({"y", "<f8", {3}, bytes_of<double>({0, -1e300, 1})}), {"y: vertex 1: label -1e+300 is negative"});
    expect_bad(with({"y", "<i8", {2}, bytes_of<I64>({0, 1})}), {"y: 3 labels expected"});
    expect_bad(with({"y", "<i8", {3, 2}, bytes_of<I64>({0, 1, 0, 1, 0, 2})}),
               {"y: vertex 2: label 1 is 2, not 0, 1 or nan"});
    expect_bad(with({"y", "<i8", {2, 2}, bytes_of<I64>({0, 1, 0, 1})}), {"y: 3 labels expected, found int64 [2, 2]"});
    expect_bad(with({"y", "<i8", {3, 1, 2}, bytes_of<I64>({0, 1, 0, 1, 0, 1})}),
               {"y: one class per vertex, [N] or [N, 1], or several labels, [N, C], expected"});
    expect_bad(with({"y", "<f4", {3}, bytes_of<float>({0, 0.5F, 1})}), {"y: vertex 1: label 0.5", "not an integer"});
    expect_bad(with({"test_idx", "<i8", {1}, bytes_of<I64>({3})}), {"test_idx: vertex 3 is out of range"});
    expect_bad(with({"test_idx", "<i8", {1}, bytes_of<I64>({-1})}), {"test_idx: vertex -1 is out of range"});
    expect_bad(with({"test_idx", "<i8", {1}, bytes_of<I64>({0})}),
               {"test_idx: vertex 0 is in both the train and the test set"});
    std::vector<Array> masked = arrays();
    masked.back() = {"test_mask", "|b1", {2, 3}, std::string(6, '\1')};
    expect_bad(masked, {"test_mask: bool [3] expected, found bool [2, 3] (save its transpose"});
}

TEST(Npz, DamagedArchive) {
    const TempFolder folder;
    const auto path = files::write_npz(folder, arrays());
    const std::string whole = files::read_bytes(path);
    files::write_bytes(path, whole.substr(0, whole.size() - 100));
    expect_error(ErrorCode::data, {"graph.npz: cannot open the archive", "cut short or damaged: download"},
                 [&] { open_dataset(path); });
    std::string damaged = whole;
    damaged[whole.find("edge_index.npy") + 60] ^= '\x55';
    files::write_bytes(path, damaged);
    expect_error(ErrorCode::data, {"graph.npz:edge_index"}, [&] { open_dataset(path); });
}

// NumPy would take the second, libzip the first.
TEST(Npz, TwoMembersOfOneName) {
    const TempFolder folder;
    const auto path = files::write_npz(folder, with({"z", "<i8", {3}, bytes_of<I64>({1, 0, 0})}));
    std::string bytes = files::read_bytes(path);
    for (std::size_t at = bytes.find("z.npy"); at != std::string::npos; at = bytes.find("z.npy", at)) bytes[at] = 'y';
    files::write_bytes(path, bytes);
    expect_error(ErrorCode::data, {"graph.npz:y.npy: the archive holds two members of this name"},
                 [&] { open_dataset(path); });
}

TEST(Npz, WithoutATrainingVertexNothingCanBeTrained) {
    const TempFolder folder;
    std::vector<Array> all = arrays();
    std::erase_if(all, [](const Array& array) { return array.name == "train_idx"; });
    const Dataset d = open_arrays(folder, all);
    expect_error(ErrorCode::data, {"graph.npz: the split has no training vertices"}, [&] { check_training_set(d); });
}

TEST(Input, IsARegularFile) {
    const TempFolder folder;
    const std::string pipe = folder.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& path : {pipe, std::string("/dev/zero")}) {
        expect_error(ErrorCode::missing_input, {path + ": is not a regular file"}, [&] { open_dataset(path); });
    }
}

std::vector<Array> scipy(const std::string& format) {
    return {{"indptr", "<i4", {4}, bytes_of<std::int32_t>({0, 2, 2, 3})},
            {"indices", "<i4", {3}, bytes_of<std::int32_t>({2, 1, 0})},
            {"data", "<f8", {3}, bytes_of<double>({1, 1, 1})},
            {"shape", "<i8", {2}, bytes_of<I64>({3, 3})},
            {"format", "|S3", {}, format}};
}

TEST(ScipyCsr, IsAGraph) {
    const TempFolder folder;
    const Dataset d = open_arrays(folder, scipy("csr"));
    EXPECT_EQ(d.report().format, "SciPy CSR .npz");
    EXPECT_EQ(d.report().edge_values_ignored, 3);
    EXPECT_EQ(d.graph().out.row_start, (std::vector<I64>{0, 2, 2, 3}));
    EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2, 0}));
}

TEST(ScipyCsr, DataAreWeights) {
    const TempFolder folder;
    std::vector<Array> all = scipy("csr");
    all[2].bytes = bytes_of<double>({1, 2.5, -3});
    const Dataset d = open_arrays(folder, all, true);
    EXPECT_EQ(d.report().edge_values_ignored, 0);
    EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2, 0}));
    EXPECT_EQ(d.graph().out.weight, (kernels::LargeVector<float>{2.5F, 1, -3}));
    all.erase(all.begin() + 2);
    expect_error(ErrorCode::data, {"looked for the array data"}, [&] { open_arrays(folder, all, true); });
}

TEST(ScipyCsr, BadMatrices) {
    const auto replaced = [](const Array& array) {
        std::vector<Array> all = scipy("csr");
        for (Array& a : all) {
            if (a.name == array.name) a = array;
        }
        return all;
    };
    expect_bad(scipy("csc"), {"format: a SciPy matrix in 'csc' format"});
    expect_bad(replaced({"shape", "<i8", {2}, bytes_of<I64>({3, 4})}), {"shape: a 3 x 4 matrix"});
    expect_bad(replaced({"shape", "<i8", {2}, bytes_of<I64>({2, 2})}), {"indptr: 3 entries expected"});
    expect_bad(replaced({"indptr", "<i4", {4}, bytes_of<std::int32_t>({0, 2, 1, 3})}), {"indptr: entry 2 is 1"});
    expect_bad(replaced({"indptr", "<i4", {4}, bytes_of<std::int32_t>({0, 2, 2, 9})}), {"indptr: entry 3 is 9"});
    expect_bad(replaced({"indptr", "<i4", {4}, bytes_of<std::int32_t>({0, 1, 1, 2})}), {"indptr: ends before"});
    expect_bad(replaced({"indices", "<i4", {3}, bytes_of<std::int32_t>({2, 3, 0})}),
               {"indices: vertex id 3 is out of range"});
}

}  // namespace
}  // namespace gnnplan::data
