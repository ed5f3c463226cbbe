// How far a run is: one live line on a terminal, else a line every ten seconds.
#pragma once

#include "runtime/measure/clock.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::tools {

// "loss 0.812  train 91.4 %  valid 79.2 %  test 79.9 %"; "valid -" where no vertex has a label, "f1 train .." of
// several labels, "  rocauc train .." besides where it is asked for, nothing after an epoch that was not evaluated.
std::string describe(const EpochRecord& epoch);
// "train 90.0 %  valid 80.0 %  test -".
std::string describe(const SetScores& scores);
// The metrics by which there is a score.
std::vector<const Metric*> shown_metrics(const Judgement& judgement);

class Progress {
public:
    // Writes to stderr, unless `quiet`.
    Progress(std::int64_t epochs, int runs, bool quiet, measure::Clock& clock);
    ~Progress() { end_line(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // The epochs of this run of several follow, from 0.
    void begin_run(int run) { run_ = run; }
    void show(const EpochRecord& epoch);
    // A line of its own.
    void say(const std::string& text);

    // Later text begins a line of its own.
    void end_line();

private:
    std::int64_t epochs_;
    int runs_, run_ = 0;
    bool quiet_;
    measure::Clock& clock_;
    bool live_;
    bool line_open_ = false;
    double start_, last_shown_;
    std::int64_t seen_ = 0;  // epochs that were shown or passed over
};

}  // namespace gnnplan::tools
