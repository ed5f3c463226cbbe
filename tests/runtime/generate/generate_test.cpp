#include "runtime/generate/generate.hpp"

#include "runtime/data/dataset.hpp"

#include "tests/support/test_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gnnplan::data {
namespace {

namespace fs = std::filesystem;
using files::expect_error;
using files::TempFolder;

std::vector<Edge> list_of(const EdgeList& edges) {
    std::vector<Edge> list;
    edges.for_each([&](Edge e) { list.push_back(e); });
    return list;
}

RmatOptions small_rmat() { return {.vertices = 1000, .nonzeros = 20000, .seed = 5}; }
PlantedOptions small_planted() { return {.vertices = 600, .nonzeros = 9000, .classes = 4, .features = 6, .seed = 5}; }

std::int64_t largest_degree(const GeneratedGraph& graph) {
    std::map<std::int32_t, std::int64_t> degree;
    graph.edges.for_each([&](Edge e) { ++degree[e.from]; });
    std::int64_t largest = 0;
    for (const auto& [vertex, count] : degree) largest = std::max(largest, count);
    return largest;
}

TEST(Rmat, IsCleanSymmetricAndSkewed) {
    const GeneratedGraph graph = generate_rmat(small_rmat());
    std::set<std::pair<std::int32_t, std::int32_t>> seen;
    for (const Edge e : list_of(graph.edges)) {
        EXPECT_TRUE(e.from >= 0 && e.from < 1000 && e.to >= 0 && e.to < 1000 && e.from != e.to);
        EXPECT_TRUE(seen.insert({e.from, e.to}).second);
    }
    for (const auto& [u, v] : seen) EXPECT_TRUE(seen.contains({v, u}));
    EXPECT_EQ(graph.asked_nonzeros, 20000);
    EXPECT_GT(graph.edges.size(), 12000);
    EXPECT_LE(graph.edges.size(), 20000);
    EXPECT_GT(largest_degree(graph), 5 * graph.edges.size() / 1000);
}

TEST(Rmat, QuadrantsHaveTheirProbabilities) {
    // Two vertices: one level, so that each edge is one draw of a quadrant.
    RmatOptions options{.vertices = 2, .nonzeros = 4, .a = 0.5, .b = 0.3, .c = 0.15, .d = 0.05, .seed = 1};
    options.relabel = options.symmetrise = options.drop_duplicates = false;
    std::int64_t count[4] = {0, 0, 0, 0};
    constexpr int graphs = 5000;
    for (int g = 0; g < graphs; ++g) {
        options.seed = static_cast<std::uint64_t>(g);
        const GeneratedGraph graph = generate_rmat(options);
        EXPECT_EQ(graph.edges.size(), 4);
        graph.edges.for_each([&](Edge e) { ++count[2 * e.from + e.to]; });
    }
    const double expected[] = {0.5, 0.3, 0.15, 0.05};
    for (int q = 0; q < 4; ++q) {
        // Six standard deviations of a binomial of 20,000 draws.
        EXPECT_NEAR(static_cast<double>(count[q]) / 20000, expected[q],
                    6 * std::sqrt(expected[q] * (1 - expected[q]) / 20000));
    }
}

TEST(Rmat, EachStepCanBeTurnedOff) {
    RmatOptions options = small_rmat();
    options.symmetrise = options.drop_duplicates = false;
    EXPECT_EQ(generate_rmat(options).edges.size(), 20000);
    options.relabel = false;
    const GeneratedGraph unnamed = generate_rmat(options);
    std::int64_t low = 0;
    unnamed.edges.for_each([&](Edge e) { low += e.from < 500 ? 1 : 0; });
    EXPECT_GT(low, 14000) << "the first half of the rows is drawn with a + b = 0.76";
    options.symmetrise = true;
    const std::vector<Edge> both = list_of(generate_rmat(options).edges);
    EXPECT_EQ(both.size(), 20000U);
    EXPECT_EQ(both[1], (Edge{both[0].to, both[0].from}));
}

TEST(Generators, FollowTheSeedAlone) {
    EXPECT_EQ(list_of(generate_rmat(small_rmat()).edges), list_of(generate_rmat(small_rmat()).edges));
    RmatOptions other = small_rmat();
    other.seed = 6;
    EXPECT_NE(list_of(generate_rmat(small_rmat()).edges), list_of(generate_rmat(other).edges));
}

TEST(Generators, RefuseNonsense) {
    expect_error(ErrorCode::usage, {"between 1 and 2^31 - 1, not 0"}, [] { generate_rmat({.vertices = 0}); });
    expect_error(ErrorCode::usage, {"between 1 and 2^31 - 1"},
                 [] { generate_rmat({.vertices = std::int64_t{1} << 62}); });
    expect_error(ErrorCode::usage, {"negative"}, [] { generate_rmat({.vertices = 4, .nonzeros = -1}); });
    expect_error(ErrorCode::usage, {"do not fit"},
                 [] { generate_rmat({.vertices = 4, .nonzeros = std::int64_t{1} << 62}); });
    expect_error(ErrorCode::usage, {"sum to 1"}, [] { generate_rmat({.vertices = 4, .nonzeros = 4, .a = 0.9}); });
    expect_error(ErrorCode::usage, {"classes"}, [] { generate_planted({.vertices = 4, .classes = 5, .features = 1}); });
    expect_error(ErrorCode::usage, {"features"},
                 [] { generate_planted({.vertices = 4, .classes = 2, .features = 0}); });
}

TEST(Generators, OneVertex) {
    EXPECT_EQ(generate_rmat({.vertices = 1, .nonzeros = 1}).edges.size(), 0);
    const GeneratedGraph graph = generate_planted({.vertices = 1, .nonzeros = 0, .classes = 1, .features = 2});
    EXPECT_EQ(graph.labels, (std::vector<std::int32_t>{0}));
    EXPECT_EQ(graph.subset, (std::vector<std::uint8_t>{0}));
}

// Share of test vertices whose row is nearest to the mean training row of their own class.
double centroid_accuracy(const GeneratedGraph& graph, const std::vector<double>& x) {
    const auto f = static_cast<std::size_t>(graph.features);
    std::vector<std::vector<double>> mean(static_cast<std::size_t>(graph.classes), std::vector<double>(f + 1, 0));
    for (std::size_t v = 0; v < graph.subset.size(); ++v) {
        if (graph.subset[v] != train) continue;
        auto& m = mean[static_cast<std::size_t>(graph.labels[v])];
        for (std::size_t j = 0; j < f; ++j) m[j] += x[v * f + j];
        m[f] += 1;
    }
    double right = 0, tested = 0;
    for (std::size_t v = 0; v < graph.subset.size(); ++v) {
        if (graph.subset[v] != test) continue;
        std::vector<double> distance;
        for (const auto& m : mean) {
            double d = 0;
            for (std::size_t j = 0; j < f; ++j) d += std::pow(x[v * f + j] - m[j] / m[f], 2);
            distance.push_back(d);
        }
        const auto best = std::min_element(distance.begin(), distance.end()) - distance.begin();
        right += best == graph.labels[v] ? 1 : 0;
        tested += 1;
    }
    return right / tested;
}

// Each row averaged with its neighbours, which is what a GCN layer does before its weights.
std::vector<double> averaged(const GeneratedGraph& graph, const std::vector<double>& x) {
    const auto f = static_cast<std::size_t>(graph.features);
    std::vector<double> sum = x;
    std::vector<double> count(graph.labels.size(), 1);
    graph.edges.for_each([&](Edge e) {
        for (std::size_t j = 0; j < f; ++j)
            sum[static_cast<std::size_t>(e.to) * f + j] += x[static_cast<std::size_t>(e.from) * f + j];
        count[static_cast<std::size_t>(e.to)] += 1;
    });
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] /= count[i / f];
    return sum;
}

