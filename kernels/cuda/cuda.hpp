// The entries of the CUDA table, see kernels/table.hpp for what each computes.
#pragma once

#include "kernels/table.hpp"

namespace gnnplan::kernels::cuda {
void spmm(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, PanelRoom room);
void spmm_max(const Csr& a, ConstMatrix b, Matrix maxima, Matrix ties, bool accumulate, std::span<std::byte> memory);
void spmm_max_back(const Csr& a, ConstMatrix gradient, ConstMatrix maxima, ConstMatrix own, Matrix c, bool accumulate);
void attend(const Csr& a, const AttendOperands& in, const AttendResults& to, const Attention& how, bool accumulate,
            bool last);
void attend_back(const Csr& a, const AttendBackOperands& in, const AttendBackResults& to, const Attention& how,
                 bool accumulate);
void head_dot(ConstMatrix x, ConstMatrix y, Heads heads, Matrix out);
void head_squares(ConstMatrix x, Heads heads, Matrix out);
void head_spread(ConstMatrix by, ConstMatrix y, Heads heads, Matrix x);
void head_fold(ConstMatrix x, ConstMatrix by, Heads heads, float* out);
void head_mean(ConstMatrix x, Matrix out);
void head_share(ConstMatrix g, Matrix out);
void head_unit(ConstMatrix x, ConstMatrix squares, Heads heads, Matrix out);
void head_unit_back(const UnitBackOperands& in, Heads heads, Matrix x);
void edge_dot(const Csr& a, ConstMatrix x, ConstMatrix y, float* scores);
void edge_totals(const Csr& a, const float* scores, const float* beta, EdgeTotals to, bool accumulate);
void edge_softmax(const Csr& a, const float* scores, const float* beta, EdgeTotals of, float* weights);
void edge_softmax_back(const Csr& a, const EdgeSoftmaxBack& back, bool accumulate);
void gemm(Transpose transpose_a, Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c, bool accumulate);
void activate(Matrix z, const float* bias, Activation activation, const DropoutKey& dropout, std::uint8_t* bits);
void activation_gradient(Matrix g, ConstMatrix h, Activation activation, const DropoutKey& dropout);
void dropout(ConstMatrix in, Matrix out, const DropoutKey& key);
void positive_mask(ConstMatrix h, std::uint8_t* bits);
void apply_mask(Matrix g, const std::uint8_t* bits, float scale);
void softmax_cross_entropy(Matrix logits, const LossInput& input, double* loss);
void softmax_parts(ConstMatrix logits, const std::uint8_t* split, SoftmaxPart* parts);
void softmax_totals(const SoftmaxPart* parts, std::int64_t rows, std::int64_t ranks, SoftmaxPart* totals);
void softmax_gradient(Matrix logits, const LossInput& input, const SoftmaxPart* totals, double* loss);
void count_correct(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, double correct[3]);
void cross_entropy(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, std::uint8_t of,
                   double* loss);
void sigmoid_cross_entropy(Matrix logits, const SigmoidInput& input, double* loss);
void count_labels(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, double counts[9]);
void label_loss(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, std::uint8_t of, double* loss);
void norm_moment(ConstMatrix z, const float* centre, double share, float* out);
void norm_rows(const NormedRows& of, const float* bias, bool whole, Matrix out);
void norm_sums(const NormedRows& of, ConstMatrix g, Matrix sums, float* of_weight, float* of_bias);
void norm_back(const NormedRows& of, ConstMatrix sums, Matrix g);
void norm_rows_back(const NormedRows& of, Matrix g, float* of_weight, float* of_bias);
void batch_moments(ConstMatrix z, double* sum, double* squares);
void batch_finish(const ColumnMoments& of, float* mean, float* inverse, float* running_mean, float* running_variance);
void batch_known(const float* running_mean, const float* running_variance, std::int64_t columns, float* mean,
                 float* inverse);
void batch_scale(const NormedColumns& of, const float* bias, Matrix out);
void batch_sums(const NormedColumns& of, ConstMatrix g, float* along, float* plain);
void batch_back(const NormedColumns& of, const float* along, const float* plain, double share, Matrix g);
void column_sum(ConstMatrix g, float* out);
void update(Optimiser rule, float* w, const float* gradient, float* m1, float* m2, std::int64_t count,
            const UpdateSettings& settings);
void add(ConstMatrix a, Matrix c);
void sum(ConstMatrix a, ConstMatrix b, Matrix c);
void add_squares(ConstMatrix a, Matrix c);
void add_scaled(float scale, const float* more, ConstMatrix a, Matrix c);
void blend(float share, ConstMatrix a, Matrix c);
void scale(float factor, ConstMatrix a, Matrix c);
void add_identity(float factor, Matrix c);
void dot(ConstMatrix a, ConstMatrix b, float* sum);
void divide(Matrix g, ConstMatrix by);
void copy(ConstMatrix in, Matrix out);
void gather_rows(ConstMatrix in, const std::int32_t* index, Matrix out);
void add_rows(ConstMatrix in, const std::int32_t* index, std::int64_t first, Matrix out);
void narrow(ConstMatrix in, Dense<Bf16> out);
void widen(Dense<const Bf16> in, Matrix out);
void gather_rows_narrow(ConstMatrix in, const std::int32_t* index, Dense<Bf16> out);
void gather_rows_bf16(Dense<const Bf16> in, const std::int32_t* index, Dense<Bf16> out);
void add_widened(Dense<const Bf16> in, Matrix out);
void add_rows_widened(Dense<const Bf16> in, const std::int32_t* index, std::int64_t first, Matrix out);
void scale_rows(const std::int32_t* index, const float* factor, std::int64_t count, Matrix rows);
void zero(std::span<std::byte> memory);
void copy_bits(const std::uint8_t* source, std::int64_t source_columns, std::int64_t source_row,
               std::int64_t source_column, std::uint8_t* target, std::int64_t target_columns, std::int64_t target_row,
               std::int64_t target_column, std::int64_t rows, std::int64_t columns);

}  // namespace gnnplan::kernels::cuda
