// Shows the progress of a long search on stderr: on a terminal as one live line, which is removed in the end, else as a
// line every ten seconds.
#pragma once

#include "runtime/measure/clock.hpp"

#include <string>

namespace gnnplan::tools {

class ProgressLine {
public:
    explicit ProgressLine(measure::Clock& clock);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // Shows "searching: 1d on 64x1, 12 of 96 grids, 3 s", but nothing during the first two seconds.
    void show(const std::string& what);

private:
    measure::Clock& clock_;
    bool live_;
    bool open_ = false;  // the live line
    double start_;
    double next_;  // when the next line is due
};

}  // namespace gnnplan::tools