TEST(Planted, NeighboursTellTheClassAndFeaturesAloneDoNot) {
    const GeneratedGraph graph =
        generate_planted({.vertices = 4000, .nonzeros = 40000, .classes = 7, .features = 32, .seed = 9});
    std::vector<float> row(32);
    std::vector<double> x;
    const auto fill = feature_rows(graph);
    for (std::int64_t v = 0; v < graph.vertices; ++v) {
        fill(v, row.data());
        x.insert(x.end(), row.begin(), row.end());
    }
    const double alone = centroid_accuracy(graph, x);
    const double twice = centroid_accuracy(graph, averaged(graph, averaged(graph, x)));
    EXPECT_LT(alone, 0.7);
    EXPECT_GT(alone, 1.0 / 7 + 0.1);
    EXPECT_GT(twice, 0.85);
}

TEST(Planted, EdgesStayInsideTheirClass) {
    PlantedOptions options = small_planted();
    options.relabel = false;
    const GeneratedGraph graph = generate_planted(options);
    EXPECT_TRUE(std::is_sorted(graph.labels.begin(), graph.labels.end()));
    double inside = 0;
    graph.edges.for_each([&](Edge e) {
        inside +=
            graph.labels[static_cast<std::size_t>(e.from)] == graph.labels[static_cast<std::size_t>(e.to)] ? 1 : 0;
    });
    EXPECT_NEAR(inside / static_cast<double>(graph.edges.size()), 0.8 + 0.2 / 4, 0.05);
    for (std::int32_t c = 0; c < 4; ++c) EXPECT_EQ(std::count(graph.labels.begin(), graph.labels.end(), c), 150);
}

