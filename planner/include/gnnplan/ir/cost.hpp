// Costs as the papers count them: units of width, to be scaled by N, nnz, P and R_A.
#pragma once

#include <cstdint>

namespace gnnplan {

// Sum of widths over redistributions and over SpMMs of one epoch (RDM section IV).
struct Units {
    double redistribution = 0;
    double sparse = 0;
    bool operator==(const Units&) const = default;
};

// Elements moved: N * [(R_A - 1) / R_A * redistribution + (P / R_A - 1) * sparse], without the all-reduce of the
// gradients (RDM Tables II and III with R_A <= P).
inline double communication_elements(const Units& units, std::int64_t vertices, int ranks, int replication) {
    const double n = static_cast<double>(vertices);
    const double r = replication;
    return n * units.redistribution * (r - 1) / r + n * units.sparse * (ranks / r - 1);
}

// Multiply-adds of the sparse products: nnz * sparse units.
inline double spmm_operations(const Units& units, std::int64_t nonzeros) {
    return static_cast<double>(nonzeros) * units.sparse;
}

}  // namespace gnnplan
