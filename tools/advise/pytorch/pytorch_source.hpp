// The parts of the Python program that do not depend on the plan's sizes: which of them it has depends on the model.
#pragma once

namespace gnnplan::tools {

extern const char* const pytorch_parameters;    // parameters by their names in files, and the files
extern const char* const pytorch_entries;       // of the matrix of a graph
extern const char* const pytorch_weighed;       // the same, of edges that have weights
extern const char* const pytorch_scaled;        // by degrees
extern const char* const pytorch_itself;        // with some of each vertex itself
extern const char* const pytorch_adjacency;     // the head of class Adjacency
extern const char* const pytorch_own_rows;      // its methods: rows that a loss needs,
extern const char* const pytorch_sum_methods;   //   sums that are weighed by the matrix,
extern const char* const pytorch_max_methods;   //   maxima,
extern const char* const pytorch_edge_methods;  //   softmax over the edges of a vertex,
extern const char* const pytorch_attention;     //   scores of additive attention,
extern const char* const pytorch_cosines;       //   scores by cosines
extern const char* const pytorch_rows_at;       // of both: rows by ids
extern const char* const pytorch_propagate;     // A @ x
extern const char* const pytorch_hops;
extern const char* const pytorch_mixed;
extern const char* const pytorch_product;        // A @ x @ W where the backward pass is not autograd's
extern const char* const pytorch_edge_sums;      // sums that are weighed by values of edges
extern const char* const pytorch_edge_products;  // products of the rows at both ends of edges

extern const char* const pytorch_reading;     // the script: data sets,
extern const char* const pytorch_edge_lists;  //   texts of edges,
extern const char* const pytorch_training;    //   training,
extern const char* const pytorch_inference;   //   inference

}  // namespace gnnplan::tools
