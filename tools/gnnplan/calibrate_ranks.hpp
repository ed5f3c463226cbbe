// Every rank of a calibration does this: it measures, trains on drawn graphs, and fits a profile.
#pragma once

#include "kernels/backend.hpp"
#include "runtime/calibrate/load.hpp"
#include "runtime/comm/communicator.hpp"

#include <gnnplan/ir/profile.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct CalibrateOptions {
    bool quick = false;
    bool force = false;
    std::optional<std::string> output;
    std::string name;  // under which it is kept; empty: as this machine's
    std::optional<std::int64_t> ranks;
    std::int64_t threads = 1;
    std::string bind = "on";
    std::optional<std::int64_t> ranks_per_node;  // unset: those that share memory
    std::int64_t largest = 0;                    // bytes of an operand or message; 0: as much as usual
    std::string backend = "cpu";
    std::string device_exchange = "auto";
    std::optional<double> seconds;
    std::vector<std::string> from;  // reports of runs to learn from, in place of measuring
    bool json = false;
};

// A profile, and what was in the way of measuring it.
struct Calibrated {
    Profile profile;
    calibrate::Load load;
};

// Collective; the same on every rank. `with_mpi`: the ranks are processes.
Calibrated calibrate_ranks(comm::Communicator& comm, const CalibrateOptions& options, const kernels::Backend& backend,
                           bool with_mpi);

}  // namespace gnnplan::tools
