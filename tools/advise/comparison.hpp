// Two plans, two runs, or one of each, side by side.
#pragma once

#include "planner/io/document.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::tools {

// Steps of one kind in one epoch. Bytes leave a rank for another one; a run's were counted.
struct KindCost {
    std::optional<double> predicted_seconds, measured_seconds;
    std::int64_t bytes = 0;
};

// The figures of a plan's chosen candidate or of a run that are compared.
struct Side {
    std::string file, schema;
    std::string course;  // course_text() of a run
    std::optional<Ending> ending;
    std::optional<std::int64_t> resumed_after;
    std::vector<std::pair<std::string, std::string>> problem;   // "ranks" -> "4"; what a file does not say is left out
    std::vector<std::pair<std::string, std::string>> settings;  // "learning rate" -> "0.01"; none of a plan
    std::vector<std::pair<std::string, std::string>> configuration;  // "grid" -> "2x2"
    std::string other_results;                                       // other_results() of the configuration
    std::optional<double> predicted_seconds, measured_seconds;       // of an epoch, or of a pass
    std::optional<double>
        loading_seconds;      // predicted of what comes before the pass of an inference, where it is known
    double kept_seconds = 0;  // predicted: an epoch's share of what is made once for all of them
    double ranked_seconds() const { return predicted_seconds.value_or(0) + loading_seconds.value_or(0) + kept_seconds; }
    std::int64_t total_bytes = 0, max_rank_bytes = 0, peak_bytes = 0;
    std::map<std::string, KindCost> kinds;
    std::optional<Machine> machine;  // that predictions are for; a run report does not say
    std::string evidence;            // for those predictions
    int ranks = 1;
};

// Reads a plan or a run report. Throws Error{missing_input} or Error{data}.
Side read_side(const std::string& file);
Side side_of(const Plan& plan);
Side side_of(const RunReport& report);

// One quantity of both; none where a side does not have it.
struct Compared {
    std::string name;
    std::optional<double> a, b;

    std::optional<double> ratio() const;  // b / a; none when a is 0 or either is missing
};

struct Difference {
    std::string name, a, b;
};

struct Comparison {
    Side a, b;
    std::vector<Difference> problem;        // what differs, of what both say
    std::vector<Difference> settings;       // of two runs, what differs
    std::vector<Difference> configuration;  // all of it
    std::vector<Compared> seconds, bytes;
    std::vector<Compared> kind_seconds,
        kind_bytes;  // per kind of step; seconds measured where both are, else predicted
    bool kinds_measured = false;
    const Machine* machine() const;  // that predictions are for, where a side says
    // Whether the model can tell the two predictions apart: of the epochs, or of the passes with the loading before
    // them. None without a machine, or where only one side has a prediction.
    std::optional<bool> tie() const;
};
Comparison compare(Side a, Side b);

io::Document encode(const Comparison& comparison);  // gnnplan.comparison/1

}  // namespace gnnplan::tools
