// Ranks load together what each of them would have cut out of the whole graph: the same bits, of every form of
// data, however it is prepared and distributed.
#include "runtime/load/share.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/comm/threads.hpp"
#include "runtime/load/counts.hpp"
#include "runtime/load/predict.hpp"
#include "tests/runtime/load/schedules.hpp"
#include "tests/support/test_files.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace gnnplan::load {
namespace {

using data::files::Array;
using data::files::bytes_of;
using data::files::TempFolder;

struct Listed {
    std::int64_t from = 0, to = 0;
    float weight = 1;
};

// With self loops, duplicates, edges in both directions, and vertices without any.
std::vector<Listed> listed(std::int64_t vertices, int edges, bool both_ways, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Listed> list;
    const auto vertex = [&] { return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(vertices)); };
    for (int e = 0; e < edges; ++e) {
        const Listed edge{vertex(), std::min(vertex(), vertices - 3), 0.25F * static_cast<float>(1 + random() % 9)};
        list.push_back(edge);
        if (both_ways || e % 7 == 0) list.push_back({edge.to, edge.from, edge.weight});
        if (e % 11 == 0) list.push_back(edge);
    }
    list.push_back({2, 2});
    list.push_back({vertices - 1, 0});  // so that lists know how many vertices there are
    if (both_ways) list.push_back({0, vertices - 1});
    return list;
}

std::string line(const Listed& edge, const char* separator, std::int64_t base) {
    return std::to_string(edge.from + base) + separator + std::to_string(edge.to + base) + separator +
           std::to_string(edge.weight) + "\n";
}

std::string text(const std::vector<Listed>& list, const char* separator, std::int64_t base = 0) {
    std::string all;
    for (const Listed& edge : list) all += line(edge, separator, base);
    return all;
}

// A way of writing a list of edges.
struct Form {
    const char* name;
    std::function<std::filesystem::path(const TempFolder&, const std::vector<Listed>&, std::int64_t vertices)> write;
    bool weights = true;
    bool by_one = false;  // where it is read by several ranks
    data::IndexBase base = data::IndexBase::zero;
};

Array edge_index(const std::vector<Listed>& list, bool fortran) {
    std::vector<std::int64_t> ids;
    if (fortran) {
        for (const Listed& edge : list) ids.push_back(edge.from), ids.push_back(edge.to);
    } else {
        for (const Listed& edge : list) ids.push_back(edge.from);
        for (const Listed& edge : list) ids.push_back(edge.to);
    }
    return {"edge_index", "<i8", {2, std::ssize(list)}, bytes_of(ids), fortran};
}

std::vector<Array> arrays(const std::vector<Listed>& list, std::int64_t vertices, bool fortran) {
    std::vector<float> weights;
    for (const Listed& edge : list) weights.push_back(edge.weight);
    return {edge_index(list, fortran),
            {"edge_weight", "<f4", {std::ssize(list)}, bytes_of(weights)},
            {"num_nodes", "<i8", {}, bytes_of({vertices})}};
}

std::vector<Array> scipy(const std::vector<Listed>& list, std::int64_t vertices) {
    std::vector<Listed> sorted = list;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Listed& a, const Listed& b) { return a.from < b.from; });
    std::vector<std::int64_t> starts(static_cast<std::size_t>(vertices) + 1, 0);
    std::vector<std::int32_t> columns;
    std::vector<float> weights;
    for (const Listed& edge : sorted) {
        ++starts[static_cast<std::size_t>(edge.from) + 1];
        columns.push_back(static_cast<std::int32_t>(edge.to));
        weights.push_back(edge.weight);
    }
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    return {{"indptr", "<i8", {vertices + 1}, bytes_of(starts)},
            {"indices", "<i4", {std::ssize(columns)}, bytes_of(columns)},
            {"data", "<f4", {std::ssize(weights)}, bytes_of(weights)},
            {"shape", "<i8", {2}, bytes_of({vertices, vertices})}};
}

