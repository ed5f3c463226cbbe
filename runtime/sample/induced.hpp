// The edges among some vertices of a graph.
#pragma once

#include "runtime/graph/csr.hpp"

#include <gnnplan/base/at.hpp>

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

    // Calls visit(entry, i, j) for each nonzero of the matrix in the row of chosen[i] and the column of chosen[j], row
    // by row, columns ascending.
    template <class Visit>
    void visit(const data::Csr& matrix, const Visit& visit) const {
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            const std::int64_t end = matrix.row_start[at(chosen_[i]) + 1];
            for (std::int64_t e = matrix.row_start[at(chosen_[i])]; e < end; ++e) {
                const std::int32_t j = position_[at(matrix.column[at(e)])];
                if (j >= 0) visit(e, static_cast<std::int64_t>(i), j);
            }
        }
    }

private:
    std::vector<std::int32_t> position_;  // of each vertex among those chosen; -1: it is none of them
    std::span<const std::int32_t> chosen_;
};

}  // namespace gnnplan::sample
