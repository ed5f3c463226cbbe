// Sums weighed by cosines of the tape of serial_network.hpp, edge by edge as their definition reads (Thekumparampil et
// al. 2018, eq. 6), and their gradients by the chain rule.
#pragma once

#include "tests/support/serial_network.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::testing {

class SerialCosine {
public:
    // `m` is A^T, of which the pattern counts; h is N x `columns` and outlives the object.
    SerialCosine(const SparseMatrix& m, const std::vector<double>& h, std::int64_t columns, double beta);

    const std::vector<double>& value() const { return value_; }

    struct Gradients {
        std::vector<double> h;
        double beta = 0;
    };
    // From that of the value.
    Gradients gradients(const std::vector<double>& of_value) const;

private:
    struct Edge {
        std::size_t source, target;
        double cosine, weight;
    };
    const double* row(std::size_t v) const { return &h_[v * columns_]; }
    double inner(const double* x, const double* y) const;

    const std::vector<double>& h_;
    std::size_t columns_;
    double beta_;
    std::vector<double> length_;
    std::vector<Edge> edges_;
    std::vector<double> value_;
};

}  // namespace gnnplan::testing
