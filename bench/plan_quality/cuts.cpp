// How many rows a sparse product moves when edges are dealt to ranks, by each rule of cuts, beside needed rows on
// METIS's parts; and how evenly edges lie: cuts PARTS[,PARTS...] GRAPH... prints the rows of a Markdown table. Lists
// are taken as undirected. `cuts stream GRAPH` prints the edges as Libra's rule gets them, for dgl_cut.py.
//
// HDRF (Petroni et al. 2015) is no rule of ours: its replication factor of email-Enron is published, so that it checks
// how degrees, replicas and edges are counted here.
#include "runtime/data/dataset.hpp"
#include "runtime/graph/cut.hpp"
#include "runtime/graph/order.hpp"
#include "runtime/graph/partition.hpp"
#include "runtime/graph/stream_cut.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace gnnplan;

constexpr std::uint64_t seed = 1;  // gnnplan's default

struct Figures {
    double replication = 0;  // parts of a vertex with edges, in the mean
    double rows = 0;         // moved by a product, over the vertices: gathered ones and sums
    double imbalance = 0;    // edges of the largest part over the mean
    double seconds = 0;
};

Figures figures_of(const data::Neighbours& graph, const data::EdgeParts& part, int parts,
                   const std::vector<std::int32_t>* owner) {
    const data::Replicas replicas = data::replicas_of(graph, part, parts);
    std::int64_t all = 0;
    std::int64_t elsewhere = 0;
    std::int64_t connected = 0;
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        all += replicas.count(v);
        connected += graph.degree(v) > 0 ? 1 : 0;
        if (owner != nullptr) elsewhere += replicas.count(v) - (replicas.has(v, (*owner)[at(v)]) ? 1 : 0);
    }
    std::vector<std::int64_t> edges(at(parts), 0);
    for (const std::int16_t p : part) ++edges[at(p)];
    Figures found;
    found.replication = static_cast<double>(all) / static_cast<double>(connected);
    found.rows = 2.0 * static_cast<double>(elsewhere) / static_cast<double>(graph.vertices());
    found.imbalance = static_cast<double>(*std::ranges::max_element(edges)) * parts / static_cast<double>(part.size());
    return found;
}

// The parts of the pattern's edges; graphs here have a self loop in every row.
data::EdgeParts without_loops(const data::Csr& matrix, const std::vector<std::int16_t>& part) {
    data::EdgeParts edges;
    edges.reserve(part.size());
    for (std::int64_t v = 0; v < matrix.rows(); ++v) {
        for (std::int64_t k = matrix.row_start[at(v)]; k < matrix.row_start[at(v) + 1]; ++k) {
            if (matrix.column[at(k)] != v) edges.push_back(part[at(k)]);
        }
    }
    return edges;
}

Figures by_rule(const data::Graph& graph, const data::Neighbours& pattern, CutRule rule, int parts) {
    const auto start = std::chrono::steady_clock::now();
    const data::Cut cut = data::cut(graph, rule, parts, seed);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    Figures found = figures_of(pattern, without_loops(graph.out, cut.out), parts, &cut.owner);
    found.seconds = took.count();
    return found;
}

// Needed rows: an edge is where its target is owned, so that nothing is summed elsewhere.
Figures by_needed_rows(const data::Graph& graph, const data::Neighbours& pattern, int parts) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<std::int32_t> owner = data::partition(graph, parts);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    data::EdgeParts part;
    part.reserve(pattern.vertex.size());
    std::int64_t needed = 0;
    std::vector<bool> met(at(parts));
    for (std::int64_t v = 0; v < pattern.vertices(); ++v) {
        std::fill(met.begin(), met.end(), false);
        for (const std::int32_t u : pattern.of(v)) {
            part.push_back(static_cast<std::int16_t>(owner[at(v)]));
            if (owner[at(u)] == owner[at(v)] || met[at(owner[at(u)])]) continue;
            met[at(owner[at(u)])] = true;  // v's row is needed there
            ++needed;
        }
    }
    Figures found = figures_of(pattern, part, parts, nullptr);
    found.replication = 0;
    found.rows = static_cast<double>(needed) / static_cast<double>(pattern.vertices());
    found.seconds = took.count();
    return found;
}

