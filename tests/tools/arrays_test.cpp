// Archives and folders of arrays as people have them: some are read, others named, and nothing is generated unasked.
#include "tests/support/test_files.hpp"
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::testing {
namespace {

using data::files::Array;
using data::files::bytes_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using I64 = std::int64_t;
namespace fs = std::filesystem;

constexpr I64 vertices = 24;

// A ring in both directions, features, and three classes.
class Arrays : public ::testing::Test {
protected:
    const data::files::TempFolder folder;
    const std::string plan = folder.path() / "p.json";

    static Array edge_index() {
        std::vector<I64> from, to;
        for (I64 v = 0; v < vertices; ++v) {
            from.insert(from.end(), {v, (v + 1) % vertices});
            to.insert(to.end(), {(v + 1) % vertices, v});
        }
        from.insert(from.end(), to.begin(), to.end());
        return {"edge_index", "<i8", {2, 2 * vertices}, bytes_of(from)};
    }
    static Array features(const std::string& name) {
        std::vector<float> values;
        for (I64 i = 0; i < 6 * vertices; ++i) values.push_back(static_cast<float>(i % 7) - 3);
        return {name, "<f4", {vertices, 6}, bytes_of(values)};
    }
    static Array labels(const std::string& name, I64 first = 0) {
        std::vector<I64> values;
        for (I64 v = 0; v < vertices; ++v) values.push_back(first + v % 3);
        return {name, "<i8", {vertices}, bytes_of(values)};
    }
    // Column k of a mask has every third vertex from k + `subset` on.
    static Array mask(const std::string& name, I64 subset, I64 columns, const std::string& type = "|b1") {
        std::string bytes;
        for (I64 v = 0; v < vertices; ++v) {
            for (I64 k = 0; k < columns; ++k) bytes += (v + k) % 3 == subset ? '\1' : '\0';
        }
        return {name, type, {vertices, columns}, bytes};
    }
    static std::vector<Array> whole(I64 columns = 1, const std::string& type = "|b1") {
        return {edge_index(),
                features("x"),
                labels("y"),
                mask("train_mask", 0, columns, type),
                mask("val_mask", 1, columns, type),
                mask("test_mask", 2, columns, type)};
    }
    std::string write(const std::vector<Array>& arrays, const std::string& name, bool stored = true) const {
        const fs::path path = folder.path() / name;
        fs::create_directories(path.parent_path());
        fs::rename(data::files::write_npz(folder, arrays, stored), path);
        return path;
    }
    // Makes a folder like that of ogbn-papers100M, for `count` vertices, the last of which have no edges.
    std::string write_papers(I64 count = vertices) const {
        std::vector<float> feature(static_cast<std::size_t>(6 * count), 0.5F), label;
        for (I64 v = 0; v < count; ++v) label.push_back(static_cast<float>(v % 3));
        std::vector<I64> year(static_cast<std::size_t>(count), 2010);
        write({edge_index(),
               {"node_feat", "<f4", {count, 6}, bytes_of(feature)},
               {"node_year", "<i8", {count, 1}, bytes_of(year)},
               {"num_nodes_list", "<i8", {1}, bytes_of<I64>({count})},
               {"num_edges_list", "<i8", {1}, bytes_of<I64>({2 * vertices})}},
              "papers/raw/data.npz");
        write({{"node_label", "<f4", {count, 1}, bytes_of(label)}}, "papers/raw/node-label.npz");
        folder.write("papers/split/time/train.csv.gz", "0\n1\n2\n3\n4\n5\n");
        folder.write("papers/split/time/valid.csv.gz", "6\n7\n");
        folder.write("papers/split/time/test.csv.gz", "8\n9\n");
        return folder.path() / "papers";
    }
    Outcome make_plan(const std::string& flags) const { return gnnplan("plan --hidden 8 -o " + plan + " " + flags); }
    static Outcome gnnrun(const std::string& arguments) { return run_program(GNNRUN_TOOL, arguments); }
};

TEST_F(Arrays, OgbsBinaryFolderIsReadAndTrained) {
    const std::string papers = write_papers(vertices + 3);
    const Outcome info = gnnplan("graph info --json " + papers);
    ASSERT_EQ(info.code, 0) << info.err;
    EXPECT_EQ(info.json()["vertices"], vertices + 3);
    EXPECT_EQ(info.json()["features"], 6);
    EXPECT_EQ(info.json()["classes"], 3);
    EXPECT_EQ(info.json()["split"]["train"], 6);
    EXPECT_EQ(info.json()["unread"], (std::vector<std::string>{"node_year int64 [27, 1]"}));
    for (const std::string loading : {"whole", "sharded"}) {
        const Outcome planned = make_plan("--ranks 2 --loss-rows off --load " + loading + " --graph " + papers);
        ASSERT_EQ(planned.code, 0) << planned.err;
        EXPECT_THAT(planned.err, AllOf(HasSubstr("Not read: node_year int64 [27, 1]."), Not(HasSubstr("generated"))));
        const Outcome run = gnnrun(plan + " --in-process --epochs 2 --autotune 0 --data " + papers);
        EXPECT_EQ(run.code, 0) << run.err;
        EXPECT_THAT(run.err, AllOf(HasSubstr("Not read: node_year int64 [27, 1]."), Not(HasSubstr("generated"))));
        EXPECT_THAT(run.out, HasSubstr("equal to the byte"));
    }
}

TEST_F(Arrays, OgbsArchiveAloneSaysWhereItsLabelsAre) {
    const std::string papers = write_papers(vertices + 3);
    const std::string archive = papers + "/raw/data.npz";
    const Outcome info = gnnplan("graph info " + archive);
    EXPECT_THAT(info.out, AllOf(HasSubstr("vertices     27\n"), HasSubstr("features     6\n")));
    EXPECT_THAT(info.err, HasSubstr("the OGB folder " + papers));
    const Outcome unknown = make_plan("--graph " + archive);
    EXPECT_EQ(unknown.code, 64);
    EXPECT_THAT(unknown.err, HasSubstr("the OGB folder " + papers));
    const Outcome refused = make_plan("--classes 3 --graph " + archive);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.err, HasSubstr("labels, the split would be generated"));
}

TEST_F(Arrays, OfOtherNamesAreNotMadeUp) {
    std::vector<I64> train{0, 1, 2};
    const std::string names = write(
        {edge_index(), features("features"), labels("labels"), {"train", "<i8", {3}, bytes_of(train)}}, "names.npz");
    const std::string list = "features float32 [24, 6], labels int64 [24], train int64 [3]";
    const Outcome info = gnnplan("graph info " + names);
    EXPECT_EQ(info.code, 0);
    EXPECT_THAT(info.out, HasSubstr("features     -\n"));
    EXPECT_THAT(info.err, HasSubstr("Not read: " + list + "."));

    const Outcome unknown = make_plan("--graph " + names);
    EXPECT_EQ(unknown.code, 64);
    EXPECT_THAT(unknown.err, HasSubstr("the number of features is not known (features may be among what is not read "
                                       "of the data: features float32 [24, 6]; save them as x; or give --features"));
    const std::string shape = "--features 6 --classes 3 --ranks 2 --graph " + names;
    const Outcome refused = make_plan(shape);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("features, labels, the split would be generated"), HasSubstr(list),
                                   HasSubstr("plan with --generate")));
    EXPECT_FALSE(fs::exists(plan));
    EXPECT_EQ(gnnplan("plan --task infer --hidden 8 " + shape).code, 64);
    EXPECT_EQ(gnnplan("sweep --hidden 8 --vary hidden=4,8 " + shape).code, 64);

    const Outcome asked = make_plan("--generate " + shape);
    ASSERT_EQ(asked.code, 0) << asked.err;
    const Outcome run = gnnrun(plan + " --in-process --epochs 2 --data " + names);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("Not read: " + list), HasSubstr("Generated from seed 1: 6 features")));
}

