// The parts of the Python program that do not depend on the plan.
#pragma once

namespace gnnplan::tools {

extern const char* const pytorch_imports;
extern const char* const pytorch_matrices;  // reading the graph, its matrices, the product with them
extern const char* const pytorch_product;   // class Product, where a backward pass is not autograd's
extern const char* const pytorch_training;

}  // namespace gnnplan::tools
