#include "runtime/calibrate/setting.hpp"

#include "planner/calibrate/quantile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace gnnplan::calibrate {
namespace {

constexpr double shortest_batch = 50e-6;  // seconds: a thousand times what reading the clock takes
constexpr double most_batches = 25;
constexpr double most_runs = 1e6;  // of a batch

// So many that a batch is neither too short for the clock nor one of more than `most_batches`.
int runs_per_batch(const Effort& effort, double seconds_of_run) {
    const double batch = std::max(shortest_batch, effort.seconds / most_batches);
    return static_cast<int>(std::clamp(batch / std::max(seconds_of_run, 1e-12), 1.0, most_runs));
}

// These quantiles of a rank's batches are kept: enough to know their middle and how far they spread.
constexpr std::array<double, 5> kept_shares{0.1, 0.3, 0.5, 0.7, 0.9};

// As the device's clock tells it.
double time_batch(const Setting& setting, int runs, const Work& work) {
    kernels::Device& device = setting.device;
    device.mark(0, setting.clock.now());
    for (int i = 0; i < runs; ++i) work();
    device.mark(1, setting.clock.now());
    device.finish();
    return device.seconds(0, 1) / runs;
}

}  // namespace

std::vector<double> gather_values(comm::Communicator& comm, double value) {
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::hex).ptr;
    std::vector<double> values;
    for (const std::string& text : comm.control_all_gather(std::string(buffer.begin(), end))) {
        double& other = values.emplace_back(0);
        std::from_chars(text.data(), text.data() + text.size(), other, std::chars_format::hex);
    }
    return values;
}

// Ranks stop by the clock and not after as many runs, so that none of them ends up measuring alone for long.
std::vector<double> seconds_together(const Setting& setting, const Work& work) {
    comm::Communicator& comm = setting.comm;
    measure::Clock& clock = setting.clock;
    const Effort& effort = setting.effort;
    work();
    comm.barrier();
    const int runs = runs_per_batch(effort, time_batch(setting, 1, work));
    const double start = clock.now();
    const auto least = static_cast<std::size_t>(effort.runs);
    std::vector<double> times;
    const auto goes_on = [&] {
        const double elapsed = clock.now() - start;
        return elapsed < effort.seconds || (times.size() < least && elapsed < effort.limit) || times.empty();
    };
    while (goes_on()) times.push_back(time_batch(setting, runs, work));
    std::vector<double> own;
    own.reserve(kept_shares.size());
    for (const double share : kept_shares) own.push_back(calibrate::quantile(times, share));
    return comm::control_max(comm, std::move(own));
}

std::vector<double> seconds_of_collective(const Setting& setting, const Work& work) {
    const auto batch = [&](int runs) {
        setting.comm.barrier();
        return comm::control_max(setting.comm, time_batch(setting, runs, work));
    };
    double rough = batch(1);
    if (rough < setting.effort.seconds) rough = batch(3);  // the first one warmed up
    const int runs = runs_per_batch(setting.effort, rough);
    const double batches = setting.effort.seconds / std::max(rough * runs, 1e-9);
    const double affordable = std::max(1.0, setting.effort.limit / std::max(rough * runs, 1e-9));
    const double least = std::min(static_cast<double>(setting.effort.runs), affordable);
    std::vector<double> times(static_cast<std::size_t>(std::clamp(batches, least, std::max(least, most_batches))));
    for (double& seconds : times) seconds = batch(runs);
    return times;
}

}  // namespace gnnplan::calibrate
