#include "runtime/data/dataset.hpp"

#include "tests/support/test_files.hpp"

namespace gnnplan::data {
namespace {

using files::expect_error;
using files::TempFolder;

// Four vertices on a path, with everything there can be. Vertex 3 has no label.
struct OgbFolder {
    TempFolder folder;

    OgbFolder() {
        folder.write("raw/edge.csv.gz", "0,1\n1,2\n2,3\n");
        folder.write("raw/num-node-list.csv.gz", "4\n");
        folder.write("raw/num-edge-list.csv.gz", "3\n");
        folder.write("raw/node-feat.csv.gz", "1,0.5\n-2,0\n3e0,4\n0,0\n");
        folder.write("raw/node-label.csv.gz", "1\n0\n2.0\nnan\n");
        folder.write("split/random/train.csv.gz", "0\n1\n");
        folder.write("split/random/valid.csv.gz", "2\n");
        folder.write("split/random/test.csv.gz", "3\n");
    }

    Dataset open(const DatasetOptions& options = {}) const { return open_dataset(folder.path(), options); }

    void expect_bad(const std::string& file, const std::string& content, const std::vector<std::string>& parts) const {
        const std::string before = content_of(file);
        folder.write(file, content);
        expect_error(ErrorCode::data, parts, [&] { read_all(); });
        files::write_bytes(folder.path() / file, before);
    }

    void read_all() const {
        Dataset dataset = open();
        dataset.cache_features();
    }

