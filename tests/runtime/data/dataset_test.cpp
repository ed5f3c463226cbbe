#include "runtime/data/dataset.hpp"

#include "tests/support/test_files.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace gnnplan::data {
namespace {

using files::TempFolder;

constexpr std::int64_t n = 6;
constexpr std::int64_t f = 5;

std::vector<float> matrix() {
    std::vector<float> x(n * f);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7) % 11) - 5;
    std::fill_n(x.begin() + 2 * f, f, 0.0F);  // a row whose absolute values sum to 0
    return x;
}

std::filesystem::path write_npz_data(const TempFolder& folder) {
    return files::write_npz(folder, {{"edge_index", "<i8", {2, 1}, files::bytes_of<std::int64_t>({0, 1})},
                                     {"x", "<f4", {n, f}, files::bytes_of(matrix())}});
}

std::filesystem::path write_ogb_data(const TempFolder& folder) {
    folder.write("ogb/raw/edge.csv.gz", "0,1\n");
    folder.write("ogb/raw/num-node-list.csv.gz", std::to_string(n) + "\n");
    std::string text;
    const std::vector<float> x = matrix();
    for (std::size_t i = 0; i < x.size(); ++i) text += std::to_string(x[i]) + (i % f == f - 1 ? "\n" : ",");
    folder.write("ogb/raw/node-feat.csv.gz", text);
    return folder.path() / "ogb";
}

// Every slice of the features equals that of the whole matrix; elements outside it are left alone.
void expect_slices(const Dataset& dataset, const std::vector<float>& whole, const VertexOrder* order = nullptr) {
    const std::int64_t width = dataset.features();
    constexpr float untouched = -77;
    for (std::int64_t r0 = 0; r0 <= n; ++r0) {
        for (std::int64_t r1 = r0; r1 <= n; ++r1) {
            for (std::int64_t c0 = 0; c0 <= width; c0 += 2) {
                for (std::int64_t c1 = c0; c1 <= width; ++c1) {
                    const std::int64_t stride = c1 - c0 + 1;
                    std::vector<float> out(static_cast<std::size_t>((r1 - r0) * stride), untouched);
                    dataset.read_features({r0, r1}, {c0, c1}, out.data(), stride, order);
                    for (std::int64_t i = 0; i < static_cast<std::int64_t>(out.size()); ++i) {
                        const std::int64_t row = r0 + i / stride;
                        const std::int64_t column = c0 + i % stride;
                        const float expected =
                            column < c1 ? whole[static_cast<std::size_t>(row * width + column)] : untouched;
                        ASSERT_EQ(out[static_cast<std::size_t>(i)], expected) << row << ", " << column;
                    }
                }
            }
        }
    }
}

std::vector<float> all_features(const Dataset& dataset) {
    std::vector<float> x(static_cast<std::size_t>(dataset.vertices() * dataset.features()));
    dataset.read_features({0, dataset.vertices()}, {0, dataset.features()}, x.data(), dataset.features());
    return x;
}

TEST(Features, SlicesEqualTheMatrix) {
    const TempFolder folder;
    for (const auto& path : {write_npz_data(folder), write_ogb_data(folder)}) {
        Dataset dataset = open_dataset(path);
        expect_slices(dataset, matrix());
        dataset.cache_features();
        expect_slices(dataset, matrix());
        dataset.release_features();
        expect_slices(dataset, matrix());
    }
}

TEST(Features, RowNormalisationSeesTheWholeRow) {
    const TempFolder folder;
    std::vector<float> expected = matrix();
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < f; ++j) sum += std::abs(static_cast<double>(expected[i * f + j]));
        for (std::size_t j = 0; j < f && sum > 0; ++j) expected[i * f + j] *= static_cast<float>(1 / sum);
    }
    for (const auto& path : {write_npz_data(folder), write_ogb_data(folder)}) {
        Dataset dataset = open_dataset(path, {.feature_norm = FeatureNorm::row});
        expect_slices(dataset, expected);
        dataset.cache_features();
        expect_slices(dataset, expected);
    }
}

// Row i of the block is that of the vertex at position i, whatever the file's form; with row sums or without.
TEST(Features, AreReadInTheOrderAskedFor) {
    const TempFolder folder;
    VertexOrder order;
    order.vertex = {4, 2, 0, 5, 1, 3};
    order.position = {2, 4, 1, 5, 0, 3};
    const auto generated = folder.write("g.txt", "# Nodes: 6\n0 1\n");
    for (const auto& path : {write_npz_data(folder), write_ogb_data(folder), generated}) {
        for (const FeatureNorm norm : {FeatureNorm::none, FeatureNorm::row}) {
            Dataset dataset =
                open_dataset(path, {.generate_features = path == generated ? f : 0, .feature_norm = norm});
            const std::vector<float> whole = all_features(dataset);
            std::vector<float> expected;
            for (const std::int32_t v : order.vertex) {
                expected.insert(expected.end(), whole.begin() + v * f, whole.begin() + (v + 1) * f);
            }
            expect_slices(dataset, expected, &order);
            const VertexOrder identity;
            expect_slices(dataset, whole, &identity);
            dataset.cache_features();
            expect_slices(dataset, expected, &order);
        }
    }
}

