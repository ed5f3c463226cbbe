// A pool of batches that the ranks of a plan draw together, and the bytes that they send for it.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/load/share.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/sample/pool.hpp"

#include <gnnplan/ir/sampling.hpp>

#include <memory>

namespace gnnplan::deploy {

struct SharedPool {
    std::shared_ptr<const sample::Pool> pool;
    load::LoadStep step;
};

// Collective. Throws AgreedError where the pool cannot be drawn (sample::Pool).
SharedPool draw_together(comm::Communicator& comm, const data::Dataset& dataset, const Sampling& sampling,
                         measure::Clock& clock);

}  // namespace gnnplan::deploy
