#include "tests/support/tiny_graphs.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/models.hpp>

#include "kernels/random.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace gnnplan::testing {
namespace {

enum ElementwiseKind : std::uint32_t { edges = 101, features = 102, labels = 103, subsets = 104, weights = 105 };

float unit(std::uint64_t seed, ElementwiseKind stream, std::int64_t row, std::int64_t column = 0) {
    return kernels::random_unit(seed, stream, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column));
}

// A graph with features in [-1, 1), random labels, and half of the vertices training; vertex 0 trains. A few vertices
// have no label and belong to no subset.
TinyGraph without_edges(std::string name, std::int64_t n, std::int64_t width, std::int64_t classes,
                        std::uint64_t seed) {
    TinyGraph graph{std::move(name), n, {}, width, classes, {}, {}, {}, {}, false};
    for (std::int64_t v = 0; v < n; ++v) {
        for (std::int64_t j = 0; j < width; ++j) graph.feature.push_back(2 * unit(seed, features, v, j) - 1);
        const float draw = unit(seed, subsets, v);
        const bool labelled = v == 0 || draw < 0.9F;
        // The last classes are met for sure, so that the loader counts them all.
        const auto label = static_cast<std::int32_t>(
            v < classes ? classes - 1 - v : std::int64_t(unit(seed, labels, v) * float(classes)));
        graph.labels.push_back(labelled ? label : -1);
        graph.subset.push_back(v == 0 || draw < 0.5F ? 0 : draw < 0.7F ? 1 : draw < 0.9F ? 2 : 255);
    }
    return graph;
}

void add_random_edges(TinyGraph& graph, double degree, std::uint64_t seed) {
    const auto n = static_cast<std::int32_t>(graph.vertices);
    const auto chance = static_cast<float>(degree / std::max(1.0, static_cast<double>(n - 1)));
    for (std::int32_t u = 0; u < n; ++u) {
        for (std::int32_t v = 0; v < n; ++v) {
            if (u != v && unit(seed, edges, u, v) < chance) graph.edges.emplace_back(u, v);
        }
    }
}

void add_reverse_edges(TinyGraph& graph) {
    std::set<std::pair<std::int32_t, std::int32_t>> all(graph.edges.begin(), graph.edges.end());
    for (const auto& [u, v] : graph.edges) all.emplace(v, u);
    graph.edges.assign(all.begin(), all.end());
}

}  // namespace

TinyGraph random_directed(std::int64_t vertices, double degree, std::int64_t width, std::int64_t classes,
                          std::uint64_t seed) {
    TinyGraph graph = without_edges("random_directed", vertices, width, classes, seed);
    add_random_edges(graph, degree, seed);
    return graph;
}

TinyGraph random_symmetric(std::int64_t vertices, double degree, std::int64_t width, std::int64_t classes,
                           std::uint64_t seed) {
    TinyGraph graph = without_edges("random_symmetric", vertices, width, classes, seed);
    add_random_edges(graph, degree / 2, seed);
    add_reverse_edges(graph);
    return graph;
}

TinyGraph directed_path(std::int64_t vertices, std::int64_t width, std::int64_t classes, std::uint64_t seed) {
    TinyGraph graph = without_edges("directed_path", vertices, width, classes, seed);
    for (std::int32_t v = 1; v < vertices; ++v) graph.edges.emplace_back(v - 1, v);
    return graph;
}

TinyGraph star(std::int64_t vertices, std::int64_t width, std::int64_t classes, std::uint64_t seed) {
    TinyGraph graph = without_edges("star", vertices, width, classes, seed);
    const auto centre = static_cast<std::int32_t>(vertices / 2);
    for (std::int32_t v = 0; v < vertices; ++v) {
        if (v != centre) graph.edges.emplace_back(centre, v);
    }
    add_reverse_edges(graph);
    return graph;
}

TinyGraph no_edges(std::int64_t vertices, std::int64_t width, std::int64_t classes, std::uint64_t seed) {
    return without_edges("no_edges", vertices, width, classes, seed);
}

TinyGraph isolated_vertices(std::int64_t vertices, std::int64_t width, std::int64_t classes, std::uint64_t seed) {
    TinyGraph graph = random_directed(vertices, 3, width, classes, seed);
    graph.name = "isolated_vertices";
    const auto isolated = [&](std::int32_t v) { return v == 0 || v == vertices / 2 || v == vertices - 1; };
    std::erase_if(graph.edges, [&](const auto& edge) { return isolated(edge.first) || isolated(edge.second); });
    return graph;
}

