// Ranks that read shares of files of features have the rows that they would have read by themselves: the same bits, of
// every form of files, on every grid, and with as many bytes as were predicted.
#include "runtime/load/deal_features.hpp"

#include "kernels/table.hpp"
#include "runtime/comm/threads.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/load/predict_features.hpp"
#include "tests/runtime/load/schedules.hpp"
#include "tests/support/test_files.hpp"

#include <gnnplan/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace gnnplan::load {
namespace {

using data::files::TempFolder;

// The value of a feature, as a text of a file has it.
std::string value(std::int64_t vertex, std::int64_t column) {
    return std::to_string((vertex * 7 + column * 3) % 11 - 5) + "." + std::to_string((vertex + column) % 10);
}

std::string line(std::int64_t vertex, std::int64_t columns, bool with_id) {
    std::string text = with_id ? std::to_string(vertex) : "";
    for (std::int64_t j = 0; j < columns; ++j) text += (text.empty() ? "" : ",") + value(vertex, j);
    return text + "\n";
}

std::string lines(const std::vector<std::int64_t>& vertices, std::int64_t columns, bool with_id = true) {
    std::string text;
    for (const std::int64_t vertex : vertices) text += line(vertex, columns, with_id);
    return text;
}

// Vertices without order, cut into so many parts of different lengths.
std::vector<std::vector<std::int64_t>> shuffled(std::int64_t vertices, std::int64_t parts) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(vertices));
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), std::mt19937(9));
    std::vector<std::vector<std::int64_t>> cut;
    for (std::int64_t i = 0; i < parts; ++i) {
        const auto place = [&](std::int64_t part) { return all.begin() + vertices * part * part / (parts * parts); };
        cut.emplace_back(place(i), place(i + 1));
    }
    return cut;
}

// A way of writing features.
struct Form {
    const char* name;
    std::function<void(const TempFolder&, std::int64_t vertices, std::int64_t columns)> write;
    bool by_one = false;  // where several ranks read
};

std::vector<Form> forms() {
    using Folder = const TempFolder&;
    const auto ordered = [](const char* file) {
        return [file](Folder f, std::int64_t n, std::int64_t columns) {
            std::vector<std::int64_t> all(static_cast<std::size_t>(n));
            std::iota(all.begin(), all.end(), 0);
            f.write(file, lines(all, columns, false));
        };
    };
    // Every third part is compressed, if asked, or all of them.
    const auto by_id = [](std::int64_t parts, int compressed, const std::string& header = "") {
        return [parts, compressed, header](Folder f, std::int64_t n, std::int64_t columns) {
            const auto cut = shuffled(n, parts);
            for (std::size_t i = 0; i < cut.size(); ++i) {
                const bool packed = compressed > 0 && i % static_cast<std::size_t>(compressed) == 0;
                f.write("raw/node-feat/part-" + std::to_string(i) + (packed ? ".csv.gz" : ".csv"),
                        header + lines(cut[i], columns));
            }
        };
    };
    return {{"lines in order", ordered("raw/node-feat.csv")},
            {"lines in order, compressed", ordered("raw/node-feat.csv.gz"), true},
            {"one file of ids", by_id(1, 0)},
            {"one file of ids, compressed", by_id(1, 1), true},
            {"several files with headers", by_id(5, 0, "id,and,features\n")},
            {"several files, some compressed", by_id(7, 3)},
            {"several files, all compressed", by_id(4, 1)}};
}

void write_graph(const TempFolder& folder, std::int64_t vertices) {
    folder.write("raw/edge.csv", "0,1\n");
    folder.write("raw/num-node-list.csv", std::to_string(vertices) + "\n");
}

data::Dataset open(const TempFolder& folder, std::int64_t in_shares, bool normalised = false) {
    data::DatasetOptions options;
    options.in_shares = in_shares;
    options.feature_norm = normalised ? FeatureNorm::row : FeatureNorm::none;
    return data::open_dataset(folder.path(), options);
}

// The features in some layouts, such as "xzy" for whole rows on every rank.
Schedule schedule(std::int64_t vertices, std::int64_t columns, const Grid& grid, const Numbering& numbering,
                  const std::vector<Layout>& layouts) {
    Schedule made = testing::schedule(vertices, grid, false, 0, numbering);
    for (const Layout& layout : layouts) {
        Tensor tensor;
        tensor.name = "x." + std::to_string(made.tensors.size());
        tensor.role = Role::features;
        tensor.rows = vertices;
        tensor.columns = columns;
        tensor.layout = layout;
        tensor.space = 0;
        made.tensors.push_back(tensor);
    }
    return made;
}

Layout layout(const char* rows, const char* columns) { return {Axes::parse(rows), Axes::parse(columns), {}}; }

