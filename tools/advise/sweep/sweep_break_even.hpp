// Break-even answers of a sweep: which scheme is slower from where on, and which link would change the choice.
#pragma once

#include "tools/advise/sweep/break_even.hpp"
#include "tools/advise/sweep/sweep_question.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// Two schemes along the main variation, all else the same.
struct SchemeCrossing {
    std::string others;      // "hidden=128", "" when nothing else varies
    std::string axis;        // the variation compared along
    std::string from, last;  // its settings
    Crossing crossing;
};

// Every pair of schemes of a sweep that varies both `scheme` and a number. Times closer than the model's error are
// equal.
std::vector<SchemeCrossing> scheme_crossings(const Sweep& sweep);
// "1d becomes slower than rdm from 3 ranks on, 2.31 times at 16 ranks"
std::string crossing_text(const SchemeCrossing& crossing);

// From here on, away from the link there is, the best choice is faster than the present one by more than the model's
// error: a change before that is within a tie.
struct SureChange {
    double at = 0;
    std::string choice;
};

// The time of one choice at each bandwidth that was looked at.
struct LinkCurve {
    std::string choice;
    std::vector<double> seconds;
};

// The bandwidths of the slowest link at which the choice becomes another one, all else the same.
struct LinkBreakEven {
    std::string settings;         // of the point, "" when nothing varies
    std::string link;             // "intra_node" or "inter_node"
    double bytes_per_second = 0;  // now
    double low = 0, high = 0;     // searched between these
    std::string choice;           // now
    std::vector<ChoiceChange> changes;
    std::optional<SureChange> sure_slower, sure_faster;  // of slower and of faster links, where there is one
    std::vector<double> rates;                           // that curves are of, increasing
    std::vector<LinkCurve> curves;                       // of the choice now, and of each that is the best at a rate
};

// Where the choice changes at one point, to within 1 %, sure changes to within 5 %. `machine` has its links as they are
// now.
LinkBreakEven link_break_even(const Question& question, const std::string& settings);
// The choice now, then what the nearest slower and the nearest faster link would change it to, and whether that is
// within the model's error. Lines but the first begin with blanks.
std::vector<std::string> link_lines(const LinkBreakEven& link, const Machine& machine);

}  // namespace gnnplan::tools
