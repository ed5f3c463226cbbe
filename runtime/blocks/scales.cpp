#include "runtime/blocks/block.hpp"

#include <gnnplan/base/error.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace gnnplan::data {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// How many edges a row has, or the sum of their weights.
double degree_of(const Csr& matrix, std::int64_t row) {
    if (!matrix.weighted()) return static_cast<double>(matrix.degree(row));
    const auto first = matrix.weight.begin() + matrix.row_start[at(row)];
    return std::accumulate(first, first + matrix.degree(row), 0.0);
}

std::vector<double> degree_powers(const Csr& matrix, double exponent) {
    std::vector<double> powers(at(matrix.vertices));
    for (std::int64_t i = 0; i < matrix.vertices; ++i) {
        const double degree = degree_of(matrix, i);
        powers[at(i)] = degree == 0 ? 0.0 : std::pow(degree, exponent);
    }
    return powers;
}

DegreeScales scales_of(const Graph& graph, Normalisation normalisation) {
    switch (normalisation) {
        case Normalisation::none: break;
        case Normalisation::symmetric:
            return {degree_powers(graph.matrix(false), -0.5), degree_powers(graph.matrix(true), -0.5)};
        case Normalisation::row_mean:
            return {std::vector<double>(at(graph.vertices()), 1.0), degree_powers(graph.matrix(true), -1.0)};
    }
    return {};
}

// The shortest text that reads back: "-0.5".
std::string text_of(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

void refuse_negative_degrees(const Csr& matrix, const char* edges, const std::string& where) {
    for (std::int64_t v = 0; v < matrix.vertices; ++v) {
        const double degree = degree_of(matrix, v);
        if (degree >= 0) continue;
        throw Error(ErrorCode::data,
                    std::string("the weights of the edges ") + edges + " vertex " + std::to_string(v) +
                        " (counted from 0) add up to " + text_of(degree) +
                        ", and symmetric normalisation takes the square root of that",
                    where, "use --normalisation row_mean or none, or weights that are not negative");
    }
}

void refuse_large_values(const Csr& sources, const DegreeScales& scales, const std::string& where) {
    for (std::int64_t v = 0; v < sources.vertices; ++v) {
        for (std::int64_t k = sources.row_start[at(v)]; k < sources.row_start[at(v) + 1]; ++k) {
            const std::int32_t u = sources.column[at(k)];
            const double value = scales.target[at(v)] * scales.source[at(u)] * sources.weight[at(k)];
            if (std::isfinite(static_cast<float>(value))) continue;
            throw Error(ErrorCode::data,
                        "the weight of the edge " + std::to_string(u) + " -> " + std::to_string(v) +
                            " (counted from 0) is beyond float32 once it is normalised, because weights cancel out "
                            "where they are added up",
                        where, "use weights that are not negative, or --normalisation none");
        }
    }
}

}  // namespace

void check_degrees(const Graph& graph, Normalisation normalisation, const std::string& where) {
    const Csr& sources = graph.matrix(true);
    if (!sources.weighted() || normalisation == Normalisation::none) return;
    if (normalisation == Normalisation::symmetric) {
        refuse_negative_degrees(sources, "into", where);
        if (!graph.symmetric) refuse_negative_degrees(graph.matrix(false), "out of", where);
    }
    refuse_large_values(sources, scales_of(graph, normalisation), where);
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