TinyGraph planted(std::int64_t vertices, double degree, std::int64_t width, std::int64_t classes, std::uint64_t seed) {
    TinyGraph graph = without_edges("planted", vertices, width, classes, seed);
    for (std::int64_t v = 0; v < vertices; ++v) {
        const auto own = static_cast<std::int32_t>(v % classes);
        graph.labels[at(v)] = graph.labels[at(v)] < 0 ? -1 : own;
        graph.feature[at(v * width + own % width)] += 0.5F;
    }
    add_random_edges(graph, degree, seed);
    std::erase_if(graph.edges, [&](const auto& edge) {
        return edge.first % classes != edge.second % classes && (edge.first + edge.second) % 4 != 0;
    });
    add_reverse_edges(graph);
    return graph;
}

std::vector<TinyGraph> tiny_graphs() {
    return {random_directed(23, 4, 37, 5, 1),  // nothing divides anything, rows longer than a cache line
            random_symmetric(24, 5, 8, 4, 2),  // everything divides
            directed_path(5, 3, 2, 3),         // more ranks than rows, widths below the number of ranks
            star(13, 9, 3, 4),                 // one heavy row
            isolated_vertices(17, 6, 3, 5),
            no_edges(9, 5, 3, 6),
            random_directed(11, 3, 4, 1, 7),  // one class
            no_edges(1, 3, 1, 8)};            // one vertex
}

TinyGraph with_weights(TinyGraph graph, bool symmetric) {
    graph.name += " weighted";
    graph.weighted = true;
    for (auto [u, v] : graph.edges) {
        if (symmetric && u > v) std::swap(u, v);
        const float draw = unit(11, weights, u, v);
        graph.weights.push_back(draw < 0.1F ? 0 : 2 * draw);
    }
    return graph;
}

std::vector<TinyGraph> weighted_tiny_graphs() {
    std::vector<TinyGraph> graphs;
    for (const TinyGraph& graph : tiny_graphs())
        graphs.push_back(with_weights(graph, graph.name == "random_symmetric"));
    return graphs;
}

namespace {

// The weight of an edge, divided by what the normalisation divides it by, unless that is 0.
double normalised(double weight, double out_degree, double in_degree, Normalisation normalisation) {
    const double divisor = normalisation == Normalisation::none       ? 1
                           : normalisation == Normalisation::row_mean ? in_degree
                                                                      : std::sqrt(out_degree * in_degree);
    return divisor == 0 ? 0 : weight / divisor;
}

// A^T, normalised.
SparseMatrix forward_matrix(const TinyGraph& graph, const models::MatrixForm& form) {
    using Source = std::pair<std::int32_t, double>;                // with the weight of the edge from it
    std::vector<std::vector<Source>> sources(at(graph.vertices));  // of the edges into v, itself included
    std::vector<double> out_degree(at(graph.vertices), form.self_loops ? 1.0 : 0.0);
    for (std::int32_t v = 0; form.self_loops && v < graph.vertices; ++v) sources[at(v)].emplace_back(v, 1.0);
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        const auto& [u, v] = graph.edges[e];
        const double weight = graph.weighted ? graph.weights[e] : 1;
        sources[at(v)].emplace_back(u, weight);
        out_degree[at(u)] += weight;
    }
    SparseMatrix forward;
    forward.size = graph.vertices;
    forward.row_start.push_back(0);
    for (auto& row : sources) {
        std::sort(row.begin(), row.end());
        double in_degree = 0;
        for (const auto& [u, weight] : row) in_degree += weight;
        for (const auto& [u, weight] : row) {
            forward.column.push_back(u);
            forward.value.push_back(normalised(weight, out_degree[at(u)], in_degree, form.normalisation));
        }
        forward.row_start.push_back(static_cast<std::int64_t>(forward.column.size()));
    }
    return forward;
}

}  // namespace

TinyGraph with_several_labels(TinyGraph graph, bool masked) {
    if (graph.classes < 2) return graph;
    for (std::int64_t v = 0; v < graph.vertices; ++v) {
        for (std::int64_t j = 0; j < graph.classes; ++j) {
            const std::int64_t draw = (v * 7919 + j * 104729 + v * j * 31) % 1009;
            const bool unknown = masked && j > 0 && draw % 4 == 1;
            graph.several.push_back(unknown ? std::numeric_limits<double>::quiet_NaN() : draw % 3 == 0 ? 1 : 0);
        }
    }
    return graph;
}

SerialProblem serial_problem(const TinyGraph& graph, const std::vector<std::int64_t>& widths, bool bias,
                             const models::MatrixForm& form, ModelRecord model) {
    SerialProblem problem;
    problem.forward = forward_matrix(graph, form);
    problem.features.assign(graph.feature.begin(), graph.feature.end());
    problem.labels = graph.labels;
    problem.several = graph.several;
    for (const std::uint8_t subset : graph.subset) problem.training.push_back(subset == 0 ? 1 : 0);
    problem.widths = widths;
    problem.bias = bias;
    model.widths = widths;
    model.bias = bias;
    ProblemRecord record;
    record.model = model;
    record.graph.self_loops = form.self_loops;
    problem.model = models::build(record);
    return problem;
}

}  // namespace gnnplan::testing
