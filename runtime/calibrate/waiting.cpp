// How long ranks wait for each other where one of them ends its work later than the others.
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/collective.hpp"
#include "runtime/calibrate/measurements.hpp"

#include <algorithm>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t floats = 1 << 16;  // that are copied at a time
constexpr std::int64_t columns = 64;
constexpr std::int64_t sum_bytes = 64;  // of each rank
constexpr double microsecond = 1e-6;

// Copies again and again, as often as the slowest rank needs for so many seconds.
class Copying {
public:
    Copying(const Setting& setting, double seconds)
        : table_(setting.kernels()), from_(setting.device, floats, 1.0F), to_(setting.device, floats) {
        const double once = measure::median(seconds_together(setting, [&] { copy(); }));
        times_ = std::max(1, static_cast<int>(seconds / once));
    }
    void run() {
        for (int i = 0; i < times_; ++i) copy();
    }

private:
    void copy() {
        table_.copy({from_.data(), floats / columns, columns, columns},
                    {to_.data(), floats / columns, columns, columns});
    }

    const kernels::Table& table_;
    Array<float> from_;
    Array<float> to_;
    int times_ = 1;
};

}  // namespace

void measure_waiting(const Setting& setting, std::int64_t microseconds, std::vector<Sample>& samples) {
    Copying work(setting, microsecond * static_cast<double>(microseconds));
    const auto sum = make_collective("all_reduce", setting.comm, setting.device, sum_bytes * setting.comm.size());
    sum->check();
    const std::vector<std::int64_t> at{microseconds};
    samples.push_back({"waiting.work", at, seconds_together(setting, [&] { work.run(); })});
    samples.push_back({"waiting.sum", at, seconds_of_collective(setting, [&] { sum->run(); })});
    samples.push_back({"waiting.both", at, seconds_of_collective(setting, [&] {
                           work.run();
                           sum->run();
                       })});
}

}  // namespace gnnplan::calibrate
