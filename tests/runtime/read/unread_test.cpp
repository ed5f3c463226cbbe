// Arrays that are not read are named, and so is what they may hold.
#include "runtime/read/unread.hpp"

#include "runtime/data/dataset.hpp"
#include "runtime/read/supervision.hpp"
#include "tests/support/test_files.hpp"

namespace gnnplan::data {
namespace {

using files::Array;
using files::bytes_of;
using files::expect_error;
using files::TempFolder;
using I64 = std::int64_t;

Array edges() { return {"edge_index", "<i8", {2, 4}, bytes_of<I64>({0, 1, 2, 1, 1, 2, 0, 0})}; }
Array bytes(const std::string& name, const std::string& type, const std::vector<I64>& shape) {
    I64 count = std::stoll(type.substr(2)) * (type[1] == 'U' ? 4 : 1);
    for (const I64 size : shape) count *= size;
    return {name, type, shape, std::string(static_cast<std::size_t>(count), '\0')};
}

Leftovers leftovers(const std::vector<Array>& arrays) {
    const TempFolder folder;
    return open_dataset(files::write_npz(folder, arrays)).report().leftovers;
}

std::string meant(const Array& array) {
    const Leftovers found = leftovers({edges(), array});
    EXPECT_EQ(found.unread.size(), 1U);
    const Unread& one = found.unread.front();
    return std::string(one.features ? "features " : "") + (one.labels ? "labels " : "") + (one.split ? "split " : "");
}

TEST(Unread, IsNamedWithTypeAndShape) {
    EXPECT_EQ(leftovers({edges(), bytes("names", "<U2", {3}), bytes("pos", "<f8", {3, 2})}).names(),
              "names text [3], pos float64 [3, 2]");
    EXPECT_EQ(
        leftovers({edges(), {"y", "<i8", {3}, bytes_of<I64>({0, 1, 2})}, {"num_nodes", "<i8", {1}, bytes_of<I64>({3})}})
            .names(),
        "");
    std::vector<Array> many{edges()};
    for (int i = 0; i < 15; ++i) many.push_back(bytes("a" + std::to_string(i), "|u1", {1}));
    EXPECT_THAT(leftovers(many).names(), testing::EndsWith("a11 uint8 [1] and 3 more"));
    // A pickle is no error while its array is not needed; control characters are not printed, as terminals obey them.
    EXPECT_EQ(leftovers({edges(), {"class_names", "|O", {3}, "\x80\x04"}, bytes("a\x1b[0m", "|u1", {1})}).names(),
              "class_names, a\xE2\x86\x90[0m uint8 [1]");
}

TEST(Unread, IsTakenForWhatItMayBe) {
    EXPECT_EQ(meant(bytes("features", "<f4", {3, 5})), "features ");
    EXPECT_EQ(meant(bytes("whatever", "<f4", {3, 5})), "features ");
    EXPECT_EQ(meant(bytes("whatever", "<f4", {7, 5})), "features ") << "more vertices than have edges";
    EXPECT_EQ(meant(bytes("edge_attr", "<f4", {4, 5})), "");
    EXPECT_EQ(meant(bytes("whatever", "<f4", {4, 5})), "") << "a row for each edge";
    EXPECT_EQ(meant(bytes("X", "<f4", {2, 5})), "features ");
    EXPECT_EQ(meant(bytes("labels", "<i8", {3})), "labels ");
    EXPECT_EQ(meant(bytes("community", "<i8", {3})), "labels ");
    EXPECT_EQ(meant(bytes("Y", "<i8", {3, 1})), "labels ");
    EXPECT_EQ(meant(bytes("num_classes", "<i8", {})), "");
    EXPECT_EQ(meant(bytes("label_names", "<U8", {3})), "");
    EXPECT_EQ(meant(bytes("split", "<i8", {3})), "labels split ");
    EXPECT_EQ(meant(bytes("idx_train", "<i8", {2})), "split ");
    EXPECT_EQ(meant(bytes("val", "<i8", {2})), "split ");
    EXPECT_EQ(meant(bytes("values", "<i8", {2})), "");
    EXPECT_EQ(meant(bytes("some", "|b1", {3, 10})), "features split ");
}

const std::vector<Array> other_names = {edges(), bytes("features", "<f4", {3, 5}), bytes("labels", "<i8", {3}),
                                        bytes("train", "<i8", {2})};

TEST(Unread, NothingIsGeneratedUnaskedInItsPlace) {
    const TempFolder folder;
    const auto path = files::write_npz(folder, other_names);
    EXPECT_NO_THROW(check_generated(open_dataset(path).report()));
    const Dataset d = open_dataset(path, {.generate_features = 5, .generate_classes = 2});
    expect_error(
        ErrorCode::usage,
        {"features, labels, the split would be generated", "features float32 [3, 5], labels int64 [3], train int64 [2]",
         "save features as x, labels as y, the split as train_idx or train_mask", "`generate`"},
        [&] { check_generated(d.report()); });
    EXPECT_THAT(
        d.report().describe(),
        testing::HasSubstr(
            "Not read: features float32 [3, 5], labels int64 [3], train int64 [2]. Generated from seed 0: 5 features"));
}

TEST(Unread, ARandomSplitIsNoneOfAnother) {
    const TempFolder folder;
    const std::vector<Array> labelled{edges(), {"y", "<i8", {3}, bytes_of<I64>({0, 1, 1})}};
    for (const Array& split : {bytes("split", "<i8", {3}), bytes("fold", "<i8", {3}), bytes("idx_train", "<i8", {2}),
                               bytes("stopping", "|b1", {3})}) {
        std::vector<Array> all = labelled;
        all.push_back(split);
        const Dataset d = open_dataset(files::write_npz(folder, all));
        expect_error(ErrorCode::usage, {"the split would be generated", split.name},
                     [&] { check_generated(d.report()); });
        all.push_back({"train_idx", "<i8", {1}, bytes_of<I64>({0})});
        EXPECT_NO_THROW(check_generated(open_dataset(files::write_npz(folder, all)).report()));
    }
    EXPECT_NO_THROW(check_generated(open_dataset(files::write_npz(folder, labelled)).report()));
}

// Reddit as DGL and PyTorch Geometric unpack it.
TEST(Unread, IsLookedForBesideABareMatrix) {
    const TempFolder folder;
    const auto save = [&](const char* name, const std::vector<Array>& arrays) {
        const auto path = folder.path() / name;
        std::filesystem::rename(files::write_npz(folder, arrays), path);
        return path;
    };
    const std::vector<Array> matrix{{"row", "<i4", {2}, bytes_of<std::int32_t>({0, 1})},
                                    {"col", "<i4", {2}, bytes_of<std::int32_t>({1, 2})},
                                    {"shape", "<i8", {2}, bytes_of<I64>({3, 3})},
                                    {"format", "|S3", {}, "coo"}};
    const auto graph = save("reddit_graph.npz", matrix);
    save("of_another_graph.npz", {bytes("feature", "<f4", {4, 5})});
    save("same_size.npz", {edges(), bytes("x", "<f4", {3, 5})});
    folder.write("no_archive.npz", "PK");
    EXPECT_EQ(open_dataset(graph).report().leftovers.names(), "");
    save("reddit_data.npz",
         {bytes("feature", "<f4", {3, 5}), bytes("label", "<i8", {3}), bytes("node_types", "<i8", {3})});
    const Dataset d = open_dataset(graph, {.generate_features = 5, .generate_classes = 2});
    expect_error(ErrorCode::usage,
                 {"features, labels would be generated", "reddit_data.npz:feature float32 [3, 5]",
                  "reddit_data.npz:label int64 [3]"},
                 [&] { check_generated(d.report()); });
    std::vector<Array> whole = matrix;
    whole.insert(whole.end(), {bytes("x", "<f4", {3, 5}), bytes("y", "<i8", {3})});
    EXPECT_EQ(open_dataset(save("whole.npz", whole)).report().leftovers.names(), "");
}

TEST(Classes, ThatNeverOccurAreRemarkedOn) {
    const auto remark = [](const std::vector<std::int32_t>& labels) { return doubtful_classes({labels, {}}); };
    EXPECT_EQ(remark({0, 2, 1, -1}), "");
    EXPECT_EQ(remark({-1, -1}), "");
    EXPECT_EQ(remark({}), "");
    EXPECT_THAT(remark({1, 2, 3}), testing::HasSubstr("class 0 of 0 .. 3 never occurs"));
    EXPECT_THAT(remark({1, 2, 3}), testing::HasSubstr("labels from 1?"));
    EXPECT_THAT(remark({0, 2}), testing::Not(testing::HasSubstr("from 1")));
    EXPECT_THAT(remark({0, 1, 40}), testing::HasSubstr("38 of 41 classes never occur (the first is 2)"));
    EXPECT_THAT(remark({3, 8, 13}), testing::HasSubstr("11 of 14 classes never occur (the first is 0)"));
}

}  // namespace
}  // namespace gnnplan::data