std::vector<Array> coo(const std::vector<Listed>& list, std::int64_t vertices) {
    std::vector<std::int32_t> rows, columns;
    std::vector<float> weights;
    for (const Listed& edge : list) {
        rows.push_back(static_cast<std::int32_t>(edge.from));
        columns.push_back(static_cast<std::int32_t>(edge.to));
        weights.push_back(edge.weight);
    }
    return {{"row", "<i4", {std::ssize(rows)}, bytes_of(rows)},
            {"col", "<i4", {std::ssize(columns)}, bytes_of(columns)},
            {"data", "<f4", {std::ssize(weights)}, bytes_of(weights)},
            {"shape", "<i8", {2}, bytes_of({vertices, vertices})},
            {"format", "|S3", {}, "coo"}};
}

std::string pairs(const std::vector<Listed>& list) {
    std::string all;
    for (const Listed& edge : list) all += std::to_string(edge.from) + "," + std::to_string(edge.to) + "\n";
    return all;
}

std::filesystem::path write_ogb(const TempFolder& folder, const std::vector<Listed>& list, std::int64_t vertices,
                                const std::string& end) {
    std::string weights;
    for (const Listed& edge : list) weights += std::to_string(edge.weight) + "\n";
    folder.write("raw/edge.csv" + end, pairs(list));
    folder.write("raw/edge-feat.csv" + end, weights);
    folder.write("raw/num-node-list.csv" + end, std::to_string(vertices) + "\n");
    folder.write("raw/num-edge-list.csv" + end, std::to_string(list.size()) + "\n");
    return folder.path();
}

std::vector<Form> forms() {
    using Folder = const TempFolder&;
    using List = const std::vector<Listed>&;
    return {
        {"text", [](Folder f, List l, std::int64_t) { return f.write("g.txt", "# a comment\n" + text(l, " ")); }},
        {"CSV with a header and Windows' ends of lines",
         [](Folder f, List l, std::int64_t) {
             std::string all = "source,target,weight\r\n";
             for (const char c : text(l, ",")) all += c == '\n' ? std::string("\r\n") : std::string(1, c);
             return f.write("g.csv", all);
         }},
        {"text from 1, the last line without its end",
         [](Folder f, List l, std::int64_t) {
             std::string all = text(l, "\t", 1);
             all.pop_back();
             return f.write("g.txt", all);
         },
         true, false, data::IndexBase::one},
        {"gzipped text", [](Folder f, List l, std::int64_t) { return f.write("g.txt.gz", text(l, " ")); }, true, true},
        {"CSV with columns in another order",
         [](Folder f, List l, std::int64_t) {
             std::string all = "id,weight,target,source\n";
             for (const Listed& e : l)
                 all +=
                     "7," + std::to_string(e.weight) + "," + std::to_string(e.to) + "," + std::to_string(e.from) + "\n";
             return f.write("g.csv", all);
         }},
        {"semicolons and decimal commas",
         [](Folder f, List l, std::int64_t) {
             std::string all;
             for (const char c : text(l, ";")) all += c == '.' ? ',' : c;
             return f.write("g.csv", all);
         }},
        {"Matrix Market",
         [](Folder f, List l, std::int64_t n) {
             return f.write("g.mtx", "%%MatrixMarket matrix coordinate real general\n% comment\n" + std::to_string(n) +
                                         " " + std::to_string(n) + " " + std::to_string(l.size()) + "\n" +
                                         text(l, " ", 1));
         }},
        {"npz, stored",
         [](Folder f, List l, std::int64_t n) { return data::files::write_npz(f, arrays(l, n, false), true); }},
        {"npz, stored pair by pair",
         [](Folder f, List l, std::int64_t n) { return data::files::write_npz(f, arrays(l, n, true), true); }},
        {"npz, compressed",
         [](Folder f, List l, std::int64_t n) { return data::files::write_npz(f, arrays(l, n, false)); }, true, true},
        {"folder of .npy arrays",
         [](Folder f, List l, std::int64_t n) {
             for (const Array& array : arrays(l, n, false))
                 f.write("arrays/" + array.name + ".npy", data::files::npy_bytes(array));
             return f.path() / "arrays";
         }},
        {"SciPy, stored",
         [](Folder f, List l, std::int64_t n) { return data::files::write_npz(f, scipy(l, n), true); }},
        {"SciPy, compressed", [](Folder f, List l, std::int64_t n) { return data::files::write_npz(f, scipy(l, n)); },
         true, true},
        {"SciPy COO, stored",
         [](Folder f, List l, std::int64_t n) { return data::files::write_npz(f, coo(l, n), true); }},
        {"SciPy COO, compressed", [](Folder f, List l, std::int64_t n) { return data::files::write_npz(f, coo(l, n)); },
         true, true},
        {"OGB, binary",
         [](Folder f, List l, std::int64_t n) {
             std::vector<Array> all = arrays(l, n, false);
             all[1].name = "edge_feat";
             all[2].name = "num_nodes_list";
             std::filesystem::create_directories(f.path() / "raw");
             std::filesystem::rename(data::files::write_npz(f, all, true), f.path() / "raw/data.npz");
             return f.path();
         }},
        {"OGB", [](Folder f, List l, std::int64_t n) { return write_ogb(f, l, n, ""); }, false},
        {"OGB with weights", [](Folder f, List l, std::int64_t n) { return write_ogb(f, l, n, ""); }, true, true},
        {"OGB, gzipped", [](Folder f, List l, std::int64_t n) { return write_ogb(f, l, n, ".gz"); }, true, true},
    };
}

