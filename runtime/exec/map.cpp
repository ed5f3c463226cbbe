#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::exec {
namespace {

// The draws depend on global positions, so every layout drops the same elements.
kernels::DropoutKey dropout_key(const MapStep& step, const StepContext& context, bool dropout, Range rows) {
    const Block block = context.store.block(step.tensor);
    const float probability = dropout ? context.settings.drop_probability(step.layer) : 0.0F;
    return {context.settings.seed,
            context.pass,
            static_cast<std::uint32_t>(step.layer),
            probability,
            block.rows.begin + rows.begin,
            block.columns.begin,
            step.vertices ? context.store.data<std::int32_t>(*step.vertices) + rows.begin : nullptr};
}

// Some of this rank's rows, the first of which is a multiple of eight: their bits begin with a byte.
kernels::Matrix rows_of(const StepContext& context, TensorId id, Range rows) {
    kernels::Matrix matrix = context.store.matrix(id);
    matrix.data = matrix.row(rows.begin);
    matrix.rows = rows.size();
    return matrix;
}
std::uint8_t* bits_of(const StepContext& context, TensorId id, Range rows) {
    return context.store.data<std::uint8_t>(id) + rows.begin / 8 * context.store.block(id).columns.size();
}

void activate(const MapStep& step, const StepContext& context, Range rows) {
    const Store& store = context.store;
    const float* bias = nullptr;
    if (step.operand) {
        bias = store.data<float>(*step.operand) + store.block(step.tensor).columns.begin;
    }
    context.kernels.activate(rows_of(context, step.tensor, rows), bias, step.activation,
                             dropout_key(step, context, step.dropout, rows),
                             step.out ? bits_of(context, *step.out, rows) : nullptr);
}

void dropout(const MapStep& step, const StepContext& context) {
    const kernels::DropoutKey key = dropout_key(step, context, true, {});
    const bool drops = key.probability > 0;
    context.store.alias(*step.out, drops ? std::nullopt : std::optional(step.tensor));
    if (drops) context.kernels.dropout(context.store.matrix(step.tensor), context.store.matrix(*step.out), key);
}

// The mask is taken after dropout, so the elements it keeps are those that dropout scaled by 1 / (1 - p).
void apply_mask(const MapStep& step, const StepContext& context, Range rows) {
    const float probability = step.dropout ? context.settings.drop_probability(step.layer) : 0.0F;
    context.kernels.apply_mask(rows_of(context, step.tensor, rows), bits_of(context, *step.operand, rows),
                               1.0F / (1.0F - probability));
}

void activation_gradient(const MapStep& step, const StepContext& context, Range rows) {
    const kernels::ConstMatrix made =
        step.operand ? kernels::ConstMatrix(rows_of(context, *step.operand, rows)) : kernels::ConstMatrix{};
    context.kernels.activation_gradient(rows_of(context, step.tensor, rows), made, step.activation,
                                        dropout_key(step, context, step.dropout, rows));
}

void add_scaled(const MapStep& step, const StepContext& context) {
    const Store& store = context.store;
    context.kernels.add_scaled(static_cast<float>(step.scale),
                               step.epsilon ? store.data<float>(*step.epsilon) : nullptr, store.matrix(*step.operand),
                               store.matrix(step.tensor));
}

void dot(const MapStep& step, const StepContext& context) {
    const Store& store = context.store;
    context.kernels.dot(store.matrix(step.tensor), store.matrix(*step.operand), store.data<float>(*step.out));
}

void difference(const MapStep& step, const StepContext& context) {
    const kernels::Matrix all = context.store.matrix(step.tensor), out = context.store.matrix(*step.out);
    const auto column = [&](std::int64_t j) { return kernels::ConstMatrix{all.data + j, all.rows, 1, all.stride}; };
    context.kernels.copy(column(1), out);
    context.kernels.add_scaled(-1, nullptr, column(0), out);
}

void column_sum(const MapStep& step, const StepContext& context) {
    context.kernels.column_sum(context.store.matrix(step.tensor),
                               cleared_columns<float>(context, *step.out, step.tensor));
}

}  // namespace

void run_rows(const MapStep& step, const StepContext& context, Range rows) {
    switch (step.op) {
        case MapOp::activate: return activate(step, context, rows);
        case MapOp::apply_mask: return apply_mask(step, context, rows);
        case MapOp::activation_gradient: return activation_gradient(step, context, rows);
        default: ensure(false, "a map operation is not done by rows");
    }
}

void run_step(const MapStep& step, const StepContext& context) {
    if (step.done_before && context.kernels.gemm_then != nullptr) return;
    switch (step.op) {
        case MapOp::dropout: return dropout(step, context);
        case MapOp::positive_mask:
            return context.kernels.positive_mask(context.store.matrix(step.tensor),
                                                 context.store.data<std::uint8_t>(*step.out));
        case MapOp::column_sum: return column_sum(step, context);
        case MapOp::add:
            return context.kernels.add(context.store.matrix(*step.operand), context.store.matrix(step.tensor));
        case MapOp::divide:
            return context.kernels.divide(context.store.matrix(step.tensor), context.store.matrix(*step.operand));
        case MapOp::activate:
        case MapOp::apply_mask:
        case MapOp::activation_gradient:
            return run_rows(step, context, {0, context.store.block(step.tensor).rows.size()});
        case MapOp::add_scaled: return add_scaled(step, context);
        case MapOp::copy:
            return context.kernels.copy(context.store.matrix(step.tensor), context.store.matrix(*step.out));
        case MapOp::dot: return dot(step, context);
        case MapOp::difference: return difference(step, context);
        case MapOp::blend:
            return context.kernels.blend(static_cast<float>(step.scale), context.store.matrix(*step.operand),
                                         context.store.matrix(step.tensor));
        case MapOp::scaled:
            return context.kernels.scale(static_cast<float>(step.scale), context.store.matrix(step.tensor),
                                         context.store.matrix(step.out.value_or(step.tensor)));
        case MapOp::add_identity:
            return context.kernels.add_identity(static_cast<float>(step.scale), context.store.matrix(step.tensor));
    }
    ensure(false, "a map operation has no handler");
}

}  // namespace gnnplan::exec