TEST(Features, ThreadsReadAtTheSameTime) {
    const TempFolder folder;
    const Dataset dataset = open_dataset(write_npz_data(folder));
    std::vector<std::vector<float>> blocks(n, std::vector<float>(f));
    std::vector<std::thread> threads;
    for (std::int64_t v = 0; v < n; ++v) {
        threads.emplace_back([&, v] {
            dataset.read_features({v, v + 1}, {0, f}, blocks[static_cast<std::size_t>(v)].data(), f);
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<float> joined;
    for (const auto& block : blocks) joined.insert(joined.end(), block.begin(), block.end());
    EXPECT_EQ(joined, matrix());
}

class Generated : public testing::Test {
protected:
    Dataset open(DatasetOptions options) const {
        options.generate_features = 7;
        options.generate_classes = 3;
        return open_dataset(path, options);
    }

    TempFolder folder;
    std::filesystem::path path = folder.write("g.txt", "# Nodes: 6\n0 1\n1 2\n");
};

TEST_F(Generated, IsAFunctionOfTheSeed) {
    const Dataset a = open({.seed = 1});
    const Dataset b = open({.seed = 1});
    const Dataset c = open({.seed = 2});
    EXPECT_EQ(all_features(a), all_features(b));
    EXPECT_EQ(a.labels(), b.labels());
    EXPECT_EQ(a.subset(), b.subset());
    EXPECT_NE(all_features(a), all_features(c));
    EXPECT_EQ(a.classes(), 3);
    expect_slices(a, all_features(a));
    EXPECT_THAT(a.report().describe(), testing::AllOf(testing::HasSubstr("7 features"), testing::HasSubstr("3 classes"),
                                                      testing::HasSubstr("60/20/20"), testing::HasSubstr("seed 1")));
}

TEST_F(Generated, SlicesAreNormalisedAsTheWholeRow) {
    const Dataset a = open({.feature_norm = FeatureNorm::row});
    const std::vector<float> whole = all_features(a);
    expect_slices(a, whole);
    double sum = 0;
    for (std::size_t j = 0; j < 7; ++j) sum += std::abs(static_cast<double>(whole[j]));
    EXPECT_NEAR(sum, 1, 7 * 0x1p-23);
}

TEST(GeneratedAtScale, HasTheDistributionItClaims) {
    const TempFolder folder;
    const Dataset d = open_dataset(folder.write("g.txt", "# Nodes: 20000\n0 1\n"),
                                   {.generate_features = 8, .generate_classes = 4, .seed = 3});
    double sum = 0, squares = 0;
    for (const float x : all_features(d)) {
        ASSERT_TRUE(x >= -1 && x < 1);
        sum += static_cast<double>(x);
        squares += static_cast<double>(x) * static_cast<double>(x);
    }
    // Six standard errors of the mean of 160,000 values of variance 1/3, and of their squares.
    EXPECT_NEAR(sum / 160000, 0, 0.009);
    EXPECT_NEAR(squares / 160000, 1.0 / 3, 0.005);
    EXPECT_NEAR(static_cast<double>(d.subset_size(train)) / 20000, 0.6, 0.021);
    EXPECT_NEAR(static_cast<double>(d.subset_size(valid)) / 20000, 0.2, 0.017);
    EXPECT_EQ(d.subset_size(train) + d.subset_size(valid) + d.subset_size(test), 20000);
    for (std::int32_t c = 0; c < 4; ++c) EXPECT_GT(std::count(d.labels().begin(), d.labels().end(), c), 500);
}

TEST(DatasetOptions, AreChecked) {
    const TempFolder folder;
    const auto path = folder.write("g.txt", "0 1\n");
    files::expect_error(ErrorCode::usage, {"-1 features"}, [&] { open_dataset(path, {.generate_features = -1}); });
    files::expect_error(ErrorCode::usage, {"classes"},
                        [&] { open_dataset(path, {.generate_classes = std::int64_t{1} << 40}); });
    files::expect_error(ErrorCode::usage, {"labels are generated from features"},
                        [&] { open_dataset(path, {.generate_classes = 2}); });
}

TEST(Dataset, GraphOnlyTouchesNothingElse) {
    const TempFolder folder;
    const auto path = write_ogb_data(folder);
    folder.write("ogb/raw/node-feat.csv.gz", "nonsense\n");
    const Dataset d = open_dataset(path, {.graph_only = true});
    EXPECT_EQ(d.features(), 0);
    EXPECT_EQ(d.vertices(), n);
}

TEST(Dataset, ReleasesTheGraphAndKeepsItsFigures) {
    const TempFolder folder;
    Dataset d = open_dataset(write_npz_data(folder));
    const std::string name = d.fingerprint();
    const std::int64_t nonzeros = d.nonzeros();
    d.release_graph();
    EXPECT_EQ(d.graph().nonzeros(), 0);
    EXPECT_EQ(d.graph().out.column.capacity(), 0U);
    EXPECT_EQ(d.fingerprint(), name);
    EXPECT_EQ(d.nonzeros(), nonzeros);
    EXPECT_EQ(all_features(d), matrix());
}

}  // namespace
}  // namespace gnnplan::data
