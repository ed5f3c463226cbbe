// Kernels that are measured in turn, so that what else the machine does falls on all of them.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace gnnplan::bench {

struct Case {
    std::string name;
    std::function<void()> run;
    std::vector<double> seconds{};

    double least() const { return *std::min_element(seconds.begin(), seconds.end()); }
    double median() {
        std::sort(seconds.begin(), seconds.end());
        return seconds[seconds.size() / 2];
    }
};

// Seconds; of all threads of this process with `processor_time`, whatever else the machine computes.
inline double now(bool processor_time) {
    if (processor_time) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// So many rounds of all cases, and one before them that does not count.
inline void alternate(std::vector<Case>& cases, int repeats, bool processor_time = false) {
    for (int round = -1; round < repeats; ++round) {
        for (Case& each : cases) {
            const double start = now(processor_time);
            each.run();
            const double took = now(processor_time) - start;
            if (round >= 0) each.seconds.push_back(took);
        }
    }
}

}  // namespace gnnplan::bench