// Edges one by one, in random order, to the part of the best score: replicas of the ends there, that of the end of
// higher degree so far counting less, and lambda times how empty the part is.
Figures by_hdrf(const data::Neighbours& graph, int parts) {
    constexpr double lambda = 1.1;
    struct Edge {
        std::int32_t u, k;
    };
    std::vector<Edge> edges;
    for (std::int32_t u = 0; u < static_cast<std::int32_t>(graph.vertices()); ++u) {
        for (std::int32_t k = graph.start[at(u)]; k < graph.start[at(u) + 1]; ++k) {
            if (graph.vertex[at(k)] > u) edges.push_back({u, k});
        }
    }
    const auto order = data::make_order(std::ssize(edges), {.permuted = true, .seed = seed}).vertex;
    data::Replicas replicas(graph.vertices(), parts);
    data::EdgeParts part(graph.vertex.size(), data::no_part);
    std::vector<std::int64_t> load(at(parts), 0);
    std::vector<std::int64_t> degree(at(graph.vertices()), 0);  // so far
    for (const std::int32_t e : order) {
        const std::int32_t u = edges[at(e)].u;
        const std::int32_t k = edges[at(e)].k;
        const std::int32_t v = graph.vertex[at(k)];
        const auto of_u = static_cast<double>(++degree[at(u)]);
        const auto of_v = static_cast<double>(++degree[at(v)]);
        const std::int64_t least = std::ranges::min(load);
        const std::int64_t most = std::ranges::max(load);
        const auto score = [&](int p) {
            const double here = (replicas.has(u, p) ? 2 - of_u / (of_u + of_v) : 0) +
                                (replicas.has(v, p) ? 2 - of_v / (of_u + of_v) : 0);
            return here + lambda * static_cast<double>(most - load[at(p)]) / static_cast<double>(1 + most - least);
        };
        int best = 0;
        for (int p = 1; p < parts; ++p) best = score(p) > score(best) ? p : best;
        data::set_both(graph, u, k, static_cast<std::int16_t>(best), part);
        replicas.add(u, best);
        replicas.add(v, best);
        ++load[at(best)];
    }
    return figures_of(graph, part, parts, nullptr);
}

void print_row(const std::string& graph, int parts, const char* rule, const Figures& found) {
    const auto figure = [](double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.2f", value);
        return value > 0 ? std::string(text) : std::string("-");
    };
    std::printf("| %s | %d | %s | %s | %s | %.3f | %s |\n", graph.c_str(), parts, rule,
                figure(found.replication).c_str(), figure(found.rows).c_str(), found.imbalance,
                figure(found.seconds).c_str());
}

data::Dataset open_undirected(const std::filesystem::path& path) {
    data::DatasetOptions options;
    options.preparation.symmetrise = true;
    options.graph_only = true;
    return data::open_dataset(path, options);
}

void print_rows(const std::filesystem::path& path, const std::vector<int>& wanted) {
    const data::Dataset dataset = open_undirected(path);
    const data::Graph& graph = dataset.graph();
    const data::Neighbours pattern = data::neighbours_of(graph);
    const std::string name = path.stem().stem().string();
    for (const int parts : wanted) {
        print_row(name, parts, "HDRF", by_hdrf(pattern, parts));
        print_row(name, parts, "Libra", by_rule(graph, pattern, CutRule::libra, parts));
        if (!data::has_partitioner()) continue;
        print_row(name, parts, "needed rows", by_needed_rows(graph, pattern, parts));
        print_row(name, parts, "seeded", by_rule(graph, pattern, CutRule::seeded, parts));
        print_row(name, parts, "cover", by_rule(graph, pattern, CutRule::cover, parts));
    }
}

// The edges in the order in which Libra's rule gets them, an edge a line.
void print_stream(const std::filesystem::path& path) {
    const data::Dataset dataset = open_undirected(path);
    const data::Neighbours pattern = data::neighbours_of(dataset.graph());
    std::vector<bool> done(at(pattern.vertices()), false);
    for (const std::int32_t u : data::make_order(pattern.vertices(), {.permuted = true, .seed = seed}).vertex) {
        for (const std::int32_t v : pattern.of(u)) {
            if (!done[at(v)]) std::printf("%d %d\n", u, v);
        }
        done[at(u)] = true;
    }
}

std::vector<int> numbers_of(const std::string& text) {
    std::vector<int> numbers;
    for (std::size_t from = 0; from < text.size();) {
        std::size_t used = 0;
        numbers.push_back(std::stoi(text.substr(from), &used));
        from += used + 1;
    }
    return numbers;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: cuts PARTS[,PARTS...] GRAPH...\n       cuts stream GRAPH\n");
        return 64;
    }
    try {
        if (std::string(argv[1]) == "stream") return print_stream(argv[2]), 0;
        std::printf(
            "| graph | parts | rule | replication | rows moved / vertices | most edges / mean | seconds |\n"
            "|---|---|---|---|---|---|---|\n");
        for (int i = 2; i < argc; ++i) print_rows(argv[i], numbers_of(argv[1]));
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
    return 0;
}