// Rows over all ranks, columns over y, all of them on several ranks, and two of these at a time.
std::vector<std::vector<Layout>> layouts() {
    return {{layout("xzy", "")}, {layout("xz", "y")}, {layout("x", "")}, {layout("xz", "y"), layout("xzy", "")}};
}

// Deals all features and compares them with those of the whole data set.
void check(const TempFolder& folder, const Schedule& schedule, bool by_one, bool normalised) {
    const std::int64_t vertices = schedule.spaces.front().rows;
    const data::Dataset whole = open(folder, 0, normalised), shares = open(folder, vertices, normalised);
    ASSERT_TRUE(shares.features_in_shares());
    const Dealing predicted = predict_features(whole, {&schedule});
    const std::vector<TensorId> tensors = feature_tensors(schedule);
    const data::VertexOrder order = data::make_order(vertices, schedule.numbering);
    comm::run_ranks(schedule.grid.size(), [&](comm::Communicator& comm) {
        std::vector<std::vector<float>> got(tensors.size());
        std::vector<std::int64_t> columns;
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            const Block block = block_of(schedule, tensors[t], comm.rank());
            got[t].assign(static_cast<std::size_t>(block.count()), -99);
            columns.push_back(block.columns.size());
        }
        const DealtFeatures dealt = deal_features(comm, shares, {schedule, tensors}, order,
                                                  [&](std::size_t t, std::int64_t row, std::span<const float> values) {
                                                      ASSERT_EQ(std::ssize(values), columns[t]);
                                                      std::ranges::copy(values, got[t].begin() + row * columns[t]);
                                                  });
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            const Block block = block_of(schedule, tensors[t], comm.rank());
            std::vector<float> wanted(got[t].size());
            whole.read_features(block.rows, block.columns, wanted.data(), block.columns.size(), &order);
            EXPECT_EQ(got[t], wanted) << "tensor " << t << " of rank " << comm.rank();
        }
        EXPECT_EQ(dealt.step.traffic.sent_bytes, predicted.bytes.front()[static_cast<std::size_t>(comm.rank())]);
        EXPECT_EQ(dealt.listing, predicted.listing);
        EXPECT_EQ(data::feature_fingerprint(dealt.hash), data::fingerprints_of(whole).features);
        EXPECT_EQ(dealt.by_one, by_one && comm.size() > 1);
    });
}

std::vector<Grid> grids_to_six() {
    return {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {4, 1, 1}, {2, 2, 1}, {5, 1, 1}, {3, 2, 1}, {1, 2, 3}};
}

TEST(DealFeatures, AreThoseOfTheWholeOnEveryGrid) {
    for (const Form& form : forms()) {
        const TempFolder folder;
        const std::int64_t vertices = 43, columns = 5;
        write_graph(folder, vertices);
        form.write(folder, vertices, columns);
        for (const Grid& grid : grids_to_six()) {
            for (const auto& each : layouts()) {
                SCOPED_TRACE(std::string(form.name) + " on " + grid.text() + ", rows over " + each.front().rows.text());
                const bool permuted = grid.size() % 2 == 0;
                const Numbering numbering{.permuted = permuted, .seed = permuted ? 4U : 0U};
                check(folder, schedule(vertices, columns, grid, numbering, each), form.by_one, grid.x == 2);
            }
        }
    }
}

TEST(DealFeatures, MayBeFewerThanRanks) {
    for (const Form& form : forms()) {
        const TempFolder folder;
        write_graph(folder, 3);
        form.write(folder, 3, 2);
        SCOPED_TRACE(form.name);
        check(folder, schedule(3, 2, {3, 2, 1}, {}, {layout("xz", "y"), layout("xzy", "")}), form.by_one, false);
    }
}

// More rows than go in a round; the number of threads changes neither rows nor bytes.
TEST(DealFeatures, TakeSeveralRounds) {
    const std::int64_t vertices = 270, columns = 8200;
    ASSERT_GT(vertices, 4 * rows_dealt_in_round(4, columns));
    for (const std::size_t i : {0, 2, 5}) {
        const Form form = forms()[i];
        const TempFolder folder;
        write_graph(folder, vertices);
        form.write(folder, vertices, columns);
        SCOPED_TRACE(form.name);
        kernels::set_threads(3);
        check(folder, schedule(vertices, columns, {2, 2, 1}, {}, {layout("x", "y")}), form.by_one, false);
        kernels::set_threads(1);
    }
}

