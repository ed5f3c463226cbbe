#include "planner/search/pick.hpp"

#include "planner/cost/executed_units.hpp"
#include "planner/search/paper_space.hpp"
#include "planner/search/thrift.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace gnnplan::search {
namespace {

// The search looks at so many of the fastest members, which is enough for a table and for a plan; the rest is slower.
constexpr std::size_t shown_members = 24;
// The table also lists the fastest member of each grid, and the fastest there that lets the input vary. With more grids
// than this, or in deep networks, it lists those of each scheme instead.
constexpr std::size_t max_grids_shown = 40;
// Above this many ranks times layers sharded grids are searched only when something is over memory.
constexpr std::size_t max_sharded_unasked = 200;

EvaluatedCandidate costed_of(const Space& space, Candidate candidate) {
    const Units units = cost::executed_units(candidate.schedule);
    const bool fits = candidate.predicted.peak_bytes_per_rank <= space.memory_per_rank;
    RankedConfiguration ranked{candidate.configuration, units, units, candidate.predicted, false, fits};
    return {std::move(ranked), std::move(candidate)};
}

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
        add_classes(slower_, Rejection::Reason::slower, "slower than those compared");
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

// What fits first, then by predicted time; equal times by bytes, then id, so that the order is the same everywhere.
bool ranks_before(const EvaluatedCandidate& a, const EvaluatedCandidate& b) {
    const auto key = [](const RankedConfiguration& r) {
        return std::tuple(!r.fits, r.predicted.ranked_seconds(), r.predicted.total_bytes, r.configuration.id,
                          replication_of(r.configuration));
    };
    return key(a.ranked) < key(b.ranked);
}

double value_of(const RankedConfiguration& ranked, Objective objective) {
    switch (objective) {
        case Objective::time: return ranked.predicted.ranked_seconds();
        case Objective::memory: return static_cast<double>(ranked.predicted.peak_bytes_per_rank);
        case Objective::volume: return static_cast<double>(ranked.predicted.total_bytes);
        case Objective::spmm: return ranked.executed.sparse;
    }
    return 0;
}

bool beats(const RankedConfiguration& a, const RankedConfiguration& b, const std::vector<Objective>& objectives) {
    bool better = false;
    for (const Objective objective : objectives) {
        const double x = value_of(a, objective);
        const double y = value_of(b, objective);
        if (x > y) return false;
        better = better || x < y;
    }
    return better;
}

// The fastest members once more, with factored values, where those take less memory.
void add_factored(const Space& space, const Machine& machine, NumberedGraphs& graphs, SearchResult& found) {
    constexpr std::size_t most = 3;
    const std::size_t count = std::min(most, found.costed.size());
    for (std::size_t i = 0; i < count; ++i) {
        const RankedConfiguration& stored = found.costed[i].ranked;
        Configuration configuration = stored.configuration;
        configuration.factored_values = true;
        const std::int64_t peak = stored.predicted.peak_bytes_per_rank;
        std::optional<Candidate> candidate = cost_if_bounded(space, configuration, machine, graphs);
        if (!candidate) continue;
        EvaluatedCandidate costed = costed_of(space, *std::move(candidate));
        if (costed.ranked.predicted.peak_bytes_per_rank < peak) found.costed.push_back(std::move(costed));
    }
}

[[noreturn]] void refuse_buffer(const Space& space, std::int64_t needed) {
    throw Error(ErrorCode::usage,
                "no configuration keeps what others send to a product within " +
                    std::to_string(space.options.buffer_bytes) +
                    " bytes a rank: blocks cannot be cut into pieces that are small enough",
                "`buffer`", std::to_string(needed) + " bytes are enough");
}

// What a layer makes of all neighbours of a vertex.
std::string whole_neighbourhood(const Space& space) { return space.weighs_edges() ? "a softmax" : "a maximum"; }

void add_inapplicable(const Space& space, std::vector<Rejection>& rejected) {
    const auto on = [&](const std::string& scheme) {
        return std::any_of(space.grids.begin(), space.grids.end(),
                           [&](const Distribution& g) { return scheme_of(g) == scheme; });
    };
    const bool pinned = space.options.scheme || space.options.replication || space.options.grid;
    for (const std::string& scheme : scheme_names()) {
        const auto refused = std::count_if(space.refused.begin(), space.refused.end(),
                                           [&](const Distribution& grid) { return scheme_of(grid) == scheme; });
        if (refused > 0) {
            rejected.push_back(
                {scheme, Rejection::Reason::not_applicable,
                 "not applicable: " + whole_neighbourhood(space) + " is no sum, and these grids split neighbourhoods",
                 refused});
        }
        if (pinned || refused > 0 || on(scheme)) continue;
        rejected.push_back({scheme, Rejection::Reason::not_applicable,
                            "not applicable: " + std::to_string(space.ranks) +
                                (space.ranks == 1 ? " rank forms" : " ranks form") + " no such grid",
                            0});
    }
    if (space.attends()) {
        rejected.push_back({"forward S, backward D", Rejection::Reason::not_applicable,
                            "not applicable: attention compares what the weights have made, so they come first", 0});
        if (space.may_store_scores() && !space.options.attention && !space.drops_attention) {
            rejected.push_back(
                {"stored attention", Rejection::Reason::dominated,
                 "dominated: 4 bytes for each nonzero and head, kept and sent to where the transpose has "
                 "them, where nothing is dropped and 4 numbers of each vertex and head say the same",
                 0});
        }
    } else if (space.compares()) {
        rejected.push_back({"forward D, backward S", Rejection::Reason::not_applicable,
                            "not applicable: layers that weigh by cosines have no linear map to begin with", 0});
    } else if (space.needs_whole_neighbourhoods()) {
        rejected.push_back({"forward D, backward S", Rejection::Reason::not_applicable,
                            "not applicable: a maximum is no sum, so aggregation comes before the weights", 0});
    }
    if (space.graph->weighted()) {
        rejected.push_back({"factored values", Rejection::Reason::not_applicable,
                            "not applicable: with weights of edges, values are no products of two scales", 0});
    }
    const auto without_columns = std::count_if(space.grids.begin(), space.grids.end(),
                                               [](const Distribution& grid) { return !grid.splits_columns(); });
    if (space.options.ring.value_or(false) && without_columns > 0) {
        rejected.push_back({"grids that split no columns", Rejection::Reason::not_applicable,
                            "not applicable: in a ring, ranks exchange columns", without_columns});
    }
    if (never_pruned(space)) {
        rejected.push_back({"needed rows only", Rejection::Reason::not_applicable,
                            "not applicable: rows of deep networks whose layers all reach the loss are not pruned", 0});
    }
}

}  // namespace

