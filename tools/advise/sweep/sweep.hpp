// What-if grids: every combination of a few settings, each planned on its own.
#pragma once

#include "planner/catalog/publications.hpp"

#include <gnnplan/select.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// A value as it was given; `number` in the unit of its variation's key, none where it is a name.
struct Setting {
    std::string text;
    std::optional<double> number;
    std::string means = {};  // of a case, which is several settings in one: "graph=reddit hidden=16"
};

struct Variation {
    std::string name;  // of --vary: "bandwidth"
    std::string key;   // of CSV and JSON, with the unit: "bandwidth_bytes_per_second"
    std::vector<Setting> settings;
};

struct SweepPoint {
    std::vector<std::size_t> at;              // the setting of each variation
    std::optional<RankedConfiguration> best;  // none: see `code` and `why`
    // The best where runs treat their features otherwise (tools/advise/feature_dropout.hpp); none where that is no
    // question, or where nothing fits then.
    std::optional<RankedConfiguration> otherwise;
    bool otherwise_over_memory = false;
    std::vector<RankedConfiguration> pareto;  // time against memory, by increasing memory
    std::vector<Rejection> rejected;          // what the search set aside
    ErrorCode code = ErrorCode::internal;
    std::string why;
    std::optional<int> smallest_ranks;            // where nothing fits: the fewest ranks on which something would
    std::int64_t needed_bytes = 0;                // where nothing fits: of the thriftiest, per rank
    std::int64_t memory_limit = 0;                // bytes allowed per rank; 0: not planned at all
    std::shared_ptr<const Machine> machine = {};  // that was asked about here, if another one than the sweep's
    double printed = catalog::nothing_printed;    // of the run that the point stands for, in a publication

    bool over_memory() const { return !best && code == ErrorCode::infeasible; }
};

struct Sweep {
    std::vector<Variation> variations;
    std::vector<SweepPoint> points;                   // the last variation fastest
    Machine machine;                                  // that was asked about first: predictions err as its do
    ProblemRecord problem = {};                       // the first that was asked about
    const catalog::PaperFigure* published = nullptr;  // whose runs the points stand for, where they do

    Task task() const;
    // Whether a variation of this name has more than one value.
    bool varies(const std::string& name) const;
    const Machine& machine_of(const SweepPoint& point) const { return point.machine ? *point.machine : machine; }
};

// Every combination of settings, the last variation fastest; one empty combination when nothing varies.
std::vector<std::vector<std::size_t>> combinations(const std::vector<Variation>& variations);

// The Pareto front of time and memory, of plans that fit: by increasing memory and falling time.
std::vector<RankedConfiguration> time_memory_front(const std::vector<RankedConfiguration>& ranked);

// The variation to draw and compare along, which has more than one value: `ranks`, else the first of numbers, else the
// first; none when nothing varies. A problem's numbers go before those of how it is computed (is_alternative).
std::optional<std::size_t> main_variation(const std::vector<Variation>& variations);

// Whether its values are ways to compute the same: schemes, grids, numbers of replicas.
bool is_alternative(const Variation& variation);

// The points along one variation with all other settings the same.
struct SweepLine {
    std::vector<std::size_t> others;        // settings of the other variations; 0 for the main one
    std::vector<const SweepPoint*> points;  // by increasing number, or as given
};
std::vector<SweepLine> lines_along(const Sweep& sweep, std::size_t variation);

// "scheme=1d, hidden=128" of the settings `at`, without the variations in `skip`.
std::string settings_text(const std::vector<Variation>& variations, const std::vector<std::size_t>& at,
                          const std::vector<std::size_t>& skip);
// The same in fewer words, "1d, hidden=128": without what has one value only.
std::string short_text(const std::vector<Variation>& variations, const std::vector<std::size_t>& at,
                       const std::vector<std::size_t>& skip);
// "8 ranks", "hidden=16", "rdm".
std::string place_text(const Variation& variation, std::size_t setting);

// "full" and "paper" search spaces, the other schemes are their members. A space that is everywhere as fast as one of
// the others says nothing of its own: the sweep without it, and a sentence that says so. Removed are "full", then
// "paper".
struct WithoutSpaces {
    Sweep sweep;
    std::vector<std::string> notes;
};
WithoutSpaces without_redundant_spaces(Sweep sweep);

}  // namespace gnnplan::tools
