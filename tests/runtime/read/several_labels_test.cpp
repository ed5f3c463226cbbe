// Data sets whose vertices have several labels, some of which may not be known.
#include "runtime/data/dataset.hpp"
#include "runtime/data/judge.hpp"

#include "tests/support/test_files.hpp"

#include <cmath>
#include <limits>

namespace gnnplan::data {
namespace {

using files::Array;
using files::bytes_of;
using files::expect_error;
using files::TempFolder;
using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Four vertices in a ring, of which the first two train.
std::vector<Array> arrays(Array labels) {
    return {{"edge_index", "<i8", {2, 4}, bytes_of<std::int64_t>({0, 1, 2, 3, 1, 2, 3, 0})},
            {"x", "<f4", {4, 1}, bytes_of<float>({1, 2, 3, 4})},
            std::move(labels),
            {"train_idx", "<i8", {2}, bytes_of<std::int64_t>({0, 1})},
            {"valid_idx", "<i8", {1}, bytes_of<std::int64_t>({2})},
            {"test_idx", "<i8", {1}, bytes_of<std::int64_t>({3})}};
}

// "1?0 ..": a vertex after the other.
std::string text_of(const LabelBits& bits) {
    std::string text;
    for (std::int64_t v = 0; v < bits.vertices; ++v) {
        if (v > 0) text += ' ';
        for (std::int64_t j = 0; j < bits.columns; ++j) text += !bits.is_known(v, j) ? '?' : bits.has(v, j) ? '1' : '0';
    }
    return text;
}

TEST(SeveralLabels, AreReadFromEveryForm) {
    const TempFolder folder;
    const std::vector<Array> forms{
        {"y", "<i8", {4, 3}, bytes_of<std::int64_t>({1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0})},
        {"y", "|b1", {4, 3}, std::string("\1\0\1\0\0\0\1\1\1\0\1\0", 12)},
        {"node_label", "<f4", {4, 3}, bytes_of<float>({1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0})}};
    std::string fingerprint;
    for (const Array& labels : forms) {
        const Dataset dataset = open_dataset(files::write_npz(folder, arrays(labels)));
        EXPECT_EQ(text_of(dataset.label_bits()), "101 000 111 010");
        EXPECT_TRUE(dataset.labels().empty());
        EXPECT_EQ(dataset.classes(), 3);
        EXPECT_EQ(dataset.loss(), Loss::sigmoid);
        EXPECT_EQ(dataset.labelled(train), 2);
        EXPECT_EQ(dataset.known_labels(train), 6);
        EXPECT_TRUE(fingerprint.empty() || fingerprint == dataset.label_fingerprint());
        fingerprint = dataset.label_fingerprint();
    }
    folder.write("ogb/raw/edge.csv", "0,1\n1,2\n2,3\n3,0\n");
    folder.write("ogb/raw/num-node-list.csv", "4\n");
    folder.write("ogb/raw/node-feat.csv", "1\n2\n3\n4\n");
    folder.write("ogb/raw/node-label.csv", "1,0,1\n0,0,0\n1.0,1,1\n0,1,0\n");
    for (const char* name : {"train", "valid", "test"})
        folder.write("ogb/split/s/" + std::string(name) + ".csv",
                     name[0] == 't' ? (name[1] == 'r' ? "0\n1\n" : "3\n") : "2\n");
    const Dataset ogb = open_dataset(folder.path() / "ogb");
    EXPECT_EQ(text_of(ogb.label_bits()), "101 000 111 010");
    EXPECT_EQ(ogb.label_fingerprint(), fingerprint);
}

TEST(SeveralLabels, MayBeUnknown) {
    const TempFolder folder;
    const Dataset dataset = open_dataset(files::write_npz(
        folder, arrays({"y", "<f8", {4, 3}, bytes_of<double>({1, 0, nan, nan, nan, nan, 0, nan, 1, nan, nan, nan})})));
    EXPECT_EQ(text_of(dataset.label_bits()), "10? ??? 0?1 ???");
    EXPECT_EQ(dataset.loss(), Loss::masked_sigmoid);
    EXPECT_EQ(dataset.subset_size(train), 2);
    EXPECT_EQ(dataset.labelled(train), 1);  // the other counts for nothing
    EXPECT_EQ(dataset.known_labels(train), 2);
    EXPECT_EQ(dataset.known_labels(valid), 2);
    EXPECT_EQ(dataset.labelled(test), 0);
    EXPECT_THAT(dataset.report().notes.back(), HasSubstr("0 of 1 test vertices have a label: scores are over these."));
}

TEST(SeveralLabels, DoubtsAreSaid) {
    const TempFolder folder;
    const auto hints = [&](const std::vector<std::int64_t>& labels) {
        std::string text;
        const auto opened =
            open_dataset(files::write_npz(folder, arrays({"y", "<i8", {4, 2}, bytes_of<std::int64_t>(labels)})));
        for (const std::string& hint : opened.report().hints) text += hint + "\n";
        return text;
    };
    EXPECT_THAT(hints({1, 0, 0, 1, 1, 0, 0, 1}), HasSubstr("each vertex has one label of 2: are they classes?"));
    EXPECT_THAT(hints({1, 0, 0, 0, 1, 0, 0, 0}), HasSubstr("1 of 2 labels no vertex has (the first is label 1)"));
    EXPECT_THAT(hints({1, 1, 0, 0, 1, 0, 0, 1}), Not(HasSubstr("label")));
}

TEST(SeveralLabels, AreAsManyAsAskedFor) {
    const TempFolder folder;
    const auto path =
        files::write_npz(folder, arrays({"y", "<i8", {4, 2}, bytes_of<std::int64_t>({1, 0, 1, 1, 0, 0, 1, 0})}));
    DatasetOptions options;
    options.generate_classes = 3;
    expect_error(ErrorCode::data, {"each vertex has 2 labels: 3 classes were asked for"},
                 [&] { open_dataset(path, options); });
}

Arrays ring() {
    Arrays arrays;
    arrays.vertices = 4;
    for (std::int32_t v = 0; v < 4; ++v) arrays.edges.add(v, (v + 1) % 4);
    arrays.features = 1;
    arrays.feature = {1, 2, 3, 4};
    arrays.subset = {train, train, valid, test};
    return arrays;
}

TEST(SeveralLabels, AreTakenFromMemory) {
    const auto with = [](LabelBits bits, std::vector<std::int32_t> label = {}) {
        Arrays arrays = ring();
        arrays.bits = std::move(bits), arrays.label = std::move(label);
        return make_dataset(std::move(arrays));
    };
    const LabelBits bits{4, 3, {0b01000101, 0b0101}};
    EXPECT_EQ(text_of(with(bits).label_bits()), "101 000 101 010");
    expect_error(ErrorCode::data, {"a class or several labels, not both"}, [&] { with(bits, {0, 1, 0, 1}); });
    expect_error(ErrorCode::data, {"2 bytes of labels expected, found 1"}, [&] { with({4, 3, {0}}); });
    expect_error(ErrorCode::data, {"several labels are two or more for each vertex"}, [&] { with({3, 3, {0, 0}}); });
}

TEST(SeveralLabels, AreGenerated) {
    DatasetOptions options;
    options.generate_classes = 5;
    options.generate_several = true;
    const auto made = [&] {
        Arrays arrays = ring();
        arrays.subset.clear();
        return make_dataset(std::move(arrays), options);
    };
    const Dataset one = made(), other = made();
    EXPECT_EQ(one.label_bits(), other.label_bits());
    EXPECT_EQ(one.label_bits().columns, 5);
    EXPECT_TRUE(one.report().labels_generated && one.report().split_generated);
    EXPECT_GT(one.subset_size(train), 0);
}

// 2 TP / (2 TP + FP + FN), and the mean of the areas of columns that have both kinds: of ranks 2 and 3 of three, 1, and
// of ranks 1.5 and 3 of four, (4.5 - 3) / 4.
TEST(SeveralLabels, AreJudged) {
    Arrays arrays = ring();
    arrays.bits = {4, 3, {0b01000101, 0b0101}};
    const Dataset dataset = make_dataset(std::move(arrays));
    std::vector<double> counts{3, 1, 2, 0, 0, 0, 0, 2, 0, 7};
    std::vector<double> ranks(27, 0);
    const auto set = [&](std::size_t row, double a, double b, double c) {
        ranks[3 * row] = a, ranks[3 * row + 1] = b, ranks[3 * row + 2] = c;
    };
    set(0, 2, 2, 3), set(1, 1, 2, 0), set(2, 10, 9, 12);
    set(3, 1, 0, 0), set(4, 0, 2, 0), set(5, 2, 0, 0);
    const Judged judged = judge(counts, ranks, dataset);
    EXPECT_EQ(judged.judgement.f1, (SetScores{6.0 / 9, 1, 0}));
    EXPECT_EQ(judged.judgement.rocauc, (SetScores{(1 + 0.375) / 2, std::nullopt, std::nullopt}));
    EXPECT_FALSE(judged.judgement.accuracy.any());
    EXPECT_EQ(judged.valid_loss, 7.0 / 3);
    EXPECT_FALSE(judge({}, {}, dataset).judgement.any());
}

}  // namespace
}  // namespace gnnplan::data
