#include "runtime/load/make_rows.hpp"

#include "runtime/graph/fingerprint.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::load {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

data::Csr rows_of(data::EdgeList edges, std::int64_t rows, std::int64_t vertices, bool weighted) {
    data::Csr matrix = data::scatter(std::move(edges), rows, weighted);
    matrix.vertices = vertices;
    return matrix;
}

}  // namespace

MadeRows make_rows(Dealt dealt, std::int64_t rows, std::int64_t vertices, const data::RowVertices& names,
                   const data::Preparation& preparation, bool with_targets) {
    const bool weighted = preparation.edge_weights;
    const bool loops = preparation.add_self_loops;
    MadeRows made;
    made.sources = rows_of(std::move(dealt.sources), rows, vertices, weighted);
    data::clean_rows(made.sources, names, made.counts, true);
    made.imbalance = data::imbalance_of_rows(made.sources, names);
    made.pattern_imbalance = weighted ? data::imbalance_of_rows(made.sources, names, false) : made.imbalance;
    if (!with_targets) {
        if (loops) made.sources = data::merge(made.sources, nullptr, names, true, weighted);
        return made;
    }
    made.targets = rows_of(std::move(dealt.targets), rows, vertices, weighted);
    data::PreparationCounts counted_above;
    data::clean_rows(made.targets, names, counted_above);
    if (preparation.symmetrise) {
        made.sources = data::merge(made.sources, &made.targets, names, loops, weighted);
        made.targets = {};
    } else if (loops) {
        made.sources = data::merge(made.sources, nullptr, names, true, weighted);
        made.targets = data::merge(made.targets, nullptr, names, true, weighted);
    }
    return made;
}

void number_columns(data::Csr& matrix, const data::VertexOrder& order) {
    if (order.identity()) return;
    for (std::int32_t& column : matrix.column) column = order.position[at(column)];
    std::vector<std::pair<std::int32_t, float>> entries;
    for (std::int64_t row = 0; row < matrix.rows(); ++row) {
        const std::int64_t begin = matrix.row_start[at(row)];
        const auto first = matrix.column.begin() + begin;
        if (!matrix.weighted()) {
            std::sort(first, first + matrix.degree(row));
            continue;
        }
        entries.clear();
        for (std::int64_t k = begin; k < begin + matrix.degree(row); ++k)
            entries.emplace_back(matrix.column[at(k)], matrix.weight[at(k)]);
        std::sort(entries.begin(), entries.end());
        for (std::size_t i = 0; i < entries.size(); ++i) {
            matrix.column[at(begin) + i] = entries[i].first;
            matrix.weight[at(begin) + i] = entries[i].second;
        }
    }
}

std::shared_ptr<const data::VertexSet> columns_met(const std::vector<const data::Csr*>& matrices, Range kept,
                                                   std::int64_t vertices) {
    auto met = std::make_shared<data::VertexSet>(vertices);
    for (const data::Csr* matrix : matrices) {
        for (const std::int32_t column : matrix->column) {
            if (column < kept.begin || column >= kept.end) met->add(column);
        }
    }
    met->count();
    return met;
}

}  // namespace gnnplan::load
