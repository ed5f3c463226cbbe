#include "planner/search/walk.hpp"

#include "planner/cost/executed_units.hpp"
#include "planner/search/thrift.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace gnnplan::search {
namespace {

// The search looks at so many of the fastest members, which is enough for a table and for a plan; the rest is slower.
constexpr std::size_t shown_members = 24;
// The table also lists the fastest member of each grid, and the fastest there that lets the input vary. With more grids
// than this, or in deep networks, it lists those of each scheme instead.
constexpr std::size_t max_grids_shown = 40;

// Walks the members from the fastest on and costs those that are asked for.
class Walk {
public:
    Walk(const Space& space, const Machine& machine, NumberedGraphs& graphs, const Members& all)
        : space_(space), costs_(machine), graphs_(graphs), all_(all), needed_buffer_(all.needed_buffer) {}

    SearchResult run() {
        std::size_t looked_at = 0;
        bool hopeless = false;
        for (const Member& member : all_.members) {
            const ConfigurationFrame& frame = all_.frames[member.frame];
            if (!member.fits_buffer()) {
                ++over_buffer_[scheme_of(frame.on)];
                continue;
            }
            const bool many = space_.grids.size() > max_grids_shown || space_.depth() > max_enumerated_layers;
            const bool varies = !all_.choices[member.choices].front().constant_input;
            const GridKey grid{
                scheme_of(frame.on) + (varies ? ", input varies" : "") + (frame.switches.loss_rows ? ", pruned" : ""),
                many ? "" : frame.on.grid.text()};
            const bool wanted = fitting_ < shown_members || !shown_.contains(grid);
            // Where the fastest do not fit, the thriftiest says whether anything does: it does not depend on what is
            // allowed.
            if (!hopeless && fitting_ == 0 && looked_at == shown_members) hopeless = !thriftiest_fits();
            if (hopeless || (!wanted && fitting_ > 0)) {
                ++(hopeless ? over_memory_ : slower_)[scheme_of(frame.on)];
                continue;
            }
            if (visit(member, grid)) ++looked_at;
        }
        add_classes(over_memory_, Rejection::Reason::over_memory, "over memory: a rank needs more than it is allowed");
        add_classes(over_buffer_, Rejection::Reason::over_buffer,
                    "over the buffer: the smallest pieces that blocks can be cut into are larger");
        found_.needed_buffer = needed_buffer_;
        add_classes(slower_, Rejection::Reason::slower, "estimated to be slower than those compared");
        return std::move(found_);
    }

private:
    using GridKey = std::pair<std::string, std::string>;

    // Returns whether its pieces can be cut small enough.
    bool visit(const Member& member, const GridKey& grid) {
        const ConfigurationFrame& frame = all_.frames[member.frame];
        if (space_.options.progress) {
            space_.options.progress("comparing the fastest: " + scheme_of(frame.on) + " on " + frame.on.grid.text() +
                                    ", " + std::to_string(++visited_) + " so far");
        }
        const Configuration configuration = configuration_of(frame, all_.choices[member.choices]);
        Lowered made = lowered(space_, configuration, graphs_);
        if (!made.fits()) {
            ++over_buffer_[scheme_of(frame.on)];
            needed_buffer_ = std::min(needed_buffer_, made.needed_buffer);
            return false;
        }
        Schedule& schedule = made.schedule;
        const GraphStats& graph = graphs_.numbered(schedule.numbering);
        const std::int64_t peak = peak_bytes_per_rank(schedule, graph, space_.memory);
        const bool fits = peak <= space_.memory_per_rank;
        found_.fastest_is_over |= !fits && fitting_ == 0;
        if (!fits && peak >= thriftiest_) {
            ++over_memory_[scheme_of(frame.on)];
            return true;
        }
        if (fits) {
            ++fitting_;
            shown_.insert(grid);
        } else {
            ++over_memory_[scheme_of(frame.on)];
            std::erase_if(found_.costed, [](const EvaluatedCandidate& costed) { return !costed.ranked.fits; });
            thriftiest_ = peak;
        }
        const Prediction predicted = predict(space_, schedule, graph, costs_, peak);
        found_.costed.push_back(costed_of(space_, {configuration, std::move(schedule), predicted}));
        return true;
    }

    // Keeps it in place of the others over memory if it does not.
    bool thriftiest_fits() {
        const Thriftiest thriftiest = thriftiest_member(space_, all_, graphs_);
        if (thriftiest.peak_bytes <= space_.memory_per_rank) return true;
        if (thriftiest.peak_bytes >= thriftiest_) return false;
        visit(thriftiest.member, {});
        --over_memory_[scheme_of(all_.frames[thriftiest.member.frame].on)];  // it is counted with the rest
        return false;
    }

    void add_classes(const std::map<std::string, std::int64_t>& classes, Rejection::Reason reason, const char* why) {
        for (const auto& [scheme, count] : classes) found_.rejected.push_back({scheme, reason, why, count});
    }

    const Space& space_;
    SharedCosts costs_;
    NumberedGraphs& graphs_;
    const Members& all_;
    SearchResult found_;
    std::size_t visited_ = 0;
    std::size_t fitting_ = 0;
    std::set<GridKey> shown_;
    std::int64_t thriftiest_ = std::numeric_limits<std::int64_t>::max();  // the lowest peak over memory, kept in found_
    std::map<std::string, std::int64_t> over_memory_, over_buffer_, slower_;
    std::int64_t needed_buffer_;  // the smallest that would be enough for one of those
};

}  // namespace

EvaluatedCandidate costed_of(const Space& space, Candidate candidate) {
    const Units units = cost::executed_units(candidate.schedule);
    const bool fits = candidate.predicted.peak_bytes_per_rank <= space.memory_per_rank;
    RankedConfiguration ranked{candidate.configuration, units, units, candidate.predicted, false, fits};
    return {std::move(ranked), std::move(candidate)};
}

SearchResult walk_members(const Space& space, const Machine& machine, NumberedGraphs& graphs, const Members& all) {
    return Walk(space, machine, graphs, all).run();
}

}  // namespace gnnplan::search
