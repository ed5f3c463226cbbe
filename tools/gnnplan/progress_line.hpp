// What a long search is at, on stderr: one live line on a terminal, which goes away in the end, else a line every ten
// seconds.
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

    // "searching: 1d on 64x1, 12 of 96 grids, 3 s"; nothing during the first two seconds.
    void show(const std::string& what);

private:
    measure::Clock& clock_;
    bool live_;
    bool open_ = false;  // the live line
    double start_;
    double next_;  // when the next line is due
};

}  // namespace gnnplan::tools
