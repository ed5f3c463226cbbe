#include "runtime/generate/generate.hpp"

#include "runtime/generate/generated.hpp"
#include "runtime/graph/csr.hpp"
#include "runtime/graph/streams.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace gnnplan::data {
namespace {

void require(bool condition, const std::string& what) {
    if (!condition) throw Error(ErrorCode::usage, what);
}

void check_sizes(std::int64_t vertices, std::int64_t nonzeros) {
    require(vertices >= 1 && vertices <= std::numeric_limits<std::int32_t>::max(),
            "the number of vertices must be between 1 and 2^31 - 1, not " + std::to_string(vertices));
    require(nonzeros >= 0, "the number of nonzeros must not be negative");
    require(nonzeros / vertices <= vertices,
            std::to_string(nonzeros) + " nonzeros do not fit a graph of " + std::to_string(vertices) + " vertices");
}

// A random permutation, or the identity.
std::vector<std::int32_t> permutation(std::uint64_t seed, std::int64_t count, bool shuffle) {
    std::vector<std::int32_t> order(at(count));
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t i = count - 1; shuffle && i > 0; --i) {
        std::swap(order[at(i)], order[at(draw_below(seed, relabel_stream, i, 0, i + 1))]);
    }
    return order;
}

// The entries as they will be listed.
EdgeList finish(EdgeList drawn, std::int64_t vertices, bool symmetrise, bool drop_duplicates) {
    EdgeList edges;
    if (drop_duplicates) {
        PreparationCounts counts;
        const Graph graph = build_graph(std::move(drawn), vertices, {symmetrise, false}, counts);
        for (std::int64_t u = 0; u < vertices; ++u) {
            for (std::int64_t k = graph.out.row_start[at(u)]; k < graph.out.row_start[at(u) + 1]; ++k) {
                edges.add(static_cast<std::int32_t>(u), graph.out.column[at(k)]);
            }
        }
        return edges;
    }
    drawn.drain([&](Edge e) {
        edges.add(e.from, e.to);
        if (symmetrise) edges.add(e.to, e.from);
    });
    return edges;
}

std::int64_t edges_to_draw(std::int64_t nonzeros, bool symmetrise) {
    return symmetrise ? ceil_divide(nonzeros, 2) : nonzeros;
}

// One edge of the recursive matrix over 2^levels ids (levels <= 31). Each draw decides two levels, 32 bits each.
std::pair<std::int64_t, std::int64_t> rmat_edge(std::uint64_t seed, std::int64_t edge, int levels,
                                                const std::array<double, 3>& bounds) {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::uint64_t bits = 0;
    for (int level = 0; level < levels; ++level) {
        bits = level % 2 == 0 ? draw(seed, rmat_stream, edge, level / 2) : bits >> 32U;
        const double u = static_cast<double>(bits & 0xffffffffU) * 0x1p-32;
        const int quadrant = (u >= bounds[0] ? 1 : 0) + (u >= bounds[1] ? 1 : 0) + (u >= bounds[2] ? 1 : 0);
        from = 2 * from + quadrant / 2;
        to = 2 * to + quadrant % 2;
    }
    return {from, to};
}

// Row c of the centroids: random direction, length 1.5 times the deviation of the noise of one feature. Two classes
// then overlap noticeably, but not once a vertex is averaged with a handful of neighbours.
std::vector<double> centroid(const GeneratedGraph& graph, std::int64_t c) {
    constexpr double length = 1.5;
    std::vector<double> values(at(graph.features));
    double squares = 0;
    for (std::int64_t j = 0; j < graph.features; ++j) {
        values[at(j)] = 2.0 * draw_unit(graph.seed, centroid_stream, c, j) - 1.0;
        squares += values[at(j)] * values[at(j)];
    }
    for (double& value : values) value *= length / std::sqrt(squares);
    return values;
}

}  // namespace