// A plan made without --generate does not mention it, as plans of earlier builds do not.
TEST_F(Arrays, APlanOfABareGraphDoesNotTrainOnNoiseInPlaceOfOtherNames) {
    const std::string bare = write({edge_index()}, "bare.npz");
    ASSERT_EQ(make_plan("--features 6 --classes 3 --graph " + bare).code, 0);
    EXPECT_EQ(gnnrun(plan + " --epochs 2 --data " + bare).code, 0);
    const std::string names = write({edge_index(), features("features")}, "names.npz");
    const Outcome run = gnnrun(plan + " --epochs 2 --data " + names);
    EXPECT_EQ(run.code, 64);
    EXPECT_THAT(run.err, AllOf(HasSubstr("features would be generated"), HasSubstr("features float32 [24, 6]")));
}

TEST_F(Arrays, APlanOfDataWithFeaturesSaysWhichMayBeThese) {
    ASSERT_EQ(make_plan("--graph " + write(whole(), "graph.npz")).code, 0);
    std::vector<Array> renamed = whole();
    renamed[1].name = "features";
    const Outcome run = gnnrun(plan + " -q --epochs 2 --data " + write(renamed, "graph.npz"));
    EXPECT_EQ(run.code, 78);
    EXPECT_THAT(run.err, HasSubstr("the plan is for 6 features, the data has 0 (they may be among what is not read: "
                                   "features float32 [24, 6])"));
}

