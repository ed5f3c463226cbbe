// What gnnplan calibrate tells people.
#pragma once

#include "runtime/measure/clock.hpp"

#include <gnnplan/ir/profile.hpp>

#include <string>

namespace gnnplan::tools {

// What was measured, as tables.
std::string calibration_text(const Profile& profile, bool color);

// How far the measurements are, on stderr: one live line on a terminal, else a line every ten seconds.
class CalibrationProgress {
public:
    CalibrationProgress(bool quiet, measure::Clock& clock);
    ~CalibrationProgress();
    CalibrationProgress(const CalibrationProgress&) = delete;
    CalibrationProgress& operator=(const CalibrationProgress&) = delete;

    void show(const std::string& what, std::size_t done, std::size_t total);

private:
    bool quiet_;
    measure::Clock& clock_;
    bool live_;
    bool line_open_ = false;
    double last_shown_;
};

}  // namespace gnnplan::tools
