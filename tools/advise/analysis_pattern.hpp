// Facts about where the measured time of a run differs from what was predicted, by kind of work.
#pragma once

#include "tools/advise/analysis.hpp"

#include <string>

namespace gnnplan::tools {

// Ratios this close to each other are one.
inline constexpr double same_factor = 1.4;
// Work that has this share of the absolute error decides what is said.
inline constexpr double dominates = 0.60;

// Facts about the errors, by work; `analysis` outlives it.
class Pattern {
public:
    explicit Pattern(const Analysis& analysis);

    // Seconds, absolute values of all work added up.
    double error() const { return error_; }

    // The work whose total errs by most seconds; there is one, for there are steps.
    const WorkTotal& worst() const;
    // The step of this work that errs by most seconds; there is one.
    const StepAnalysis& worst_step(Work work) const;
    // How the time of all other work compares with its prediction, in words.
    std::string others(const WorkTotal& total) const;
    // Whether most of the time of this work is off by about the same factor.
    bool uniform(const WorkTotal& total) const;
    // Whether all work that counts is off by about the same factor, none of it nearer to what was predicted.
    bool everything_alike() const;
    // Whether the error of this work comes from steps that move little.
    bool from_small_messages(Work work) const;
    // Seconds beyond the predicted ones in steps where ranks meet, and the step that has most of them.
    double late_seconds() const;
    const StepAnalysis* where_ranks_wait() const;

private:
    const Analysis& analysis_;
    double error_ = 0;
};

}  // namespace gnnplan::tools