TEST_F(Arrays, ASplitOfAnotherNameIsNotDrawn) {
    for (const std::string name : {"split", "idx_train", "fold"}) {
        const std::string path = write({edge_index(), features("x"), labels("y"), labels(name)}, "split.npz");
        const Outcome info = gnnplan("graph info " + path);
        EXPECT_THAT(info.out, HasSubstr("split        -\n"));
        EXPECT_THAT(info.err, AllOf(HasSubstr("Not read: " + name + " int64 [24]."),
                                    HasSubstr("the split would be generated, and may be among")));
        EXPECT_TRUE(gnnplan("graph info --json " + path).json()["split"].is_null());
        const Outcome refused = make_plan("--graph " + path);
        EXPECT_EQ(refused.code, 64);
        EXPECT_THAT(refused.err, HasSubstr("the split would be generated"));
        ASSERT_EQ(make_plan("--generate --graph " + path).code, 0);
        EXPECT_EQ(gnnrun(plan + " --epochs 2 --data " + path).code, 0);
    }
}

TEST_F(Arrays, MasksOfTenSplits) {
    for (const std::string type : {"|b1", "|u1"}) {
        const auto split = gnnplan("graph info --json " + write(whole(1, type), "one.npz")).json()["split"];
        EXPECT_EQ(split["train"], 8) << type;
    }
    const std::string ten = write(whole(10), "ten.npz");
    const Outcome refused = gnnplan("graph info " + ten);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.err, HasSubstr("train_mask: several splits, one in each column: found bool [24, 10] (choose "
                                       "one with --split 0 .. 9)"));
    EXPECT_EQ(gnnplan("graph info --json --split 9 " + ten).json()["split"]["train"], 8);
    EXPECT_EQ(gnnplan("graph info --split 10 " + ten).code, 66);
    for (const std::string loading : {"whole", "sharded"}) {
        ASSERT_EQ(make_plan("--split 4 --ranks 2 --loss-rows off --load " + loading + " --graph " + ten).code, 0);
        EXPECT_EQ(gnnrun(plan + " --in-process --epochs 2 --data " + ten).code, 0);
        const Outcome other = gnnrun(plan + " --in-process --epochs 2 --split 3 --data " + ten);
        EXPECT_EQ(other.code, 78);
        EXPECT_THAT(other.err, HasSubstr("the plan was made for split 4"));
    }
}

