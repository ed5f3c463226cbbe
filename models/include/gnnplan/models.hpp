// Models as op graphs, by name.
#pragma once

#include <gnnplan/ir/op_graph.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::models {

// Graph convolutional network (Kipf & Welling 2017, eq. 2): H^l = relu(A^T dropout(H^{l-1}) W^l [+ b^l]), the last
// layer without relu, softmax cross-entropy over the training vertices. `widths` is f_0 .. f_L.
OpGraph gcn(const std::vector<std::int64_t>& widths, bool bias);

struct Model {
    std::string_view name;
    std::string_view summary;
    OpGraph (*build)(const std::vector<std::int64_t>& widths, bool bias);
};

// Every model of the product; a new one is a file and a row here.
const std::vector<Model>& registry();

// Throws Error{usage} listing the names when there is no such model, or when widths are not at least two positive
// numbers.
OpGraph build(std::string_view name, const std::vector<std::int64_t>& widths, bool bias);

}  // namespace gnnplan::models