GeneratedGraph generate_rmat(const RmatOptions& options) {
    check_sizes(options.vertices, options.nonzeros);
    const bool chances = options.a >= 0 && options.b >= 0 && options.c >= 0 && options.d >= 0;
    require(chances && std::abs(options.a + options.b + options.c + options.d - 1.0) < 1e-6,
            "the four quadrant probabilities must be at least 0 and sum to 1");
    GeneratedGraph graph;
    graph.vertices = options.vertices;
    graph.asked_nonzeros = options.nonzeros;
    graph.seed = options.seed;

    const std::int64_t n = options.vertices;
    const auto levels = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
    const std::array<double, 3> bounds = {options.a, options.a + options.b, options.a + options.b + options.c};
    const std::vector<std::int32_t> name = permutation(options.seed, n, options.relabel);
    EdgeList drawn;
    const std::int64_t count = edges_to_draw(options.nonzeros, options.symmetrise);
    for (std::int64_t e = 0; e < count; ++e) {
        const auto [from, to] = rmat_edge(options.seed, e, levels, bounds);
        // Squeezed from 2^levels to n ids; levels <= 31 and n < 2^31 keep the product below 2^62.
        drawn.add(name[at(from * n >> levels)], name[at(to * n >> levels)]);
    }
    graph.edges = finish(std::move(drawn), n, options.symmetrise, options.drop_duplicates);
    return graph;
}

GeneratedGraph generate_planted(const PlantedOptions& options) {
    check_sizes(options.vertices, options.nonzeros);
    require(options.classes >= 1 && options.classes <= options.vertices,
            "classes must be between 1 and the number of vertices");
    require(options.features >= 1 && options.features <= (std::int64_t{1} << 24),
            "features must be between 1 and 2^24");
    require(options.homophily >= 0 && options.homophily <= 1, "homophily must be between 0 and 1");
    GeneratedGraph graph;
    graph.vertices = options.vertices;
    graph.asked_nonzeros = options.nonzeros;
    graph.features = options.features;
    graph.classes = options.classes;
    graph.seed = options.seed;

    // Before they are renamed, the vertices of class c are first[c] .. first[c + 1] - 1.
    const std::int64_t n = options.vertices;
    const std::vector<std::int32_t> name = permutation(options.seed, n, options.relabel);
    const auto first = [&](std::int64_t c) { return ceil_divide(c * n, options.classes); };
    graph.labels.resize(at(n));
    for (std::int64_t v = 0; v < n; ++v)
        graph.labels[at(name[at(v)])] = static_cast<std::int32_t>(v * options.classes / n);
    graph.subset = generate_split(options.seed, graph.labels);

    EdgeList drawn;
    const std::int64_t count = edges_to_draw(options.nonzeros, options.symmetrise);
    for (std::int64_t e = 0; e < count; ++e) {
        const std::int64_t u = draw_below(options.seed, edge_stream, e, 0, n);
        const bool inside = draw_unit(options.seed, edge_stream, e, 1) < options.homophily;
        const std::int64_t c = u * options.classes / n;
        const std::int64_t begin = inside ? first(c) : 0;
        const std::int64_t end = inside ? first(c + 1) : n;
        const std::int64_t v = begin + draw_below(options.seed, edge_stream, e, 2, end - begin);
        drawn.add(name[at(u)], name[at(v)]);
    }
    graph.edges = finish(std::move(drawn), n, options.symmetrise, options.drop_duplicates);
    return graph;
}

std::function<void(std::int64_t, float*)> feature_rows(const GeneratedGraph& graph) {
    std::vector<std::vector<double>> centroids;
    for (std::int64_t c = 0; c < graph.classes; ++c) centroids.push_back(centroid(graph, c));
    return [&graph, centroids = std::move(centroids)](std::int64_t v, float* out) {
        const std::vector<double>& mean = centroids[at(graph.labels[at(v)])];
        for (std::int64_t j = 0; j < graph.features; ++j) {
            const double noise =
                std::sqrt(3.0) * (2.0 * draw_unit(graph.seed, noise_stream, v, j) - 1.0);  // variance 1
            // Three decimals keep text files short; both forms of file hold the same number.
            out[j] = static_cast<float>(std::round(1000.0 * (mean[at(j)] + noise)) / 1000.0);
        }
    };
}

Arrays arrays_of(GeneratedGraph graph) {
    Arrays arrays;
    arrays.name = "generated";
    arrays.vertices = graph.vertices;
    arrays.features = graph.features;
    arrays.feature.resize(at(checked_multiply(graph.vertices, graph.features)));
    if (graph.features > 0) {
        const auto fill = feature_rows(graph);
        for (std::int64_t v = 0; v < graph.vertices; ++v) fill(v, arrays.feature.data() + v * graph.features);
    }
    arrays.edges = std::move(graph.edges);
    arrays.label = std::move(graph.labels);
    arrays.subset = std::move(graph.subset);
    return arrays;
}

}  // namespace gnnplan::data