    std::string content_of(const std::string& file) const { return files::read_bytes(folder.path() / file); }
};

TEST(OgbFolder, ReadsEverything) {
    const OgbFolder ogb;
    const Dataset d = ogb.open();
    EXPECT_EQ(d.report().format, "OGB raw folder");
    EXPECT_EQ(d.vertices(), 4);
    EXPECT_EQ(d.nonzeros(), 7);
    EXPECT_EQ(d.features(), 2);
    EXPECT_EQ(d.classes(), 3);
    EXPECT_EQ(d.labels(), (std::vector<std::int32_t>{1, 0, 2, -1}));
    EXPECT_EQ(d.subset(), (std::vector<std::uint8_t>{train, train, valid, test}));
    EXPECT_EQ(d.subset_size(train), 2);
    std::vector<float> x(8);
    d.read_features({0, 4}, {0, 2}, x.data(), 2);
    EXPECT_EQ(x, (std::vector<float>{1, 0.5F, -2, 0, 3, 4, 0, 0}));
}

TEST(OgbFolder, FeaturesOfEdgesAreWeights) {
    const OgbFolder ogb;
    ogb.folder.write("raw/edge-feat.csv.gz", "0.5\n1e1\n-2\n");
    const Dataset weighted = ogb.open({.preparation = {.add_self_loops = false, .edge_weights = true}});
    EXPECT_EQ(weighted.graph().out.weight, (kernels::LargeVector<float>{0.5F, 10, -2}));
    EXPECT_EQ(weighted.report().edge_values_ignored, 0);
    const Dataset plain = ogb.open();
    EXPECT_TRUE(plain.graph().out.weight.empty());
    EXPECT_EQ(plain.report().edge_values_ignored, 3);
}

TEST(OgbFolder, RefusesBadWeightsOfEdges) {
    const OgbFolder ogb;
    const auto expect_bad_weights = [&](ErrorCode code, const std::vector<std::string>& parts) {
        expect_error(code, parts, [&] { ogb.open({.preparation = {.edge_weights = true}}); });
    };
    expect_bad_weights(ErrorCode::missing_input, {"raw/edge-feat.csv", "no weights of edges: not found, nor"});
    const auto with = [&](const std::string& content, const std::vector<std::string>& parts) {
        ogb.folder.write("raw/edge-feat.csv.gz", content);
        expect_bad_weights(ErrorCode::data, parts);
    };
    with("1\n2\n", {"edge-feat.csv.gz:2", "the file ends after the weights of 2 edges"});
    with("1\n2\n3\n4\n", {"edge-feat.csv.gz:4", "more weights than the 3 edges"});
    with("1\n2,5\n3\n", {"edge-feat.csv.gz:2", "more than one feature of an edge"});
    with("1\ninf\n3\n", {"edge-feat.csv.gz:2", "edge weight 'inf' is not finite"});
    with("1\n\n3\n", {"edge-feat.csv.gz:2", "edge weight is missing"});
}

TEST(OgbFolder, GraphAloneSuffices) {
    const TempFolder folder;
    folder.write("raw/edge.csv", "0,1\n");
    folder.write("raw/num-node-list.csv", "2\n");
    const Dataset d = open_dataset(folder.path());
    EXPECT_EQ(d.features(), 0);
    EXPECT_EQ(d.classes(), 0);
    EXPECT_TRUE(d.subset().empty());
}

TEST(OgbFolder, NamesWhatIsMissing) {
    const OgbFolder ogb;
    std::filesystem::remove(ogb.folder.path() / "raw/num-node-list.csv.gz");
    expect_error(ErrorCode::missing_input, {"num-node-list.csv"}, [&] { ogb.open(); });
    const OgbFolder other;
    std::filesystem::remove(other.folder.path() / "split/random/test.csv.gz");
    expect_error(ErrorCode::missing_input, {"split/random/test.csv"}, [&] { other.open(); });
}

TEST(OgbFolder, ChoosesAmongSplits) {
    const OgbFolder ogb;
    ogb.folder.write("split/time/train.csv", "2\n");
    ogb.folder.write("split/time/valid.csv", "");
    ogb.folder.write("split/time/test.csv", "0\n");
    expect_error(ErrorCode::usage, {"several splits: random, time", "`split NAME`"}, [&] { ogb.open(); });
    DatasetOptions options;
    options.split = "time";
    EXPECT_EQ(ogb.open(options).subset(), (std::vector<std::uint8_t>{test, unused, train, unused}));
    options.split = "none";
    expect_error(ErrorCode::missing_input, {"no split 'none'", "random, time"}, [&] { ogb.open(options); });
}

TEST(OgbFolder, BadEdges) {
    const OgbFolder ogb;
    const std::string file = "raw/edge.csv.gz";
    ogb.expect_bad(file, "0,1\n1,4\n2,3\n", {"edge.csv.gz:2: vertex id '4' is out of range: it must be below 4"});
    ogb.expect_bad(file, "0,1\n-1,2\n2,3\n", {"edge.csv.gz:2: vertex id '-1' is negative"});
    ogb.expect_bad(file, "0,1\nfrom,to\n2,3\n", {"edge.csv.gz:2: malformed line"});
    ogb.expect_bad(file, "0,1,2\n", {"edge.csv.gz:1: malformed line: unexpected '2'"});
    ogb.expect_bad(file, "0,1\n", {"ends after 1 edges, but num-edge-list declares 3"});
    ogb.expect_bad("raw/num-node-list.csv.gz", "9223372036854775808\n", {"num-node-list.csv.gz:1", "out of range"});
    ogb.expect_bad("raw/num-node-list.csv.gz", "4000000000\n", {"num-node-list.csv.gz:1", "at most 2^31 - 1"});
    ogb.expect_bad("raw/num-node-list.csv.gz", "-4\n", {"num-node-list.csv.gz:1", "negative"});
    ogb.expect_bad("raw/num-node-list.csv.gz", "2\n2\n", {"several graphs"});
    ogb.expect_bad("raw/num-node-list.csv.gz", "", {"empty file"});
}

TEST(OgbFolder, BadFeatures) {
    const OgbFolder ogb;
    const std::string file = "raw/node-feat.csv.gz";
    ogb.expect_bad(file, "1,0\n2,nan\n1,1\n1,1\n", {"node-feat.csv.gz:2: feature 1 is not finite"});
    ogb.expect_bad(file, "1,0\ninf,1\n1,1\n1,1\n", {"node-feat.csv.gz:2: feature 0 is not finite"});
    ogb.expect_bad(file, "1,0\n1,1e39\n1,1\n1,1\n", {"node-feat.csv.gz:2: feature 1 is not finite"});
    ogb.expect_bad(file, "1,0\n1,1e999\n1,1\n1,1\n", {"node-feat.csv.gz:2: feature '1e999' is out of range"});
    ogb.expect_bad(file, "1,0\n1\n1,1\n1,1\n", {"node-feat.csv.gz:2: 2 features expected, as in line 1, found 1"});
    ogb.expect_bad(file, "1,0\n1,2,3\n1,1\n1,1\n", {"node-feat.csv.gz:2: more than the 2 features"});
    ogb.expect_bad(file, "1,0\n1,a\n1,1\n1,1\n", {"node-feat.csv.gz:2: malformed line: feature expected, found 'a'"});
    ogb.expect_bad(file, "1,0\n1,2\n1,1\n", {"ends after 3 of 4 rows"});
    ogb.expect_bad(file, "1,0\n1,2\n1,1\n1,1\n1,1\n", {"node-feat.csv.gz:5: more rows than the 4 vertices"});
    ogb.expect_bad(file, "", {"node-feat.csv.gz", "empty"});
}

TEST(OgbFolder, TinyFeaturesReadAsZero) {
    const OgbFolder ogb;
    ogb.folder.write("raw/node-feat.csv.gz", "1e-999\n+2\n3\n4\n");
    std::vector<float> x(4);
    ogb.open().read_features({0, 4}, {0, 1}, x.data(), 1);
    EXPECT_EQ(x, (std::vector<float>{0, 2, 3, 4}));
}

TEST(OgbFolder, BadLabels) {
    const OgbFolder ogb;
    const std::string file = "raw/node-label.csv.gz";
    ogb.expect_bad(file, "1\n-1\n2\nnan\n", {"node-label.csv.gz:2: label -1 is negative"});
    ogb.expect_bad(file, "1\n0.5\n2\nnan\n", {"node-label.csv.gz:2: label 0.5", "not an integer"});
    ogb.expect_bad(file, "1\n9223372036854775808\n2\n0\n",
                   {"node-label.csv.gz:2: label 9223372036854775808 is out of range"});
    ogb.expect_bad(file, "1\ninf\n2\n0\n", {"node-label.csv.gz:2: label inf is out of range"});
    ogb.expect_bad(file, "1\n0\n1000000\n0\n", {"label 1000000 is out of range: only 3 different labels"});
    ogb.expect_bad(file, "nan\n0\n2\n1\n", {"vertex 0 is in the train set but has no label"});
    ogb.expect_bad(file, "0\n1\n2\n", {"ends after 3 of 4 labels"});
    ogb.expect_bad(file, "0\n1\n2\n1\n0\n", {"node-label.csv.gz:5: more labels than the 4 vertices"});
    ogb.expect_bad(file, "0,1\n1\n1,1\n1,1\n",
                   {"node-label.csv.gz:2: 2 labels for each vertex expected, as for those before, found 1"});
    ogb.expect_bad(file, "0\n1,1\n1\n1\n", {"node-label.csv.gz:2: 1 labels for each vertex expected"});
    ogb.expect_bad(file, "0,1\n1,2\n0,1\n1,1\n", {"node-label.csv.gz:2: label 1 is 2, not 0, 1 or nan"});
    ogb.expect_bad(file, "0,1\n1,0.5\n0,1\n1,1\n", {"node-label.csv.gz:2: label 1 is 0.5", "regress"});
    ogb.expect_bad(file, "nan,nan\nnan,nan\n0,1\n1,1\n", {"no vertex of the train set has a label that is known"});
    ogb.expect_bad(file, "cat\n1\n2\n1\n", {"node-label.csv.gz:1: malformed line"});
}

TEST(OgbFolder, BadSplits) {
    const OgbFolder ogb;
    ogb.expect_bad("split/random/test.csv.gz", "4\n", {"test.csv.gz:1: vertex id '4' is out of range"});
    ogb.expect_bad("split/random/test.csv.gz", "3\n0\n",
                   {"test.csv.gz:2: vertex 0 is in both the train and the test set"});
    ogb.expect_bad("split/random/train.csv.gz", "0\n0\n", {"train.csv.gz:2: vertex 0 is listed twice"});
}

TEST(OgbFolder, AskedClassesBoundTheLabels) {
    const OgbFolder ogb;
    DatasetOptions options;
    options.generate_classes = 2;
    expect_error(ErrorCode::data, {"label 2 of vertex 2 is out of range: 2 classes"}, [&] { ogb.open(options); });
    options.generate_classes = 5;
    EXPECT_EQ(ogb.open(options).classes(), 5);
    options.generate_features = 3;
    expect_error(ErrorCode::usage, {"3 features asked for, but the data has 2"}, [&] { ogb.open(options); });
}

}  // namespace
}  // namespace gnnplan::data
