// One handler for each kind of step. Handlers of steps that communicate are collective; all work in place on the store.
#pragma once

#include "kernels/table.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/exec/pass.hpp"
#include "runtime/exec/store.hpp"

#include <gnnplan/ir/schedule.hpp>

namespace gnnplan::exec {

struct StepContext {
    Store& store;
    const kernels::Table& kernels;
    comm::Communicator& world;
    const PassSettings& settings;
    const kernels::PassValues* pass;  // on the device
    std::size_t step;                 // index in the schedule
};

void run_step(const SpmmStep& step, const StepContext& context);
void run_step(const RowRequestStep& step, const StepContext& context);
void run_step(const ReduceScatterStep& step, const StepContext& context);
void run_step(const GemmStep& step, const StepContext& context);
void run_step(const RedistributeStep& step, const StepContext& context);
void run_step(const WeightGradStep& step, const StepContext& context);
void run_step(const AllReduceStep& step, const StepContext& context);
void run_step(const MapStep& step, const StepContext& context);
void run_step(const LossStep& step, const StepContext& context);
void run_step(const ScoreStep& step, const StepContext& context);
void run_step(const UpdateStep& step, const StepContext& context);

}  // namespace gnnplan::exec
