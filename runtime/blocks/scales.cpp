#include "runtime/blocks/scales.hpp"

#include "runtime/graph/row_parts.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

namespace gnnplan::data {
namespace {

DegreeScales scales_of(const Graph& graph, Normalisation normalisation) {
    if (normalisation == Normalisation::none) return {};
    return {degree_scales(degrees(graph.matrix(backward_matrix)), normalisation, false),
            degree_scales(degrees(graph.matrix(forward_matrix)), normalisation, true)};
}

// The shortest text that reads back: "-0.5".
std::string text_of(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

std::vector<double> degrees(const Csr& matrix) {
    std::vector<double> of_rows(at(matrix.rows()));
    for_row_parts(matrix.row_start, [&](Range rows) {
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            if (!matrix.weighted()) {
                of_rows[at(i)] = static_cast<double>(matrix.degree(i));
                continue;
            }
            const auto first = matrix.weight.begin() + matrix.row_start[at(i)];
            of_rows[at(i)] = std::accumulate(first, first + matrix.degree(i), 0.0);
        }
    });
    return of_rows;
}

std::vector<double> degree_scales(std::vector<double> degrees, Normalisation normalisation, bool of_targets) {
    const double exponent = normalisation == Normalisation::symmetric                ? -0.5
                            : normalisation == Normalisation::row_mean && of_targets ? -1.0
                                                                                     : 0.0;
    const std::vector<Range> parts = even_parts({0, std::ssize(degrees)}, std::ssize(degrees));
    for_parts(std::ssize(parts), [&](std::int64_t part) {
        for (std::int64_t i = parts[at(part)].begin; i < parts[at(part)].end; ++i) {
            double& degree = degrees[at(i)];
            if (exponent == 0.0) {
                degree = 1.0;
            } else if (degree != 0) {
                degree = std::pow(degree, exponent);
            }
        }
    });
    return degrees;
}

void refuse_negative_degrees(const std::vector<double>& degrees, const char* edges, const RowVertices& vertices,
                             Normalisation normalisation, const std::string& where) {
    if (normalisation != Normalisation::symmetric) return;
    for (std::size_t i = 0; i < degrees.size(); ++i) {
        if (degrees[i] >= 0) continue;
        throw Error(ErrorCode::data,
                    std::string("the weights of the edges ") + edges + " vertex " +
                        std::to_string(vertices[static_cast<std::int64_t>(i)]) + " (counted from 0) add up to " +
                        text_of(degrees[i]) + ", and symmetric normalisation takes the square root of that",
                    where, "use `normalisation row_mean` or none, or weights that are not negative");
    }
}

void refuse_large_values(const Csr& sources, const DegreeScales& scales, const VertexOrder* order,
                         const std::string& where) {
    if (!sources.weighted() || scales.target.empty()) return;
    const auto name = [&](std::int64_t row) { return std::to_string(order == nullptr ? row : order->vertex_at(row)); };
    for_row_parts(sources.row_start, [&](Range rows) {
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const std::int64_t v = sources.first_row + i;
            const double of_target = scales.target[at(v)];
            for (std::int64_t k = sources.row_start[at(i)]; k < sources.row_start[at(i) + 1]; ++k) {
                const std::int32_t u = sources.column[at(k)];
                const double value = of_target * scales.source[at(u)] * sources.weight[at(k)];
                if (std::isfinite(static_cast<float>(value))) continue;
                throw Error(ErrorCode::data,
                            "the weight of the edge " + name(u) + " -> " + name(v) +
                                " (counted from 0) is beyond float32 once it is normalised, because weights cancel "
                                "out where they are added up",
                            where, "use weights that are not negative, or `normalisation none`");
            }
        }
    });
}

void check_degrees(const Graph& graph, Normalisation normalisation, const std::string& where) {
    const Csr& sources = graph.matrix(forward_matrix);
    if (!sources.weighted() || normalisation == Normalisation::none) return;
    refuse_negative_degrees(degrees(sources), "into", {}, normalisation, where);
    if (!graph.symmetric)
        refuse_negative_degrees(degrees(graph.matrix(backward_matrix)), "out of", {}, normalisation, where);
    refuse_large_values(sources, scales_of(graph, normalisation), nullptr, where);
}

DegreeScales compute_scales(const Graph& graph, Normalisation normalisation) {
    check_degrees(graph, normalisation, {});
    return scales_of(graph, normalisation);
}

DegreeScales stored_scales(const Graph& graph, Normalisation normalisation) {
    if (normalisation != Normalisation::none) return compute_scales(graph, normalisation);
    const std::vector<double> ones(static_cast<std::size_t>(graph.vertices()), 1.0);
    return {ones, ones};
}

}  // namespace gnnplan::data
