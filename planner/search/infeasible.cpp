#include "planner/search/infeasible.hpp"

#include "planner/enumerate/switches.hpp"

#include <gnnplan/base/memory_text.hpp>
#include <gnnplan/ir/applicable.hpp>

#include <algorithm>

namespace gnnplan::search {
namespace {

constexpr int largest_shown = 3;

// A configuration as 1D, or with a pinned number of copies, on any number of ranks; on batches, as one group of them.
class OnMoreRanks {
public:
    OnMoreRanks(const Space& space, const Configuration& thriftiest, NumberedGraphs& graphs)
        : space_(space), graphs_(graphs), configuration_(thriftiest), copies_(space.options.replication.value_or(1)) {
        configuration_.sharing = Sharing::replicated;
        configuration_.switches() = configuration_.without_parts();
        configuration_.ring = configuration_.ring && !why_no_ring(space.model, {Sharing::replicated, {1, copies_, 1}});
        overlap_ = thriftiest.overlap;
    }

    int copies() const { return copies_; }
    // Whether it fits on rank 0, which holds the largest block of every dense tensor.
    bool first_fits(int ranks) {
        const auto [schedule, needed_buffer] = on(ranks);
        if (needed_buffer > 0) return false;
        const MemoryPlan first = plan_memory(schedule, graphs_.numbered(schedule.numbering), 0);
        return first.peak(space_.memory) <= space_.memory_per_rank;
    }
    bool fits(int ranks) {
        if (!first_fits(ranks)) return false;
        const auto [schedule, needed_buffer] = on(ranks);
        return peak_bytes_per_rank(schedule, graphs_.numbered(schedule.numbering), space_.memory) <=
               space_.memory_per_rank;
    }

private:
    Lowered on(int ranks) {
        if (space_.batches) {
            configuration_.grid = {1, ranks, 1};
            const Numbering one_group = enumerate::numbering_of_batches(*space_.batches, 1);
            configuration_.grid.groups = graphs_.numbered(one_group).groups();
            return lowered(space_, configuration_, graphs_);
        }
        configuration_.grid = {ranks / copies_, copies_, 1};
        configuration_.exchange = configuration_.grid.x > 1 ? Exchange::panels : Exchange::none;
        configuration_.overlap = overlap_ && configuration_.grid.x > 1;
        return lowered(space_, configuration_, graphs_);
    }

    const Space& space_;
    NumberedGraphs& graphs_;
    Configuration configuration_;
    int copies_;
    bool overlap_ = false;
};

// As 1D every resident shrinks with the ranks, and with a pinned number of copies all but the copies do. So
// far as trying each number takes no time that is worth saving they are tried in turn; larger ones are looked for by
// halves.
std::optional<int> smallest_ranks(const Space& space, const Configuration& thriftiest, NumberedGraphs& graphs) {
    constexpr int tried_in_turn = 1024;
    OnMoreRanks more(space, thriftiest, graphs);
    int ranks = (space.ranks / more.copies() + 1) * more.copies();
    for (; ranks <= std::min(tried_in_turn, max_ranks); ranks += more.copies()) {
        if (more.fits(ranks)) return ranks;
    }
    // Above, rank 0 needs less the more ranks there are, but for rounding.
    int below = ranks / more.copies();
    int above = max_ranks / more.copies();
    if (below > above || !more.first_fits(above * more.copies())) return std::nullopt;
    while (below < above) {
        const int middle = (below + above) / 2;
        if (more.first_fits(middle * more.copies())) {
            above = middle;
        } else {
            below = middle + 1;
        }
    }
    for (ranks = below * more.copies(); ranks <= max_ranks; ranks += more.copies()) {
        if (more.fits(ranks)) return ranks;
    }
    return std::nullopt;
}

}  // namespace

Infeasible explain_infeasible(const Space& space, const Candidate& thriftiest, NumberedGraphs& graphs) {
    const GraphStats& graph = graphs.numbered(thriftiest.schedule.numbering);
    Infeasible infeasible;
    infeasible.available_bytes = space.memory_per_rank;
    infeasible.needed_bytes = thriftiest.predicted.peak_bytes_per_rank;
    const bool whole = thriftiest.schedule.loading == Loading::whole;
    if (!space.memory.accelerator && whole) infeasible.load_bytes = load_bytes(graph);
    infeasible.largest = largest_tensors(thriftiest.schedule, graph, 0, largest_shown);
    // A pinned grid is one of these ranks only; loading takes as much on any number of them.
    infeasible.grid_pinned = space.options.grid.has_value();
    const bool on_clones = thriftiest.configuration.grid.grouped() && !space.batches;
    if (infeasible.load_bytes <= space.memory_per_rank && !on_clones) {
        infeasible.smallest_ranks = smallest_ranks(space, thriftiest.configuration, graphs);
    }
    return infeasible;
}

std::string needed_of_allowed(const Infeasible& infeasible) {
    const std::string needed = enough_memory_text(infeasible.needed_bytes);
    const std::string allowed = limit_text(infeasible.available_bytes);
    if (needed != allowed) return needed + " per rank, " + allowed + " are allowed";
    return std::to_string(infeasible.needed_bytes) + " bytes per rank, " + std::to_string(infeasible.available_bytes) +
           " are allowed";
}

std::string describe(const Infeasible& infeasible, int ranks) {
    if (infeasible.sharded_bytes) {
        return "nothing fits where every rank loads the whole graph (" + memory_text(infeasible.load_bytes) +
               " of structure): " + needed_of_allowed(infeasible) + "; with `load sharded` ranks load shares, and " +
               enough_memory_text(*infeasible.sharded_bytes) + " per rank are enough";
    }
    std::string message = "no configuration fits: the thriftiest on " + std::to_string(ranks) +
                          (ranks == 1 ? " rank" : " ranks") + " needs " + needed_of_allowed(infeasible) +
                          "; its largest tensors:";
    for (const TensorSize& tensor : infeasible.largest)
        message += " " + tensor.name + " " + memory_text(tensor.bytes) + ",";
    message.back() = ';';
    if (infeasible.load_bytes > infeasible.available_bytes / 2) {
        message += " while loading, every rank holds the whole graph's structure, " +
                   memory_text(infeasible.load_bytes) + ", however many ranks there are;";
    }
    if (infeasible.recomputed_bytes)
        message += " where layers are made again for their backward pass, without `recompute off`, " +
                   enough_memory_text(*infeasible.recomputed_bytes) + " per rank are enough;";
    const std::string on = infeasible.grid_pinned ? " on another grid" : "";
    if (infeasible.smallest_ranks) {
        return message + " it would fit" + on + " on " + std::to_string(*infeasible.smallest_ranks) + " ranks";
    }
    return message + " no number of ranks up to " + std::to_string(max_ranks) + " was found that fits";
}

}  // namespace gnnplan::search
