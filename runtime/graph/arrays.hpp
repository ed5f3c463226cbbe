// A data set as arrays in memory, as a program that has made or read one itself hands it on.
#pragma once

#include "runtime/graph/edges.hpp"
#include "runtime/graph/label_bits.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::data {

struct Arrays {
    std::string name = "arrays";  // for messages and reports, where the data of a file has its path
    std::int64_t vertices = 0;
    EdgeList edges;                         // directed, as listed; ids in [0, vertices); weights are finite
    std::int64_t features = 0;              // columns of `feature`; 0: no features
    std::vector<float> feature;             // vertices x features, row-major, finite
    std::span<const float> borrowed = {};   // in place of `feature`: memory that outlives the data set
    std::vector<std::int32_t> label = {};   // per vertex, -1 unlabelled; empty: no labels
    std::vector<std::uint8_t> subset = {};  // per vertex, Subset; empty: no split
    LabelBits bits = {};                    // of vertices with several labels, in place of `label`
};

}  // namespace gnnplan::data
