// What the planner needs to know of a graph. Cards and plain sizes answer by statistics, a loaded graph exactly.
#pragma once

#include <gnnplan/base/range.hpp>

#include <cstdint>

namespace gnnplan {

class GraphStats {
public:
    virtual ~GraphStats() = default;

    virtual std::int64_t vertices() const = 0;
    virtual std::int64_t nonzeros() const = 0;  // of the propagation matrix, self loops included
    virtual bool symmetric() const = 0;         // every edge has its reverse: the pattern of A is that of its transpose
    virtual bool exact() const = 0;             // block answers are counts of a real graph, not estimates

    // Nonzeros in `rows` of A^T (transposed, the forward matrix) or A.
    virtual std::int64_t row_nonzeros(bool transposed, Range rows) const = 0;
};

// Sizes only: nonzeros spread evenly over rows, rounded so that the blocks of any tiling add up to the total.
class UniformStats final : public GraphStats {
public:
    UniformStats(std::int64_t vertices, std::int64_t nonzeros, bool symmetric);

    std::int64_t vertices() const override { return vertices_; }
    std::int64_t nonzeros() const override { return nonzeros_; }
    bool symmetric() const override { return symmetric_; }
    bool exact() const override { return false; }
    std::int64_t row_nonzeros(bool transposed, Range rows) const override;

private:
    std::int64_t vertices_;
    std::int64_t nonzeros_;
    bool symmetric_;
};

}  // namespace gnnplan
