// Archives are read in the forms that programs write: types of numbers, masks, sparse matrices.
#include "runtime/data/dataset.hpp"
#include "tests/support/test_files.hpp"

#include <algorithm>
#include <cmath>

namespace gnnplan::data {
namespace {

using files::Array;
using files::bytes_of;
using files::expect_error;
using files::TempFolder;
using I64 = std::int64_t;

Array edges() { return {"edge_index", "<i8", {2, 3}, bytes_of<I64>({0, 1, 2, 1, 2, 0})}; }
Array labels() { return {"y", "<i8", {3}, bytes_of<I64>({0, 1, 1})}; }

Dataset open_arrays(const TempFolder& folder, const std::vector<Array>& all, const std::string& split = {}) {
    DatasetOptions options;
    options.preparation.add_self_loops = false;
    options.split = split;
    return open_dataset(files::write_npz(folder, all), options);
}

void expect_refused(const std::vector<Array>& all, ErrorCode code, const std::vector<std::string>& parts,
                    const std::string& split = {}) {
    const TempFolder folder;
    expect_error(code, parts, [&] {
        Dataset d = open_arrays(folder, all, split);
        d.cache_features();
    });
}

std::vector<float> features_of(const Dataset& d) {
    std::vector<float> x(static_cast<std::size_t>(d.vertices() * d.features()));
    d.read_features({0, d.vertices()}, {0, d.features()}, x.data(), d.features());
    return x;
}

template <class T>
std::string swapped(std::initializer_list<T> values) {
    std::string bytes = bytes_of(values);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(T))
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                     bytes.begin() + static_cast<std::ptrdiff_t>(i + sizeof(T)));
    return bytes;
}

// Rows of three vertices in another order, with ids of some type.
std::vector<Array> rows_with_ids(const std::string& type, const std::string& ids, std::int64_t count = 3) {
    return {edges(), {"x", "<f4", {3, 2}, bytes_of<float>({20, 21, 0, 1, 10, 11})}, {"x_ids", type, {count}, ids}};
}

TEST(NpzFeaturesWithIds, LieInAnyOrder) {
    const TempFolder folder;
    for (const bool stored : {true, false}) {
        const auto path = files::write_npz(folder, rows_with_ids("<i8", bytes_of<std::int64_t>({2, 0, 1})), stored);
        const Dataset d = open_dataset(path);
        EXPECT_TRUE(d.report().leftovers.unread.empty());
        EXPECT_EQ(features_of(d), (std::vector<float>{0, 1, 10, 11, 20, 21}));
        std::vector<float> some(2);
        d.read_features({1, 3}, {1, 2}, some.data(), 1);
        EXPECT_EQ(some, (std::vector<float>{11, 21}));
        EXPECT_EQ(d.feature_files() == nullptr, stored);
    }
    std::vector<Array> ogb = rows_with_ids("|u1", bytes_of<std::uint8_t>({1, 2, 0}));
    ogb[1].name = "node_feat", ogb[2].name = "node_feat_ids";
    EXPECT_EQ(features_of(open_arrays(folder, ogb)), (std::vector<float>{10, 11, 20, 21, 0, 1}));
}

TEST(NpzFeaturesWithIds, NameEachVertexOnce) {
    const auto refused = [](const std::vector<Array>& all, const std::vector<std::string>& parts) {
        expect_refused(all, ErrorCode::data, parts);
    };
    refused(rows_with_ids("<i8", bytes_of<std::int64_t>({2, 0, 2})),
            {"x_ids: vertex 2 has rows 0 and 2 (counted from 0) (each vertex has one)"});
    refused(rows_with_ids("<i8", bytes_of<std::int64_t>({2, 0, 3})), {"x_ids: vertex id 3 is out of range"});
    refused(rows_with_ids("<i8", bytes_of<std::int64_t>({2, 0, -1})), {"x_ids: vertex id -1 is negative"});
    refused(rows_with_ids("<i8", bytes_of<std::int64_t>({2, 0}), 2), {"x_ids: 2 ids of rows, but there are features"});
    refused(rows_with_ids("<f4", bytes_of<float>({2, 0, 1})), {"x_ids: integers expected, found float32 [3]"});
}

// 1, -2, 65504 (the largest), 2^-24 (the smallest), 2^-14 (the smallest that is normal), -0.
const std::initializer_list<std::uint16_t> halves = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x0400, 0x8000};
const std::vector<float> of_halves = {1, -2, 65504, 0x1p-24F, 0x1p-14F, 0};

// ml_dtypes stores bfloat16 as two bytes of no type: 1, -2, 2^127, 2^-126, 1.0078125, -0.
TEST(NpzTypes, FeaturesInBfloat16) {
    const TempFolder folder;
    const std::initializer_list<std::uint16_t> stored = {0x3F80, 0xC000, 0x7F00, 0x0080, 0x3F81, 0x8000};
    const std::vector<float> expected = {1, -2, 0x1p127F, 0x1p-126F, 1.0078125F, 0};
    EXPECT_EQ(features_of(open_arrays(folder, {edges(), {"x", "<V2", {3, 2}, bytes_of(stored)}})), expected);
    EXPECT_EQ(features_of(open_arrays(folder, {edges(), {"x", "|V2", {3, 2}, bytes_of(stored)}})), expected);
    expect_refused({edges(), {"x", "<V2", {3, 1}, bytes_of<std::uint16_t>({0, 0x7F80, 0})}}, ErrorCode::data,
                   {"feature 0 of vertex 1 is not finite"});
    expect_refused({edges(), {"x", "|V4", {3, 1}, bytes_of<float>({0, 1, 2})}}, ErrorCode::data,
                   {"unknown type '|V4'"});
}