void expect_same(const GeneratedGraph& graph, const Dataset& d) {
    std::vector<Edge> read;
    for (std::int64_t u = 0; u < d.vertices(); ++u) {
        for (std::int64_t k = d.graph().out.row_start[static_cast<std::size_t>(u)];
             k < d.graph().out.row_start[static_cast<std::size_t>(u) + 1]; ++k) {
            read.push_back({static_cast<std::int32_t>(u), d.graph().out.column[static_cast<std::size_t>(k)]});
        }
    }
    EXPECT_EQ(d.vertices(), graph.vertices);
    EXPECT_EQ(read, list_of(graph.edges));
    EXPECT_EQ(d.features(), graph.features);
    EXPECT_EQ(d.labels(), graph.labels);
    EXPECT_EQ(d.subset(), graph.subset);
    if (graph.features == 0) return;
    const auto fill = feature_rows(graph);
    std::vector<float> expected(static_cast<std::size_t>(graph.features)), found(expected.size());
    for (std::int64_t v = 0; v < graph.vertices; v += 37) {
        fill(v, expected.data());
        d.read_features({v, v + 1}, {0, graph.features}, found.data(), graph.features);
        ASSERT_EQ(found, expected) << v;
    }
}

TEST(WriteGraph, ReadsBackTheSame) {
    const TempFolder folder;
    const DatasetOptions options{.preparation = {.add_self_loops = false}};
    const GeneratedGraph planted = generate_planted(small_planted());
    // More than one block of the edge list, and more vertices than the largest id tells.
    const GeneratedGraph rmat = generate_rmat({.vertices = 20000, .nonzeros = 200000, .seed = 2});
    for (const char* name : {"out", "out.npz"}) {
        write_graph(planted, folder.path() / name);
        expect_same(planted, open_dataset(folder.path() / name, options));
        write_graph(rmat, folder.path() / (std::string("g") + name));
        expect_same(rmat, open_dataset(folder.path() / (std::string("g") + name), options));
    }
}

TEST(WriteGraph, LeavesNothingElseBehind) {
    const TempFolder folder;
    write_graph(generate_rmat(small_rmat()), folder.path() / "a/");
    write_graph(generate_rmat(small_rmat()), folder.path() / "b.npz");
    write_graph(generate_rmat(small_rmat()), folder.path() / "b.npz");
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path())) names.insert(entry.path().filename().string());
    EXPECT_EQ(names, (std::set<std::string>{"a", "b.npz"}));
}

TEST(WriteGraph, SameSeedSameBytes) {
    const TempFolder folder;
    write_graph(generate_planted(small_planted()), folder.path() / "a.npz");
    write_graph(generate_planted(small_planted()), folder.path() / "b.npz");
    EXPECT_EQ(files::read_bytes(folder.path() / "a.npz"), files::read_bytes(folder.path() / "b.npz"));
}

// Someone who guesses the temporary name cannot make us write through a link of theirs.
TEST(WriteGraph, FollowsNoLinkThatSomeoneElsePutThere) {
    const TempFolder folder;
    folder.write("victim", "precious");
    const std::string guess = ".g.npz.tmp-" + std::to_string(::getpid()) + "-0";
    fs::create_symlink(folder.path() / "victim", folder.path() / guess);
    write_graph(generate_rmat(small_rmat()), folder.path() / "g.npz");
    EXPECT_EQ(files::read_bytes(folder.path() / "victim"), "precious");
    EXPECT_TRUE(fs::is_regular_file(folder.path() / "g.npz"));
    EXPECT_TRUE(fs::is_symlink(folder.path() / guess));
}

TEST(WriteGraph, RefusesWhatItCannotCreate) {
    const TempFolder folder;
    const GeneratedGraph graph = generate_rmat(small_rmat());
    folder.write("full/file", "x");
    expect_error(ErrorCode::cannot_create, {"full", "exists already"},
                 [&] { write_graph(graph, folder.path() / "full"); });
    folder.write("file", "x");
    expect_error(ErrorCode::cannot_create, {"file"}, [&] { write_graph(graph, folder.path() / "file"); });
    expect_error(ErrorCode::cannot_create, {"none/g.npz"}, [&] { write_graph(graph, folder.path() / "none/g.npz"); });
    expect_error(ErrorCode::cannot_create, {"none/g"}, [&] { write_graph(graph, folder.path() / "none/g"); });
    expect_error(ErrorCode::cannot_create, {"/proc/gnnplan"}, [&] { write_graph(graph, "/proc/gnnplan"); });
    expect_error(ErrorCode::cannot_create, {"/proc/gnnplan.npz"}, [&] { write_graph(graph, "/proc/gnnplan.npz"); });
}

}  // namespace
}  // namespace gnnplan::data
