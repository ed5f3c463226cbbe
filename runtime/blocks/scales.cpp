#include "runtime/blocks/block.hpp"

#include <cmath>

namespace gnnplan::data {
namespace {

std::vector<double> degree_powers(const Csr& matrix, double exponent) {
    std::vector<double> powers(static_cast<std::size_t>(matrix.vertices));
    for (std::int64_t i = 0; i < matrix.vertices; ++i) {
        const std::int64_t degree = matrix.degree(i);
        powers[static_cast<std::size_t>(i)] = degree == 0 ? 0.0 : std::pow(static_cast<double>(degree), exponent);
    }
    return powers;
}

}  // namespace

DegreeScales compute_scales(const Graph& graph, Normalisation normalisation) {
    switch (normalisation) {
        case Normalisation::none: break;
        case Normalisation::symmetric:
            return {degree_powers(graph.matrix(false), -0.5), degree_powers(graph.matrix(true), -0.5)};
        case Normalisation::row_mean:
            return {std::vector<double>(static_cast<std::size_t>(graph.vertices()), 1.0),
                    degree_powers(graph.matrix(true), -1.0)};
    }
    return {};
}

DegreeScales stored_scales(const Graph& graph, Normalisation normalisation) {
    if (normalisation != Normalisation::none) return compute_scales(graph, normalisation);
    const std::vector<double> ones(static_cast<std::size_t>(graph.vertices()), 1.0);
    return {ones, ones};
}

}  // namespace gnnplan::data
