// Batches of a graph of which the sizes alone are known, with its nonzeros spread evenly.
#pragma once

#include <gnnplan/ir/sampling.hpp>

#include <cstdint>

namespace gnnplan {

// A graph that batches are drawn from.
struct SampledSizes {
    double vertices = 0;
    double edges = 0;  // nonzeros without self loops
    bool loops = false;
    bool symmetric = true;

    double nonzeros() const { return edges + (loops ? vertices : 0); }
};

// By expectation: of d vertices that are drawn with replacement a batch has N (1 - e^(-d / N)), and of the edges the
// share that has both ends in it. Batches of skewed graphs are denser.
BatchMeans expected_batches(const Sampling& sampling, const SampledSizes& of);
// The bytes of the pool that a rank keeps.
std::int64_t expected_pool_bytes(const Sampling& sampling, const SampledSizes& of);

}  // namespace gnnplan