SearchResult search_full_space(const Space& space, const Machine& machine, NumberedGraphs& graphs) {
    const auto walk = [&](const std::vector<Distribution>& grids, const std::vector<bool>& factored) {
        return Walk(space, machine, graphs, rank_members(space, grids, machine, graphs, factored)).run();
    };
    const bool pinned = space.options.scheme || space.options.grid;
    std::vector<Distribution> grids = space.grids;
    std::int64_t left_out = 0;
    if (!pinned && static_cast<std::size_t>(space.ranks) * space.depth() > max_sharded_unasked) {
        left_out =
            static_cast<std::int64_t>(std::erase_if(grids, [](const Distribution& g) { return g.sends_nonzeros(); }));
    }
    // Factored values are slower: without need they are shown for the fastest only, as the memory that could be saved.
    // Values that nobody reads are not stored.
    std::optional<bool> factored = space.options.factored_values;
    if (!factored && !space.reads_values()) factored = true;
    SearchResult found = walk(grids, {factored.value_or(false)});
    const bool something_over = std::any_of(found.rejected.begin(), found.rejected.end(), [](const Rejection& r) {
        return r.reason == Rejection::Reason::over_memory;
    });
    if (something_over && (left_out > 0 || !factored)) {
        found = walk(space.grids, factored ? std::vector{*factored} : std::vector{false, true});
    } else {
        if (!factored) add_factored(space, machine, graphs, found);
        if (left_out > 0) {
            found.rejected.push_back({"2d, 3d", Rejection::Reason::dominated,
                                      "dominated: on the same grid rdm moves the same dense bytes and no nonzeros, and "
                                      "it fits (grids not searched)",
                                      left_out});
        }
    }
    if (found.costed.empty()) refuse_buffer(space, found.needed_buffer);
    add_inapplicable(space, found.rejected);
    const bool some_vary = std::any_of(found.costed.begin(), found.costed.end(), [](const EvaluatedCandidate& costed) {
        return costed.ranked.fits && !costed.ranked.configuration.constant_input;
    });
    if (!some_vary && !space.options.constant_input) {
        found.rejected.push_back({"dropout on features", Rejection::Reason::over_memory,
                                  "over memory: no configuration that allows it fits", 0});
    }
    std::stable_sort(found.costed.begin(), found.costed.end(), ranks_before);
    mark_front(found.costed, space.options.pareto);
    return found;
}

