// How a calibration times things: warm up, repeat for about as long as a point may take, take the median, with all
// ranks busy at the same time.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/measure/clock.hpp"

#include <functional>
#include <vector>

namespace gnnplan::calibrate {

struct Effort {
    double seconds = 0.5;  // of one point, about; more where `runs` take longer
    int runs = 5;          // of one point, at least
    double limit = 60;     // seconds of one point after which `runs` are no reason to go on
};

// The arguments of every measurement. The communicator's ranks measure the same points in the same order; it exchanges
// what lies in the memories of their devices.
struct Setting {
    comm::Communicator& comm;
    measure::Clock& clock;
    kernels::Device& device;
    Effort effort;

    const kernels::Table& kernels() const { return device.table(); }
};

using Work = std::function<void()>;

// Every rank's value, in rank order, on every rank: exact, on the control channel.
std::vector<double> gather_values(comm::Communicator& comm, double value);

// Seconds of one run of `work` while every rank does it: the 10th, 30th, 50th, 70th and 90th percentile over batches of
// runs that take about effort.seconds together, each of the slowest rank, which an epoch waits for. Collective; `work`
// does not communicate.
std::vector<double> seconds_together(const Setting& setting, const Work& work);

// Seconds of one run of `work`, which is collective, for each batch of runs: that of the slowest rank. Collective.
std::vector<double> seconds_of_collective(const Setting& setting, const Work& work);

}  // namespace gnnplan::calibrate