// How data is prepared and multiplied by.
struct Case {
    std::int64_t vertices = 40;
    int edges = 90;
    bool both_ways = false;  // every edge is listed with its reverse
    data::Preparation preparation{};
    Normalisation normalisation = Normalisation::symmetric;
    bool backward = false;
    bool permuted = false;
    std::vector<std::int64_t> fanout{};
};

data::DatasetOptions options_of(const Case& of, data::IndexBase base) {
    data::DatasetOptions options;
    options.preparation = of.preparation;
    options.index_base = base;
    options.graph_only = true;
    options.fanout = of.fanout;
    options.drawn_weighted = !of.fanout.empty();
    options.seed = 3;
    return options;
}

std::int64_t counted(const GraphShare& share, const std::string& name) {
    const auto found =
        std::find_if(share.steps.begin(), share.steps.end(), [&](const LoadStep& step) { return step.name == name; });
    return found->traffic.sent_bytes;
}

// Compares what a rank has with what the whole graph says.
void compare(const data::Dataset& whole, const Schedule& schedule, const Case& of, const GraphShare& share,
             comm::Communicator& comm, const std::vector<std::int64_t>& dealt) {
    const data::GraphCounts all(whole.graph());
    const auto numbered = std::dynamic_pointer_cast<const data::GraphCounts>(all.numbered(schedule.numbering));
    const data::DegreeScales scales = data::stored_scales(whole.graph(), of.normalisation);
    const int rank = comm.rank();
    EXPECT_EQ(share.fingerprint, whole.fingerprint());
    EXPECT_EQ(share.graph.symmetric, whole.graph().symmetric);
    EXPECT_EQ(share.report.describe(), whole.report().describe());
    EXPECT_EQ(share.bytes, load_bytes(schedule, *numbered, rank));
    EXPECT_EQ(numbered->order().vertex, share.order->vertex);
    for (const Tensor& tensor : schedule.tensors) {
        for (const Piece& piece : pieces_of(schedule.grid, tensor, rank)) {
            const data::LocalBlock wanted = data::build_block(whole.graph(), tensor.matrix(), share.rows, piece.columns,
                                                              scales, &numbered->order());
            const data::LocalBlock got =
                data::build_block(share.graph, tensor.matrix(), share.rows, piece.columns, share.scales);
            EXPECT_TRUE(std::ranges::equal(wanted.buffer(), got.buffer())) << tensor.name;
        }
    }
    const RowShares shares(schedule);
    const LoadingNeeds needs(schedule, of.normalisation, of.preparation.symmetrise, whole.graph().symmetric);
    EXPECT_EQ(counted(share, "deal"), dealt[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(counted(share, "rows"), shared_bytes(shares, needs, *numbered, rank));
    EXPECT_EQ(counted(share, "degrees"), degree_bytes(shares, needs, of.normalisation, *numbered, rank));
    // Questions about other ranks' rows, too.
    ShareCounts counts(share);
    const auto ask = [&](const GraphStats& graph) {
        std::vector<std::int64_t> answers{graph.nonzeros(), graph.samples()};
        for (int other = 0; other < schedule.grid.size(); ++other) {
            answers.push_back(load_bytes(schedule, graph, other));
            for (const Tensor& tensor : schedule.tensors) {
                for (const Piece& piece : pieces_of(schedule.grid, tensor, other)) {
                    answers.push_back(graph.block_nonzeros(tensor.matrix(), shares.kept(other), piece.columns));
                    answers.push_back(graph.distinct_columns(tensor.matrix(), shares.kept(other), piece.columns));
                }
            }
        }
        return answers;
    };
    counts.answer_together(comm, [&] { ask(counts); });
    EXPECT_EQ(ask(counts), ask(*numbered));
}

void check(const Form& form, const Case& of, const Grid& grid) {
    const TempFolder folder;
    const auto path = form.write(folder, listed(of.vertices, of.edges, of.both_ways, 5), of.vertices);
    data::DatasetOptions options = options_of(of, form.base);
    const data::Dataset whole = data::open_dataset(path, options);
    EXPECT_EQ(whole.report().divisible, !form.by_one);
    EXPECT_EQ(whole.report().text,
              path.extension() != ".npz" && path.filename() != "arrays" && std::string(form.name) != "OGB, binary");
    options.in_shares = of.vertices;
    const data::Dataset in_shares = data::open_dataset(path, options);
    const Numbering numbering{.permuted = of.permuted, .seed = of.permuted ? 7U : 0U};
    const Schedule schedule =
        testing::schedule(of.vertices, grid, of.backward, static_cast<int>(of.fanout.size()), numbering);
    const bool symmetric = whole.graph().symmetric;
    const auto dealt = predict_dealing(in_shares, {&schedule}, of.normalisation, symmetric);
    comm::run_ranks(grid.size(), [&](comm::Communicator& comm) {
        const GraphShare share = load_share(comm, in_shares, schedule, of.normalisation, symmetric);
        EXPECT_EQ(share.by_one, form.by_one && grid.size() > 1);
        EXPECT_EQ(share.listing, dealt.listing);
        compare(whole, schedule, of, share, comm, dealt.bytes.front());
    });
}

std::vector<Case> cases() {
    const data::Preparation plain{}, symmetrised{true, true, false}, no_loops{false, false, false};
    const data::Preparation weighted{false, true, true}, weighted_both{true, false, true},
        weighted_bare{false, false, true};
    return {
        {40, 90, false, plain},
        {40, 90, true, plain, Normalisation::symmetric, true},
        {40, 90, false, symmetrised, Normalisation::symmetric, true, true},
        {40, 90, false, no_loops, Normalisation::row_mean, true},
        {40, 90, false, no_loops, Normalisation::none},
        {40, 90, false, weighted, Normalisation::symmetric, true, true},
        {40, 90, false, weighted_both, Normalisation::row_mean},
        {40, 200, false, plain, Normalisation::symmetric, false, false, {3, 2}},
        {40, 200, false, symmetrised, Normalisation::row_mean, false, true, {4}},
        {40, 200, false, weighted, Normalisation::none, false, true, {2, 5, 1}},
        {5, 3, false, plain, Normalisation::symmetric, true},    // fewer rows and lines than ranks
        {40, 6, false, weighted_bare, Normalisation::row_mean},  // ranks whose rows are all empty
    };
}

TEST(GraphShare, CutsTheBlocksOfTheWholeGraph) {
    const std::vector<Case> all = cases();
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const Grid& grid : testing::grids()) {
            SCOPED_TRACE(grid.text() + ", case " + std::to_string(i));
            check(forms().front(), all[i], grid);
        }
    }
}