TEST(NpzTypes, FeaturesOfHalfPrecision) {
    const TempFolder folder;
    EXPECT_EQ(features_of(open_arrays(folder, {edges(), {"x", "<f2", {3, 2}, bytes_of(halves)}})), of_halves);
    EXPECT_EQ(features_of(open_arrays(folder, {edges(), {"x", ">f2", {3, 2}, swapped(halves)}})), of_halves);
    for (const std::uint16_t bits : std::initializer_list<std::uint16_t>{0x7C00, 0xFC00, 0x7C01})
        expect_refused({edges(), {"x", "<f2", {3, 1}, bytes_of<std::uint16_t>({0, bits, 0})}}, ErrorCode::data,
                       {"x: feature 0 of vertex 1 is not finite"});
}

TEST(NpzTypes, BigEndian) {
    const TempFolder folder;
    const Dataset d = open_arrays(folder, {{"edge_index", ">i4", {2, 2}, swapped<std::int32_t>({0, 1, 1, 2})},
                                           {"x", ">f4", {3, 1}, swapped<float>({1, -2.5F, 3})},
                                           {"y", ">f8", {3}, swapped<double>({1, std::nan(""), 0})},
                                           {"train_idx", ">i2", {1}, swapped<std::int16_t>({2})}});
    EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2}));
    EXPECT_EQ(features_of(d), (std::vector<float>{1, -2.5F, 3}));
    EXPECT_EQ(d.labels(), (std::vector<std::int32_t>{1, -1, 0}));
    EXPECT_EQ(d.subset(), (std::vector<std::uint8_t>{unused, unused, train}));
}

std::vector<Array> with_masks(const std::string& type, const std::vector<I64>& shape, const std::string& train_bytes,
                              const std::string& test_bytes) {
    return {edges(), labels(), {"train_mask", type, shape, train_bytes}, {"test_mask", type, shape, test_bytes}};
}

TEST(NpzMasks, OfOneColumnOrOfNumbers) {
    const TempFolder folder;
    const std::vector<std::uint8_t> expected{train, test, train};
    const std::string first("\1\0\1", 3), second("\0\1\0", 3);
    EXPECT_EQ(open_arrays(folder, with_masks("|b1", {3, 1}, first, second)).subset(), expected);
    EXPECT_EQ(open_arrays(folder, with_masks("|u1", {3}, first, second)).subset(), expected);
    EXPECT_EQ(
        open_arrays(folder, with_masks("<i8", {3, 1}, bytes_of<I64>({1, 0, 1}), bytes_of<I64>({0, 1, 0}))).subset(),
        expected);
    expect_refused(with_masks("|u1", {3}, std::string("\1\0\2", 3), second), ErrorCode::data,
                   {"train_mask: holds 2 for vertex 2: a mask is of 0 and 1"});
    expect_refused(with_masks("<f4", {3}, bytes_of<float>({1, 0, 1}), bytes_of<float>({0, 1, 0})), ErrorCode::data,
                   {"train_mask: bool [3] expected, found float32 [3]", "astype(bool)"});
    expect_refused(with_masks("|b1", {4}, std::string(4, '\1'), std::string(4, '\0')), ErrorCode::data,
                   {"train_mask: bool [3] expected, found bool [4]"});
    expect_refused(with_masks("|b1", {3, 0}, "", ""), ErrorCode::data, {"train_mask: has no columns"});
}

TEST(NpzMasks, OfSeveralColumnsAreSplitsByNumber) {
    const TempFolder folder;
    // Columns 0 and 1; the test mask is the same for both.
    std::vector<Array> all = with_masks("|b1", {3, 2}, std::string("\1\0\0\1\0\0", 6), "");
    all.back() = {"test_mask", "|b1", {3}, std::string("\0\0\1", 3)};
    EXPECT_EQ(open_arrays(folder, all, "0").subset(), (std::vector<std::uint8_t>{train, unused, test}));
    EXPECT_EQ(open_arrays(folder, all, "1").subset(), (std::vector<std::uint8_t>{unused, train, test}));
    expect_refused(all, ErrorCode::usage, {"train_mask: several splits", "bool [3, 2]", "`split 0 .. 1`"});
    for (const std::string split : {"2", "-1", "time", "1x"})
        expect_refused(all, ErrorCode::missing_input, {"no split '" + split + "'", "`split 0 .. 1`"}, split);
    all[2] = {"train_mask", "|b1", {3}, std::string("\1\0\0", 3)};
    expect_refused(all, ErrorCode::usage, {"named splits", "leave `split` out"}, "0");
}

