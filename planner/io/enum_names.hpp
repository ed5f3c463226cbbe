// How enumerations are spelled in files, in the order of their enumerators.
#pragma once

#include <gnnplan/base/dtype.hpp>
#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <array>
#include <string_view>

namespace gnnplan::io {

template <class E>
struct EnumNames;

template <>
struct EnumNames<DType> {
    static constexpr std::array<std::string_view, 5> names{"f32", "f64", "i32", "u8", "bits"};
};
template <>
struct EnumNames<Role> {
    static constexpr std::array<std::string_view, 15> names{
        "adjacency", "features", "labels",    "subset", "vertices", "counts_as", "weight",      "bias",
        "moment",    "cached",   "transient", "edges",  "summands", "in_flight", "known_labels"};
};
template <>
struct EnumNames<Wire> {
    static constexpr std::array<std::string_view, 2> names{"fp32", "bf16"};
};
template <>
struct EnumNames<Sampler> {
    static constexpr std::array<std::string_view, 5> names{"node", "edge", "walk", "cluster", "neighbours"};
};
template <>
struct EnumNames<Phase> {
    static constexpr std::array<std::string_view, 3> names{"setup", "epoch", "evaluation"};
};
template <>
struct EnumNames<Pass> {
    static constexpr std::array<std::string_view, 4> names{"forward", "keep", "backward", "update"};
};
template <>
struct EnumNames<OpKind> {
    static constexpr std::array<std::string_view, 15> names{"input",
                                                            "dropout",
                                                            "aggregate",
                                                            "linear",
                                                            "add",
                                                            "bias",
                                                            "relu",
                                                            "softmax_cross_entropy",
                                                            "elu",
                                                            "leaky_relu",
                                                            "output",
                                                            "layer_norm",
                                                            "batch_norm",
                                                            "sigmoid_cross_entropy",
                                                            "masked_sigmoid_cross_entropy"};
};
template <>
struct EnumNames<Loss> {
    static constexpr auto names = loss_names;
};
template <>
struct EnumNames<Activation> {
    static constexpr std::array<std::string_view, 4> names{"none", "relu", "elu", "leaky_relu"};
};
template <>
struct EnumNames<Init> {
    static constexpr std::array<std::string_view, 3> names{"glorot", "zeros", "ones"};
};
template <>
struct EnumNames<FeatureNorm> {
    static constexpr std::array<std::string_view, 2> names{"none", "row"};
};
template <>
struct EnumNames<Optimiser> {
    static constexpr auto names = [] {
        std::array<std::string_view, optimiser_rules.size()> names;
        for (std::size_t i = 0; i < names.size(); ++i) names[i] = optimiser_rules[i].name;
        return names;
    }();
};
template <>
struct EnumNames<Program> {
    static constexpr std::array<std::string_view, 7> names{"sum",         "max", "max_back", "attend",
                                                           "attend_back", "dot", "edge_sum"};
};
template <>
struct EnumNames<MapOp> {
    static constexpr std::array<std::string_view, 15> names{
        "activate",   "dropout", "positive_mask", "apply_mask",
        "column_sum", "add",     "divide",        "activation_gradient",
        "add_scaled", "copy",    "dot",           "difference",
        "blend",      "scaled",  "add_identity"};
};
template <>
struct EnumNames<HeadOp> {
    static constexpr std::array<std::string_view, 7> names{"dot",   "spread", "fold",     "mean",
                                                           "share", "unit",   "unit_back"};
};
template <>
struct EnumNames<NormOp> {
    static constexpr std::array<std::string_view, 7> names{"rows",      "mean", "variance", "scale",
                                                           "rows_back", "sums", "back"};
};
template <>
struct EnumNames<BatchNormOp> {
    static constexpr std::array<std::string_view, 6> names{"moments", "finish", "known", "scale", "sums", "back"};
};
template <>
struct EnumNames<Norm> {
    static constexpr std::array<std::string_view, 3> names{"none", "layer", "batch"};
};
template <>
struct EnumNames<NormAfter> {
    static constexpr std::array<std::string_view, 3> names{"sum", "activation", "dropout"};
};
template <>
struct EnumNames<EdgeOp> {
    static constexpr std::array<std::string_view, 2> names{"softmax", "softmax_back"};
};
template <>
struct EnumNames<Scores> {
    static constexpr std::array<std::string_view, 3> names{"columns", "whole_rows", "dealt_rows"};
};
template <>
struct EnumNames<AttentionScores> {
    static constexpr std::array<std::string_view, 2> names{"recompute", "stored"};
};
template <>
struct EnumNames<CutRule> {
    static constexpr std::array<std::string_view, 4> names{"none", "libra", "seeded", "cover"};
};
template <>
struct EnumNames<CloneLoss> {
    static constexpr std::array<std::string_view, 3> names{"none", "shares", "owners"};
};
template <>
struct EnumNames<SyncPart> {
    static constexpr std::array<std::string_view, 3> names{"to_owners", "to_clones", "adjoint"};
};
template <>
struct EnumNames<NodeAxis> {
    static constexpr std::array<std::string_view, 3> names{"y", "x", "z"};
};
template <>
struct EnumNames<Exchange> {
    static constexpr std::array<std::string_view, 5> names{"none", "panels", "rows", "relay", "relayed_rows"};
};
template <>
struct EnumNames<Normalisation> {
    static constexpr std::array<std::string_view, 3> names{"symmetric", "row_mean", "none"};
};
template <>
struct EnumNames<GemmKind> {
    static constexpr std::array<std::string_view, 3> names{"forward", "input_gradient", "weight_gradient"};
};
template <>
struct EnumNames<ModelPart> {
    static constexpr std::array<std::string_view, 16> names{
        "spmm",        "spmm_panels", "spmm_rows",      "spmm_overlapped", "programs",   "gemm",   "weight_gradient",
        "elementwise", "loss",        "redistribution", "reduce_scatter",  "all_reduce", "update", "maxima",
        "edge_values", "heads"};
};
template <>
struct EnumNames<Task> {
    static constexpr std::array<std::string_view, 2> names{"train", "infer"};
};
template <>
struct EnumNames<Loading> {
    static constexpr std::array<std::string_view, 2> names{"whole", "sharded"};
};
template <>
struct EnumNames<BestBy> {
    static constexpr auto names = best_by_names;
};
template <>
struct EnumNames<Ending> {
    static constexpr std::array<std::string_view, 3> names{"interrupted", "patience", "diverged"};
};
template <>
struct EnumNames<ElementwiseKind> {
    static constexpr std::array<std::string_view, 26> names{
        "copy",           "activate",       "activate_dropout", "dropout",
        "positive_mask",  "apply_mask",     "column_sum",       "loss",
        "score",          "update",         "edge_softmax",     "edge_softmax_back",
        "edge_transpose", "head_dot",       "head_spread",      "head_fold",
        "head_unit",      "head_unit_back", "norm_rows",        "norm_rows_back",
        "norm_moments",   "norm_scale",     "norm_sums",        "norm_back",
        "narrow",         "widen"};
};

template <class E>
std::string_view name_of(E value) {
    return EnumNames<E>::names.at(static_cast<std::size_t>(value));
}

}  // namespace gnnplan::io
