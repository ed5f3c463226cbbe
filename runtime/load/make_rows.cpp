#include "runtime/load/make_rows.hpp"

#include "runtime/graph/fingerprint.hpp"
#include "runtime/graph/row_parts.hpp"
#include "runtime/graph/sort_columns.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace gnnplan::load {
namespace {

data::Csr rows_of(data::EdgeList edges, std::int64_t rows, std::int64_t vertices, bool weighted) {
    data::Csr matrix = data::scatter(std::move(edges), rows, weighted);
    matrix.vertices = vertices;
    return matrix;
}

std::int64_t rows_with_edges(const data::Csr& sources, const data::Csr& targets) {
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < sources.rows(); ++row) {
        const bool has_some = sources.degree(row) > 0 || (!targets.row_start.empty() && targets.degree(row) > 0);
        count += has_some ? 1 : 0;
    }
    return count;
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
        made.rows_with_edges = rows_with_edges(made.sources, {});
        if (loops) made.sources = data::merge(made.sources, nullptr, names, true, weighted);
        return made;
    }
    made.targets = rows_of(std::move(dealt.targets), rows, vertices, weighted);
    data::PreparationCounts counted_above;
    data::clean_rows(made.targets, names, counted_above);
    made.rows_with_edges = rows_with_edges(made.sources, made.targets);
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
    data::for_row_parts(matrix.row_start, [&](Range rows) {
        data::ColumnSorter sorter(matrix.vertices);
        std::vector<std::pair<std::int32_t, float>> entries;
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
            const auto column = std::span(matrix.column).subspan(at(matrix.row_start[at(row)]), at(matrix.degree(row)));
            for (std::int32_t& vertex : column) vertex = order.position[at(vertex)];
            if (!matrix.weighted()) {
                sorter.sort(column);
                continue;
            }
            float* const weight = matrix.weight.data() + matrix.row_start[at(row)];
            entries.clear();
            for (std::size_t i = 0; i < column.size(); ++i) entries.emplace_back(column[i], weight[i]);
            std::ranges::sort(entries);
            for (std::size_t i = 0; i < column.size(); ++i) std::tie(column[i], weight[i]) = entries[i];
        }
    });
}

std::shared_ptr<const data::VertexSet> columns_met(const std::vector<const data::Csr*>& matrices, Range kept,
                                                   std::int64_t vertices) {
    auto met = std::make_shared<data::VertexSet>(vertices);
    if (kept == Range{0, vertices}) return met;
    for (const data::Csr* matrix : matrices) {
        for (const std::int32_t column : matrix->column) {
            if (column < kept.begin || column >= kept.end) met->add(column);
        }
    }
    met->count();
    return met;
}

}  // namespace gnnplan::load