SearchResult search_paper_space(const Space& space, const Machine& machine, NumberedGraphs& graphs) {
    SearchResult found;
    found.costed = cost_paper_space(space, machine, graphs);
    ensure(!found.costed.empty(), "the search listed no configuration");
    std::stable_sort(found.costed.begin(), found.costed.end(), ranks_before);
    const auto over = std::count_if(found.costed.begin(), found.costed.end(),
                                    [](const EvaluatedCandidate& costed) { return !costed.ranked.fits; });
    if (over > 0)
        found.rejected.push_back(
            {"rdm", Rejection::Reason::over_memory, "over memory: a rank needs more than it is allowed", over});
    return found;
}

void mark_front(std::vector<EvaluatedCandidate>& costed, const std::vector<Objective>& objectives) {
    for (EvaluatedCandidate& entry : costed) {
        entry.ranked.pareto =
            entry.ranked.fits && std::none_of(costed.begin(), costed.end(), [&](const EvaluatedCandidate& other) {
                return other.ranked.fits && beats(other.ranked, entry.ranked, objectives);
            });
    }
}

std::vector<Candidate> choose_candidates(const std::vector<EvaluatedCandidate>& costed, int most, bool constant_input,
                                         bool exact) {
    std::vector<const EvaluatedCandidate*> chosen;
    const auto known = [&](const EvaluatedCandidate& entry) {
        return std::any_of(chosen.begin(), chosen.end(), [&](const EvaluatedCandidate* other) {
            const Configuration& a = other->ranked.configuration;
            const Configuration& b = entry.ranked.configuration;
            const auto tried = &FeltBy::candidates;  // of those that differ in other switches, the faster comes first
            return a.constant_input == b.constant_input && a.on() == b.on() && a.id == b.id &&
                   as_felt(a, tried) == as_felt(b, tried);
        });
    };
    const auto add = [&](std::size_t up_to, auto allowed) {
        for (const EvaluatedCandidate& entry : costed) {
            if (!entry.ranked.fits || chosen.size() >= up_to) break;
            if (allowed(entry.ranked.configuration) && !known(entry)) chosen.push_back(&entry);
        }
    };
    const auto places = static_cast<std::size_t>(most);
    chosen.push_back(&costed.front());
    // Rows pruned by an estimate are not those of any graph: what they belong to answers questions and does not run.
    const auto runs = [&](const Configuration& c) { return exact || !c.loss_rows; };
    if (!runs(costed.front().ranked.configuration)) {
        add(2, runs);
        if (!constant_input) add(3, [&](const Configuration& c) { return runs(c) && !c.constant_input; });
    }
    if (!constant_input) add(1 + places * 3 / 8, [](const Configuration& c) { return !c.constant_input; });
    if (!constant_input && most == 1 && costed.front().ranked.configuration.constant_input) {
        const auto varying = std::find_if(costed.begin(), costed.end(), [](const EvaluatedCandidate& entry) {
            return entry.ranked.fits && !entry.ranked.configuration.constant_input;
        });
        if (varying != costed.end()) chosen = {&*varying};
    }
    add(places, [](const Configuration&) { return true; });
    std::stable_sort(chosen.begin(), chosen.end(),
                     [](const EvaluatedCandidate* a, const EvaluatedCandidate* b) { return ranks_before(*a, *b); });
    std::vector<Candidate> candidates;
    candidates.reserve(chosen.size());
    for (const EvaluatedCandidate* entry : chosen) candidates.push_back(entry->candidate);
    return candidates;
}

}  // namespace gnnplan::search