TEST(GraphShare, ReadsEveryFormInShares) {
    const std::vector<Form> every = forms();
    for (const Form& form : every) {
        const std::vector<Case> all = cases();
        for (const Case& of : {all[0], all[3], all[5]}) {
            if (of.preparation.edge_weights && !form.weights) continue;
            if (!of.preparation.edge_weights && form.by_one && std::string(form.name) == "OGB with weights") continue;
            for (const Grid& grid : {Grid{1, 1, 1}, Grid{3, 1, 1}, Grid{2, 2, 1}, Grid{8, 1, 1}}) {
                SCOPED_TRACE(std::string(form.name) + " " + grid.text());
                check(form, of, grid);
            }
        }
    }
}

void expect_refused(const std::string& content, std::int64_t vertices, bool symmetric, ErrorCode code,
                    const std::vector<std::string>& parts, int ranks = 3, const std::string& name = "g.txt") {
    const TempFolder folder;
    const auto path = folder.write(name, content);
    data::DatasetOptions options = options_of({}, data::IndexBase::zero);
    options.in_shares = vertices;
    const data::Dataset dataset = data::open_dataset(path, options);
    const Schedule schedule = testing::schedule(vertices, {ranks, 1, 1});
    data::files::expect_error(code, parts, [&] {
        comm::run_ranks(ranks, [&](comm::Communicator& comm) {
            load_share(comm, dataset, schedule, Normalisation::symmetric, symmetric);
        });
    });
}

