// The entries of the CPU table, see kernels/table.hpp for what each computes.
#pragma once

#include "kernels/table.hpp"

namespace gnnplan::kernels::cpu {

void spmm(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, PanelRoom room);
void spmm_max(const Csr& a, ConstMatrix b, Matrix maxima, Matrix ties, bool accumulate, std::span<std::byte> memory);
void spmm_max_back(const Csr& a, ConstMatrix gradient, ConstMatrix maxima, ConstMatrix own, Matrix c, bool accumulate);
void gemm(Transpose transpose_a, Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c, bool accumulate);
void activate(Matrix z, const float* bias, Activation activation, const DropoutKey& dropout, std::uint8_t* bits);
void activation_gradient(Matrix g, ConstMatrix h, Activation activation, const DropoutKey& dropout);
void dropout(ConstMatrix in, Matrix out, const DropoutKey& key);
void positive_mask(ConstMatrix h, std::uint8_t* bits);
void apply_mask(Matrix g, const std::uint8_t* bits, float scale);
double softmax_cross_entropy(Matrix logits, const LossInput& input);
void softmax_parts(ConstMatrix logits, const std::uint8_t* in_training, SoftmaxPart* parts);
double softmax_gradient(Matrix logits, const LossInput& input, const SoftmaxPart* totals);
void count_correct(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* subset, double correct[3]);
void column_sum(ConstMatrix g, float* out);
void update(Optimiser rule, float* w, const float* gradient, float* m1, float* m2, std::int64_t count,
            const UpdateSettings& settings);
void add(ConstMatrix a, Matrix c);
void add_scaled(float scale, ConstMatrix a, Matrix c);
double dot(ConstMatrix a, ConstMatrix b);
void divide(Matrix g, ConstMatrix by);
void copy(ConstMatrix in, Matrix out);
void copy_bits(const std::uint8_t* source, std::int64_t source_columns, std::int64_t source_row,
               std::int64_t source_column, std::uint8_t* target, std::int64_t target_columns, std::int64_t target_row,
               std::int64_t target_column, std::int64_t rows, std::int64_t columns);

}  // namespace gnnplan::kernels::cpu
