// Steps on dense matrices that several kinds of sites make.
#pragma once

#include "planner/lower/builder.hpp"

#include <string>

namespace gnnplan::lower {

// H W of a site's weight in gemm_out(site), or G W^T in R, from `in` where the product wants it.
TensorId gemm(Builder& builder, const std::string& step, TensorId in, const Site& site, Direction direction,
              const std::string& out);
// The same, added to what `onto` holds.
void gemm_onto(Builder& builder, const std::string& step, TensorId in, const Site& site, Direction direction,
               TensorId onto);
// left^T right, the gradient of a site's weight: a summand on every rank.
TensorId weight_grad(Builder& builder, const std::string& step, TensorId left, TensorId right, int site);
// Sums the gradient of a parameter over the ranks; and then takes a step of the optimiser.
void reduce(Builder& builder, TensorId parameter, TensorId gradient, OpKind op);
void reduce_and_update(Builder& builder, TensorId parameter, TensorId gradient, OpKind op);
// The same of a site's weight, with the gradient of what it is multiplied by.
void update_weight(Builder& builder, const Site& site, TensorId gradient);
// sum += other, elementwise.
void add_to(Builder& builder, const std::string& step, TensorId sum, TensorId other);
// sum += scale * other.
void add_scaled(Builder& builder, const std::string& step, double scale, TensorId sum, TensorId other);
// scale * in, which may be a parameter.
TensorId scaled(Builder& builder, const std::string& step, double scale, TensorId in, const std::string& out,
                OpKind op);
TensorId copy(Builder& builder, const std::string& step, TensorId in, const std::string& out);

}  // namespace gnnplan::lower
