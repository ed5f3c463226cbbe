// The share of the cores that other programs took during a measurement: a calibration is of a machine that is ours
// alone.
#pragma once

#include "runtime/calibrate/measurements.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::calibrate {

// How long the cores of a node have been busy at a moment, as one of its ranks reads it.
struct LoadReading {
    double wall_seconds = 0;
    std::vector<double> busy_seconds;  // of each core, whoever used it; empty where the system does not tell
    std::vector<int> cores;            // that this rank may use
    double own_seconds = 0;            // CPU time of this process
    std::int64_t preempted = 0;        // how often the system took a core from a thread of it
};

class LoadSource {
public:
    virtual ~LoadSource() = default;
    virtual LoadReading read() = 0;
};

// Reads the load of this machine. Make it before threads are bound: the cores are those that may be used now.
class SystemLoad final : public LoadSource {
public:
    SystemLoad();
    LoadReading read() override;

private:
    std::vector<int> cores_;
};

struct Load {
    double others = 0;     // share of the cores that other programs took, 0 to 1; of the node where it is largest
    double preempted = 0;  // times a second, of the rank where it is largest
    int cores = 1;         // that the ranks of that node may use
};

// Between two readings of every rank. `processes`: ranks are processes of their own, and not threads of one whose CPU
// time each of them reads. Collective, the same on every rank.
Load load_between(comm::Communicator& comm, const Nodes& nodes, bool processes, const LoadReading& before,
                  const LoadReading& after);

}  // namespace gnnplan::calibrate
