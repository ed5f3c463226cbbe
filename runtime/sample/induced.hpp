// The edges among some vertices of a graph.
#pragma once

#include "runtime/graph/csr.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace gnnplan::sample {

// Takes 4 bytes for each vertex of the graph.
class Induced {
public:
    explicit Induced(std::int64_t vertices) : position_(at(vertices), -1) {}

    // These, ascending, in place of those before; they outlive the questions about them.
    void choose(std::span<const std::int32_t> vertices) {
        for (const std::int32_t v : chosen_) position_[at(v)] = -1;
        chosen_ = vertices;
        for (std::size_t i = 0; i < vertices.size(); ++i) position_[at(vertices[i])] = static_cast<std::int32_t>(i);
    }

    std::int64_t size() const { return std::ssize(chosen_); }

    // Calls visit(entry, i, j) for each nonzero of the matrix in the row of chosen[i] and the column of chosen[j], for
    // i in `rows`, row by row, columns ascending. Nobody can foretell which columns are chosen, so they are listed,
    // some at a time, without a branch.
    template <class Visit>
    void visit(const data::Csr& matrix, Range rows, const Visit& visit) const {
        std::array<std::int64_t, 256> entry;
        std::array<std::int32_t, entry.size()> place;
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            fetch(matrix, i);
            const std::int64_t end = matrix.row_start[at(chosen_[at(i)]) + 1];
            for (std::int64_t e = matrix.row_start[at(chosen_[at(i)])]; e < end;) {
                const std::int64_t until = std::min(end, e + std::ssize(entry));
                std::size_t found = 0;
                for (; e < until; ++e) {
                    entry[found] = e;
                    place[found] = position_[at(matrix.column[at(e)])];
                    found += place[found] >= 0 ? 1 : 0;
                }
                for (std::size_t k = 0; k < found; ++k) visit(entry[k], i, place[k]);
            }
        }
    }
    template <class Visit>
    void visit(const data::Csr& matrix, const Visit& visit) const {
        this->visit(matrix, {0, size()}, visit);
    }

private:
    // Rows are anywhere in memory: asks for the first columns of one that is visited soon, and where a later one
    // begins.
    void fetch(const data::Csr& matrix, std::int64_t i) const {
        constexpr std::int64_t ahead = 8;
        if (i + 2 * ahead >= size()) return;
        __builtin_prefetch(&matrix.row_start[at(chosen_[at(i + 2 * ahead)])]);
        __builtin_prefetch(matrix.column.data() + matrix.row_start[at(chosen_[at(i + ahead)])]);
    }

    std::vector<std::int32_t> position_;  // of each vertex among those chosen; -1: it is none of them
    std::span<const std::int32_t> chosen_;
};

// The graph of these vertices, ascending, which are numbered in their order.
data::Graph induced_graph(const data::Graph& graph, std::span<const std::int32_t> vertices);

}  // namespace gnnplan::sample
