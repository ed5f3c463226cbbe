// One handler for each kind of step. Handlers of steps that communicate are collective; all work in place on the store.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/exec/background.hpp"
#include "runtime/exec/pass.hpp"
#include "runtime/exec/store.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace gnnplan::exec {

struct StepContext {
    Store& store;
    const kernels::Table& kernels;
    comm::Communicator& world;
    const PassSettings& settings;
    const kernels::PassValues* pass;   // on the device
    std::size_t step;                  // index in the schedule
    Background* background = nullptr;  // where the schedule has messages that travel on
    std::int64_t turn = 0;             // epochs that this executor has run
};

// Whether the result of the step is sums of squares, which floats hold as kernels::SquareSum.
inline bool makes_squares(const HeadStep& step) { return step.op == HeadOp::dot && step.in[0] == step.in[1]; }

// Clears sums by columns, as a rank has nothing of the columns of others, and returns where those of `of` that it has
// begin.
template <class T>
T* cleared_columns(const StepContext& context, TensorId sums, TensorId of) {
    const std::span<T> out = context.store.values<T>(sums);
    context.kernels.zero(std::as_writable_bytes(out));
    return out.data() + context.store.block(of).columns.begin;
}

void run_step(const SpmmStep& step, const StepContext& context);
// Lets the device choose kernels for the products with this rank's own blocks, in a step that has not run yet. Returns
// what it found of the first of them.
std::vector<ProductKernel> choose_kernels(const SpmmStep& step, const StepContext& context, kernels::Device& device,
                                          std::string_view wanted);

void run_step(const RowRequestStep& step, const StepContext& context);
void run_step(const ReduceScatterStep& step, const StepContext& context);
void run_step(const SumRowsStep& step, const StepContext& context);
void run_step(const SyncRowsStep& step, const StepContext& context);
void run_step(const GemmStep& step, const StepContext& context);
void run_step(const RingGemmStep& step, const StepContext& context);
void run_step(const RedistributeStep& step, const StepContext& context);
void run_step(const WeightGradStep& step, const StepContext& context);
void run_step(const AllReduceStep& step, const StepContext& context);
void run_step(const MapStep& step, const StepContext& context);
// The same in some of this rank's rows, the first of which is a multiple of eight: of an activation, its gradient or a
// mask, on the host.
void run_rows(const MapStep& step, const StepContext& context, Range rows);
void run_step(const HeadStep& step, const StepContext& context);
void run_step(const EdgeStep& step, const StepContext& context);
void run_step(const EdgeTransposeStep& step, const StepContext& context);
void run_step(const EdgeGatherStep& step, const StepContext& context);
void run_step(const NormStep& step, const StepContext& context);
void run_step(const BatchNormStep& step, const StepContext& context);
void run_step(const LossStep& step, const StepContext& context);
void run_step(const ScoreStep& step, const StepContext& context);
void run_step(const RankSumStep& step, const StepContext& context);
void run_step(const UpdateStep& step, const StepContext& context);

}  // namespace gnnplan::exec