TEST(NpzMasks, IdsMayBeAColumnOrAMaskByTheirType) {
    const TempFolder folder;
    EXPECT_EQ(open_arrays(folder, {edges(), labels(), {"train_idx", "<i8", {2, 1}, bytes_of<I64>({0, 2})}}).subset(),
              (std::vector<std::uint8_t>{train, unused, train}));
    EXPECT_EQ(open_arrays(folder, {edges(),
                                   labels(),
                                   {"train_idx", "|b1", {3}, std::string("\1\0\1", 3)},
                                   {"val_idx", "<i8", {1}, bytes_of<I64>({1})}})
                  .subset(),
              (std::vector<std::uint8_t>{train, valid, train}));
    expect_refused({edges(), labels(), {"val_idx", "|b1", {2}, std::string("\1\0", 2)}}, ErrorCode::data,
                   {"val_idx: bool [3] expected, found bool [2]"});
    expect_refused({edges(), labels(), {"train_idx", "<i8", {1, 2}, bytes_of<I64>({0, 2})}}, ErrorCode::data,
                   {"train_idx: 1 dimension(s) expected"});
}

TEST(NpzEdges, ListedPairByPair) {
    const Array pairs{"edge_index", "<i8", {3, 2}, bytes_of<I64>({0, 1, 1, 2, 2, 0})};
    const TempFolder folder;
    EXPECT_EQ(open_arrays(folder, {pairs}).graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2, 0}));
    const Array one{"edge_index", "<i8", {1, 2}, bytes_of<I64>({2, 0})};
    EXPECT_EQ(open_arrays(folder, {one, labels()}).graph().out.column, (kernels::LargeVector<std::int32_t>{0}));
    expect_refused({{"edge_index", "<i8", {3, 1}, bytes_of<I64>({0, 1, 1})}}, ErrorCode::data,
                   {"edge_index: [2, E] expected, found int64 [3, 1]"});
    const Dataset square = open_arrays(folder, {{"edge_index", "<i8", {2, 2}, bytes_of<I64>({0, 1, 2, 3})}});
    EXPECT_EQ(square.graph().out.column, (kernels::LargeVector<std::int32_t>{2, 3}));
    ASSERT_FALSE(square.report().hints.empty());
    EXPECT_THAT(square.report().hints.front(), testing::HasSubstr("an edge is a column"));
}

std::vector<Array> scipy_coo() {
    return {{"row", "<i4", {3}, bytes_of<std::int32_t>({0, 2, 0})},
            {"col", "<i4", {3}, bytes_of<std::int32_t>({2, 0, 1})},
            {"data", "<f8", {3}, bytes_of<double>({1, 2.5, -3})},
            {"shape", "<i8", {2}, bytes_of<I64>({4, 4})},
            {"format", "|S3", {}, "coo"}};
}

TEST(ScipyCoo, IsAGraph) {
    const TempFolder folder;
    const Dataset d = open_arrays(folder, scipy_coo());
    EXPECT_EQ(d.report().format, "SciPy COO .npz");
    EXPECT_EQ(d.vertices(), 4);
    EXPECT_EQ(d.report().edge_values_ignored, 3);
    EXPECT_EQ(d.graph().out.row_start, (std::vector<I64>{0, 2, 2, 3, 3}));
    EXPECT_EQ(d.graph().out.column, (kernels::LargeVector<std::int32_t>{1, 2, 0}));
    const Dataset weighted = open_dataset(files::write_npz(folder, scipy_coo()),
                                          {.preparation = {.add_self_loops = false, .edge_weights = true}});
    EXPECT_EQ(weighted.graph().out.weight, (kernels::LargeVector<float>{-3, 1, 2.5F}));
    std::vector<Array> bad = scipy_coo();
    bad[1] = {"col", "<i4", {2}, bytes_of<std::int32_t>({2, 0})};
    expect_refused(bad, ErrorCode::data, {"col: 3 entries expected, as row has, found int32 [2]"});
    bad[1] = {"col", "<i4", {3}, bytes_of<std::int32_t>({2, 4, 1})};
    expect_refused(bad, ErrorCode::data, {"col: vertex id 4 is out of range"});
}

TEST(ScipyMatrices, OfOtherFormatsAreToldTheWayOut) {
    for (const std::string format : {"dia", "csc", "bsr"})
        expect_refused({{"data", "<f8", {1, 3}, bytes_of<double>({1, 1, 1})},
                        {"offsets", "<i4", {1}, bytes_of<std::int32_t>({1})},
                        {"shape", "<i8", {2}, bytes_of<I64>({3, 3})},
                        {"format", "|S3", {}, format}},
                       ErrorCode::data, {"a SciPy matrix in '" + format + "' format", "tocsr()"});
    const TempFolder folder;
    std::vector<Array> unicode = scipy_coo();
    unicode.back() = {"format", ">U3", {}, std::string("\0\0\0c\0\0\0o\0\0\0o", 12)};
    EXPECT_EQ(open_arrays(folder, unicode).report().format, "SciPy COO .npz");
}

}  // namespace
}  // namespace gnnplan::data
