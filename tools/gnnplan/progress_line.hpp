// Shows the progress of a long search on stderr: on a terminal as one live line, which is removed in the end, else as a
// line every ten seconds.
#pragma once

#include "runtime/measure/clock.hpp"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace gnnplan::tools {

class ProgressLine {
public:
    // Says nothing where it is `quiet`.
    ProgressLine(measure::Clock& clock, bool quiet);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // Shows "searching: 1d on 64x1, 12 of 96 grids, 3 s", but nothing during the first two seconds.
    void show(const std::string& what);

private:
    measure::Clock& clock_;
    bool quiet_, live_;
    bool open_ = false;  // the live line
    double start_;
    double next_;  // when the next line is due
};

// Shows that one long piece of work is under way, which tells nothing of its progress, in the same way until it is
// destroyed.
class WaitingLine {
public:
    WaitingLine(std::string what, measure::Clock& clock, bool quiet);
    ~WaitingLine();
    WaitingLine(const WaitingLine&) = delete;
    WaitingLine& operator=(const WaitingLine&) = delete;

private:
    void show(const std::string& what);

    ProgressLine line_;
    std::mutex mutex_;
    std::condition_variable ends_;
    bool ended_ = false;
    std::thread thread_;
};

}  // namespace gnnplan::tools
