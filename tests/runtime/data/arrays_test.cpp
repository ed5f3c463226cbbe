#include "runtime/data/dataset.hpp"
#include "runtime/data/loan.hpp"
#include "runtime/generate/generate.hpp"
#include "runtime/graph/subset.hpp"

#include "tests/support/test_files.hpp"

#include <functional>
#include <limits>

namespace gnnplan::data {
namespace {

using files::expect_error;
using files::TempFolder;

// Vertices 0 -> 1 -> 2 -> 0, two features each, the last one unlabelled.
Arrays triangle() {
    Arrays arrays;
    arrays.vertices = 3;
    for (std::int32_t v = 0; v < 3; ++v) arrays.edges.add(v, (v + 1) % 3);
    arrays.features = 2;
    arrays.feature = {1, 2, 3, 4, 5, 6};
    arrays.label = {1, 0, -1};
    arrays.subset = {Subset::train, Subset::valid, Subset::unused};
    return arrays;
}

std::vector<float> all_features(const Dataset& dataset) {
    std::vector<float> x(static_cast<std::size_t>(dataset.vertices() * dataset.features()));
    dataset.read_features({0, dataset.vertices()}, {0, dataset.features()}, x.data(), dataset.features());
    return x;
}

TEST(ArraysOfMemory, AreTheDataSetOfTheSameFile) {
    const TempFolder folder;
    const PlantedOptions options{.vertices = 300, .nonzeros = 3000, .classes = 3, .features = 5, .seed = 4};
    const auto file = folder.path() / "graph.npz";
    write_graph(generate_planted(options), file);
    const Dataset read = open_dataset(file);
    Dataset made = make_dataset(arrays_of(generate_planted(options)));
    EXPECT_EQ(made.fingerprint(), read.fingerprint());
    EXPECT_EQ(made.nonzeros(), read.nonzeros());
    EXPECT_EQ(made.classes(), 3);
    EXPECT_EQ(made.labels(), read.labels());
    EXPECT_EQ(made.subset(), read.subset());
    EXPECT_EQ(made.subset_size(train), read.subset_size(train));
    EXPECT_EQ(fingerprints_of(made).features, fingerprints_of(read).features);
    EXPECT_EQ(all_features(made), all_features(read));
    made.cache_features();
    EXPECT_EQ(all_features(made), all_features(read));
    EXPECT_EQ(made.report().format, "arrays");
    EXPECT_EQ(made.report().path, "generated");
}

TEST(ArraysOfMemory, OpenUnderTheirNameWhileTheyAreLent) {
    const std::vector<float> features = {1, 2, 3, 4, 5, 6};
    const auto lend = [&] {
        Arrays arrays = triangle();
        arrays.feature.clear();
        arrays.borrowed = features;
        return arrays;
    };
    {
        const Loan loan("a triangle", lend);
        EXPECT_TRUE(is_lent("a triangle"));
        expect_error(ErrorCode::usage, {"a triangle", "another data set"}, [&] { Loan("a triangle", lend); });
        const Dataset dataset = open_dataset("a triangle");
        EXPECT_EQ(dataset.fingerprint(), make_dataset(triangle()).fingerprint());
        EXPECT_EQ(all_features(dataset), features);
        EXPECT_EQ(all_features(open_dataset("a triangle")), features) << "again and again";
        DatasetOptions shares;
        shares.in_shares = 3;
        expect_error(ErrorCode::usage, {"load whole"}, [&] { open_dataset("a triangle", shares); });
    }
    EXPECT_FALSE(is_lent("a triangle"));
    expect_error(ErrorCode::missing_input, {"a triangle"}, [] { open_dataset("a triangle"); });
    Arrays both = triangle();
    both.borrowed = features;
    expect_error(ErrorCode::data, {"owned or borrowed"}, [&] { make_dataset(std::move(both)); });
}

// Vertices without a label stay in their set, but no accuracy counts them.
TEST(ArraysOfMemory, CountWhatHasALabel) {
    Arrays arrays = triangle();
    arrays.label = {0, -1, 1};
    arrays.subset = {train, valid, test};
    const Dataset dataset = make_dataset(std::move(arrays));
    EXPECT_EQ(dataset.subset_size(valid), 1);
    EXPECT_EQ(dataset.labelled(train), 1);
    EXPECT_EQ(dataset.labelled(valid), 0);
    EXPECT_EQ(dataset.labelled(test), 1);
    EXPECT_EQ(dataset.labelled(unused), 0);
    EXPECT_THAT(dataset.report().notes, ::testing::ElementsAre("0 of 1 validation and 1 of 1 test vertices have a "
                                                               "label: scores are over these."));
    EXPECT_TRUE(make_dataset(triangle()).report().notes.empty());
}

TEST(ArraysOfMemory, MayHaveWeightsOfEdges) {
    const DatasetOptions weighted{.preparation = {.add_self_loops = false, .edge_weights = true}};
    const auto with_weight = [](float weight) {
        Arrays arrays = triangle();
        arrays.edges = EdgeList(true);
        for (std::int32_t v = 0; v < 3; ++v) arrays.edges.add(v, (v + 1) % 3, v == 1 ? weight : 1);
        return arrays;
    };
    EXPECT_EQ(make_dataset(with_weight(0.5F), weighted).graph().out.weight, (kernels::LargeVector<float>{1, 0.5F, 1}));
    const Dataset unused = make_dataset(with_weight(0.5F));
    EXPECT_TRUE(unused.graph().out.weight.empty());
    EXPECT_EQ(unused.report().edge_values_ignored, 3);
    expect_error(ErrorCode::data, {"the edges have no weights"}, [&] { make_dataset(triangle(), weighted); });
    expect_error(ErrorCode::data, {"the weight of the edge 1 -> 2 is not finite"},
                 [&] { make_dataset(with_weight(std::numeric_limits<float>::infinity()), weighted); });
}

TEST(ArraysOfMemory, ArePreparedAsFilesAre) {
    Arrays arrays = triangle();
    arrays.edges.add(0, 0);
    arrays.edges.add(0, 1);
    const Dataset dataset = make_dataset(std::move(arrays), {.preparation = {.symmetrise = true}});
    EXPECT_TRUE(dataset.graph().symmetric);
    EXPECT_EQ(dataset.nonzeros(), 9);  // both directions, and a self loop each
    EXPECT_EQ(dataset.report().edges_read, 5);
    EXPECT_EQ(dataset.report().self_loops_dropped, 1);
    EXPECT_EQ(dataset.report().duplicates_dropped, 1);
    float block[2] = {0, 0};
    dataset.read_features({1, 3}, {1, 2}, block, 1);
    EXPECT_EQ(block[0], 4);
    EXPECT_EQ(block[1], 6);
}

TEST(ArraysOfMemory, WhatIsMissingIsGenerated) {
    Arrays arrays;
    arrays.vertices = 4;
    arrays.edges.add(3, 0);
    const Dataset graph = make_dataset(std::move(arrays));
    EXPECT_EQ(graph.features(), 0);
    EXPECT_TRUE(graph.labels().empty());

    Arrays again;
    again.vertices = 4;
    again.edges.add(3, 0);
    const Dataset filled = make_dataset(std::move(again), {.generate_features = 3, .generate_classes = 2});
    EXPECT_EQ(filled.features(), 3);
    EXPECT_EQ(filled.classes(), 2);
    EXPECT_TRUE(filled.report().features_generated);
    EXPECT_EQ(filled.subset().size(), 4U);
}

TEST(ArraysOfMemory, GraphOnlyLeavesTheRestOut) {
    const Dataset dataset = make_dataset(triangle(), {.graph_only = true});
    EXPECT_EQ(dataset.nonzeros(), 6);
    EXPECT_EQ(dataset.features(), 0);
    EXPECT_TRUE(dataset.labels().empty());
}

TEST(ArraysOfMemory, AreChecked) {
    const auto refused = [](const std::vector<std::string>& parts, const std::function<void(Arrays&)>& spoil) {
        Arrays arrays = triangle();
        arrays.name = "mine";
        spoil(arrays);
        expect_error(ErrorCode::data, parts, [&] { make_dataset(std::move(arrays)); });
    };
    refused({"mine", "vertex id 3 is out of range"}, [](Arrays& a) { a.edges.add(0, 3); });
    refused({"mine", "vertex id -1 is out of range"}, [](Arrays& a) { a.edges.add(-1, 0); });
    refused({"6 features expected, found 5"}, [](Arrays& a) { a.feature.pop_back(); });
    refused({"no number of columns"}, [](Arrays& a) { a.features = 0; });
    refused({"no number of columns"}, [](Arrays& a) { a.features = -2; });
    refused({"feature 1 of vertex 1 is not finite"},
            [](Arrays& a) { a.feature[3] = std::numeric_limits<float>::quiet_NaN(); });
    refused({"3 labels expected, found 4"}, [](Arrays& a) { a.label.push_back(0); });
    refused({"label -2 is negative"}, [](Arrays& a) { a.label[0] = -2; });
    refused({"3 entries of the split expected, found 1"}, [](Arrays& a) { a.subset.resize(1); });
    refused({"no subset 3"}, [](Arrays& a) { a.subset[0] = 3; });
    refused({"in the train set but has no label"}, [](Arrays& a) { a.subset[2] = Subset::train; });
    refused({"number of vertices must be in"}, [](Arrays& a) { a.vertices = std::int64_t{1} << 31; });
}

TEST(ArraysOfMemory, HaveNoNamedSplitsAndCountFromZero) {
    expect_error(ErrorCode::usage, {"named splits"}, [] { make_dataset(triangle(), {.split = "time"}); });
    expect_error(ErrorCode::usage, {"count from 0"}, [] { make_dataset(triangle(), {.index_base = IndexBase::one}); });
}

}  // namespace
}  // namespace gnnplan::data