TEST(GraphShare, SaysWhichLineIsWrongWhoeverReadsIt) {
    std::string content;
    for (int i = 0; i < 1000; ++i) content += "1 2\n";
    for (const int wrong : {3, 400, 999}) {
        std::string broken = content;
        broken.replace(static_cast<std::size_t>(4 * wrong), 3, "1 x");
        expect_refused(broken, 5, false, ErrorCode::data, {"g.txt:" + std::to_string(wrong + 1), "'x'"});
    }
    expect_refused(content + "7 1\n", 5, false, ErrorCode::mismatch, {"the plan is for 5 vertices", "vertex 7"});
    expect_refused("0 1\n1 2\n", 3, true, ErrorCode::mismatch, {"symmetric graph, this one is directed"});
}

// Each share alone is a valid list of edges.
TEST(GraphShare, RefusesOtherFormsAsWhoReadsAll) {
    std::string list, matrix = "# c\n6 6 300\n", metis = "300 300\n";
    for (int i = 0; i < 300; ++i) {
        list += std::to_string(i % 6) + (i < 290 ? " 1\n" : " 1 2\n");
        matrix += std::to_string(1 + i % 6) + " 2\n";
        metis += std::to_string(1 + (i + 1) % 300) + " " + std::to_string(1 + (i + 299) % 300) + "\n";
    }
    std::string regular, lone = list.substr(0, 400) + "3\n" + list.substr(400, 400) + "5\n";
    for (int i = 0; i < 50; ++i)
        regular += std::to_string(i) + " " + std::to_string((i + 1) % 50) + " " + std::to_string((i + 7) % 50) + "\n";
    for (const std::string& content : {list, matrix, metis, regular, lone, std::string("0 1 2 3\n1 2 3\n3\n")}) {
        for (const std::string name : {"g.txt", "g.txt.gz"}) {
            std::string whole = name + " was read";
            const TempFolder folder;
            try {
                data::open_dataset(folder.write(name, content));
            } catch (const Error& error) {
                whole = error.what();
            }
            whole = whole.substr(whole.find(name));  // without the folder
            // The plan knows as many vertices as there are, or fewer.
            for (const std::int64_t vertices : {301, 4}) {
                for (const int ranks : {1, 2, 5})
                    expect_refused(content, vertices, false, ErrorCode::data, {whole}, ranks, name);
            }
        }
    }
}

TEST(GraphShare, RemarksWhatWhoReadsAllRemarks) {
    const std::string contents[] = {
        "# Nodes: 6 Edges: 9\n1 880\n1 180\n2 880\n2 551\n9 180\n9 551\n",  // few ids, each an end of one kind
        "0 1 0.5\n1 2\n2 0\n",
        "2 1 0\n0 2 1\n0 1 2\n",
        "# Nodes: 2\n0 1\n1 2\n2 0\n0 2\n",
    };
    for (const std::string& content : contents) {
        for (const bool symmetrise : {false, true}) {
            for (const bool backward : {false, true}) {
                const TempFolder folder;
                const auto path = folder.write("g.txt", content);
                Case of;
                of.preparation.symmetrise = symmetrise;
                data::DatasetOptions options = options_of(of, data::IndexBase::zero);
                const data::Dataset whole = data::open_dataset(path, options);
                EXPECT_FALSE(whole.report().remarks.empty()) << content;
                options.in_shares = whole.vertices();
                const data::Dataset dataset = data::open_dataset(path, options);
                for (const int ranks : {1, 2, 5}) {
                    const Schedule schedule = testing::schedule(whole.vertices(), {ranks, 1, 1}, backward);
                    comm::run_ranks(ranks, [&](comm::Communicator& comm) {
                        const GraphShare share =
                            load_share(comm, dataset, schedule, Normalisation::symmetric, symmetrise);
                        EXPECT_EQ(share.report.remarks, whole.report().remarks) << content;
                    });
                }
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::load
