// The text of gnnplan calibrate for people.
#pragma once

#include "runtime/calibrate/load.hpp"
#include "runtime/measure/clock.hpp"

#include <gnnplan/ir/profile.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

// The measurements, as tables.
std::string calibration_text(const Profile& profile, bool color);

// "noise    other programs took ...": what else says how quiet the machine was, with how far repeated messages differ.
std::string noise_line(const calibrate::Load& load, const std::vector<Sample>& samples);

// How far the measurements are, on stderr: one live line on a terminal, else a line every ten seconds.
class CalibrationProgress {
public:
    // `limit`: seconds that all measurements may take; 0: any time.
    CalibrationProgress(bool quiet, double limit, measure::Clock& clock);
    ~CalibrationProgress();
    CalibrationProgress(const CalibrationProgress&) = delete;
    CalibrationProgress& operator=(const CalibrationProgress&) = delete;

    void show(const std::string& what, std::size_t done, std::size_t total);

private:
    bool quiet_;
    double limit_;
    measure::Clock& clock_;
    bool live_;
    bool line_open_ = false;
    double start_;
    double last_shown_;
};

}  // namespace gnnplan::tools
