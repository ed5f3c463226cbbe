// Trains a plan.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/train/options.hpp"

#include <gnnplan/ir/plan.hpp>

namespace gnnplan::train {

// Collective: every rank calls it with the same plan, options and data (its own copy, or one they share). Tunes over
// the candidates the options allow, trains, and returns the report, the same on every rank; tool, command line, backend
// and communicator are the caller's to fill in. `clock` is this rank's. Where options.start is the end of the run,
// nothing is trained, and hooks.outputs gets the outputs that its weights give.
//
// The same plan, seed, threads and candidate give the same bits. A loss that is no number ends training, which the
// report says. Throws on every rank, as comm::AgreedError, ErrorCode::mismatch when ranks or data are not the plan's,
// ErrorCode::infeasible when memory runs out. After any other exception other ranks may still be waiting for this one.
RunReport train(comm::Communicator& comm, const Plan& plan, const data::Dataset& dataset, const TrainOptions& options,
                const TrainHooks& hooks, measure::Clock& clock);

}  // namespace gnnplan::train