TEST(DealFeatures, FollowWhoReadsWhatAndNotHowManyTheyAre) {
    const TempFolder one, other;
    for (const TempFolder* folder : {&one, &other}) write_graph(*folder, 6);
    one.write("raw/node-feat/a.csv", "0,1,1\n1,1,1\n2,1,1\n3,1,1\n4,1,1\n5,1,1\n");
    other.write("raw/node-feat/a.csv", "5,1,1\n4,1,1\n3,1,1\n2,1,1\n1,1,1\n0,1,1\n");
    const Schedule rows = schedule(6, 2, {2, 1, 1}, {}, {layout("x", "")});
    const Dealing in_place = predict_features(open(one, 0), {&rows}),
                  across = predict_features(open(other, 0), {&rows});
    // A count and a state, 16 bytes, in the one round and in that which finds both finished; and three rows of each
    // rank, of 12 bytes.
    EXPECT_EQ(in_place.bytes.front(), (std::vector<std::int64_t>{32, 32}));
    EXPECT_EQ(across.bytes.front(), (std::vector<std::int64_t>{68, 68}));
    EXPECT_NE(in_place.listing, across.listing);
}

// The message on every rank.
void expect_refused(const TempFolder& folder, std::int64_t vertices, const std::vector<std::string>& parts) {
    for (const int ranks : {1, 2, 5}) {
        const data::Dataset shares = open(folder, vertices);
        const Schedule rows = schedule(vertices, shares.features(), {ranks, 1, 1}, {}, {layout("x", "")});
        comm::run_ranks(ranks, [&](comm::Communicator& comm) {
            try {
                deal_features(comm, shares, {rows, feature_tensors(rows)}, {}, [](auto...) {});
                ADD_FAILURE() << "is accepted by " << ranks << " ranks";
            } catch (const comm::AgreedError& error) {
                EXPECT_EQ(error.code(), ErrorCode::data);
                for (const std::string& part : parts)
                    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
            }
        });
    }
}

TEST(DealFeatures, RefusesWithOneSentenceOnAllRanks) {
    const std::int64_t vertices = 30;
    const auto cut = shuffled(vertices, 3);
    const auto with = [&](const std::string& more, const std::vector<std::string>& parts) {
        const TempFolder folder;
        write_graph(folder, vertices);
        for (std::size_t i = 0; i < 2; ++i)
            folder.write("raw/node-feat/" + std::to_string(i) + ".csv", lines(cut[i], 3));
        folder.write("raw/node-feat/2.csv", more);
        expect_refused(folder, vertices, parts);
    };
    const std::string rest = lines(cut[2], 3);
    const std::string last = std::to_string(std::ranges::count(rest, '\n') + 1);
    const std::string known = std::to_string(cut[1].front());
    with(rest + "30,1,2,3\n", {"2.csv:" + last + ": vertex id '30' is out of range"});
    with(rest + "x\n", {"2.csv:" + last + ": malformed line"});
    with(rest + "29,1,2\n", {"2.csv:" + last + ": 3 features expected, as in "});
    with(rest + "29,1,inf,2\n", {"2.csv:" + last + ": feature 1 is not finite"});
    with(rest + known + ",1,2,3\n",
         {"2.csv:" + last + ": a second line for vertex " + known + "; its first is ", "1.csv:1"});
    with("", {"raw/node-feat: no line has the features of vertex ",
              "nor of " + std::to_string(cut[2].size() - 1) + " others: each of 30 vertices needs one"});
}

TEST(DealFeatures, RefusesFilesInOrderThatAreTooShortOrTooLong) {
    const auto with = [&](int rows, const std::vector<std::string>& parts) {
        for (const std::string file : {"raw/node-feat.csv", "raw/node-feat.csv.gz"}) {
            const TempFolder folder;
            write_graph(folder, 9);
            std::vector<std::int64_t> all(static_cast<std::size_t>(rows));
            std::iota(all.begin(), all.end(), 0);
            folder.write(file, lines(all, 2, false));
            expect_refused(folder, 9, parts);
        }
    };
    with(7, {"the file ends after 7 of 9 rows"});
    with(10, {":10: more rows than the 9 vertices"});
}

// Where ranks find their rows, nothing is dealt, and nothing predicted.
TEST(DealFeatures, RowsOfArraysAreReadInPlace) {
    const TempFolder folder;
    const std::vector<data::files::Array> arrays{
        {"edge_index", "<i8", {2, 1}, data::files::bytes_of<std::int64_t>({0, 1})},
        {"x", "<f4", {2, 2}, data::files::bytes_of<float>({1, 2, 3, 4})}};
    for (const bool stored : {true, false}) {
        const auto path = data::files::write_npz(folder, arrays, stored);
        data::DatasetOptions options;
        options.in_shares = 2;
        EXPECT_EQ(data::open_dataset(path, options).features_in_shares(), !stored);
        const Schedule rows = schedule(2, 2, {2, 1, 1}, {}, {layout("x", "")});
        const Dealing dealing = predict_features(data::open_dataset(path), {&rows});
        ASSERT_EQ(dealing.bytes.size(), stored ? 0U : 1U);
        // The first rank reads both rows, and sends one, of 12 bytes.
        if (!stored) {
            EXPECT_EQ(dealing.bytes.front(), (std::vector<std::int64_t>{44, 32}));
        }
    }
}

}  // namespace
}  // namespace gnnplan::load