TEST_F(Arrays, ClassesThatNeverOccur) {
    std::vector<Array> all = whole();
    all[2] = labels("y", 1);
    const std::string path = write(all, "from1.npz");
    EXPECT_THAT(gnnplan("graph info " + path).err, HasSubstr("note: class 0 of 0 .. 3 never occurs"));
    EXPECT_THAT(make_plan("--graph " + path).err, HasSubstr("note: class 0 of 0 .. 3 never occurs"));
    EXPECT_EQ(gnnplan("graph info " + write(whole(), "from0.npz")).err, "");
}

TEST_F(Arrays, HalfFeaturesAreReadWholeAndInShares) {
    std::vector<Array> all = whole();
    std::vector<std::uint16_t> halves;
    for (I64 i = 0; i < 6 * vertices; ++i) halves.push_back(static_cast<std::uint16_t>(0x3C00 + 17 * i));
    all[1] = {"x", "<f2", {vertices, 6}, bytes_of(halves)};
    for (const bool stored : {false, true}) {
        const std::string path = write(all, "half.npz", stored);
        for (const std::string loading : {"whole", "sharded"}) {
            ASSERT_EQ(make_plan("--ranks 2 --loss-rows off --load " + loading + " --graph " + path).code, 0);
            const Outcome run = gnnrun(plan + " --in-process --epochs 2 --feature-norm row --data " + path);
            EXPECT_EQ(run.code, 0) << run.err;
        }
    }
}

// Ranks that read shares refuse the same data as one that reads all of it, in the same words.
TEST_F(Arrays, SharesAreJudgedAsTheWhole) {
    const std::string good = write(whole(), "graph.npz");
    std::vector<Array> bad = whole();
    bad[3] = mask("train_mask", 0, 10);
    std::vector<Array> renamed = whole();
    renamed[1].name = "features";
    std::vector<Array> boolean = whole();
    boolean[3] = {"train_idx", "|b1", {vertices}, std::string(vertices, '\1')};
    for (const std::vector<Array>& arrays : {bad, renamed, boolean}) {
        std::string said;
        for (const std::string loading : {"whole", "sharded"}) {
            write(whole(), "graph.npz");
            ASSERT_EQ(make_plan("--ranks 2 --loss-rows off --load " + loading + " --graph " + good).code, 0);
            write(arrays, "graph.npz");
            const Outcome run = gnnrun(plan + " --in-process -q --epochs 2 --data " + good);
            EXPECT_GE(run.code, 64);
            EXPECT_THAT(run.err, HasSubstr("error: "));
            if (said.empty()) said = run.err;
            EXPECT_EQ(run.err, said);
        }
    }
}

TEST_F(Arrays, IdsWithGapsAreRemarkedOnWhereNothingSaysHowManyVerticesThereAre) {
    const Array edges{"edge_index", "<i8", {2, 3}, bytes_of(std::vector<I64>{1, 900, 7, 900, 7, 1})};
    const std::string few = "3 of 901 ids have edges";
    const std::string path = write({edges}, "gaps.npz");
    EXPECT_THAT(gnnplan("graph info " + path).err, HasSubstr(few));
    for (const std::string load : {"whole", "sharded"}) {
        const Outcome planned =
            make_plan("--task infer --ranks 2 --features 4 --classes 2 --load " + load + " --graph " + path);
        ASSERT_EQ(planned.code, 0) << planned.err;
        const Outcome run = gnnrun(plan + " --in-process --threads 1 --data " + path);
        EXPECT_EQ(run.code, 0) << run.err;
        EXPECT_THAT(run.err, HasSubstr(few)) << load;
    }
    const std::string declared = write({edges, {"num_nodes", "<i8", {}, bytes_of(std::vector<I64>{901})}}, "said.npz");
    EXPECT_THAT(gnnplan("graph info " + declared).err, Not(HasSubstr("have edges")));
}

}  // namespace
}  // namespace gnnplan::testing
