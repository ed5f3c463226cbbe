// Models as op graphs, by name.
#pragma once

#include <gnnplan/ir/op_graph.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::models {

// Graph convolutional network (Kipf & Welling 2017, eq. 2): H^l = relu(A^T dropout(H^{l-1}) W^l [+ b^l]), the last
// layer without relu, softmax cross-entropy over the training vertices. `widths` is f_0 .. f_L.
OpGraph gcn(const std::vector<std::int64_t>& widths, bool bias);

// GraphSAGE (Hamilton et al. 2017, algorithm 1) with sums or means of the in-neighbours: H^l = relu(A^T H W_n^l + H W_s^l
// [+ b^l]), H the input after dropout; A has no self loops, and its columns say which of the two it is.
OpGraph sage(const std::vector<std::int64_t>& widths, bool bias);
// The same with means over the in-neighbours and the vertex itself ("GCN aggregator"): A has self loops, and there is no
// W_s.
OpGraph sage_gcn(const std::vector<std::int64_t>& widths, bool bias);

// Graph isomorphism network (Xu et al. 2019, eq. 4.1): H^l = relu(relu(A^T H W_0^l [+ b]) W_1^l [+ b]), where A has
// 1 + epsilon on its diagonal; the inner width is the layer's output width.
OpGraph gin(const std::vector<std::int64_t>& widths, bool bias);

// The matrix A that a model multiplies by, unless the user asks for another.
struct MatrixForm {
    bool self_loops = true;
    Normalisation normalisation = Normalisation::symmetric;
};

// One way to aggregate, and the matrix that makes a product of it.
struct Aggregator {
    std::string_view name;
    MatrixForm matrix;
    OpGraph (*build)(const std::vector<std::int64_t>& widths, bool bias);
};

struct Model {
    std::string_view name;
    std::string_view summary;
    std::vector<Aggregator> aggregators;  // the first is the default; a model's only one has no name
};

// Every model of the product; a new one is a file and a row here.
const std::vector<Model>& registry();

// "" is the default aggregator. Throws Error{usage} listing the names when there is no such model or aggregator.
const Aggregator& find(std::string_view model, std::string_view aggregator);

// Throws Error{usage} as find() does, or when widths are not at least two positive numbers.
OpGraph build(std::string_view name, const std::vector<std::int64_t>& widths, bool bias,
              std::string_view aggregator = "");

}  // namespace gnnplan::models
