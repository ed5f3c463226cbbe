#include "planner/search/infeasible.hpp"

#include "planner/lower/lower.hpp"

#include <gnnplan/base/memory_text.hpp>

#include <algorithm>

namespace gnnplan::search {
namespace {

constexpr int largest_shown = 3;

// As 1D every resident shrinks with the ranks, and with a pinned number of copies all but the copies do; rank 0 holds
// the largest block of every dense tensor.
std::optional<int> smallest_ranks(const Space& space, const Configuration& thriftiest, Views& views) {
    Configuration configuration = thriftiest;
    const int copies = space.options.replication.value_or(1);
    configuration.sharing = Sharing::replicated;
    configuration.parts = 0;
    for (int ranks = (space.ranks / copies + 1) * copies; ranks <= max_ranks; ranks += copies) {
        configuration.grid = {ranks / copies, copies, 1};
        configuration.exchange = configuration.grid.x > 1 ? Exchange::panels : Exchange::none;
        configuration.overlap = configuration.overlap && configuration.grid.x > 1;
        const Schedule schedule = lower::lower(space.model, configuration, space.shape);
        const GraphStats& graph = views.numbered(schedule.numbering);
        const MemoryPlan first = plan_memory(schedule, graph, 0);
        if ((space.accelerators ? first.device_peak_bytes : first.peak_bytes) > space.memory_per_rank) continue;
        if (peak_bytes_per_rank(schedule, graph, space.accelerators) <= space.memory_per_rank) return ranks;
    }
    return std::nullopt;
}

}  // namespace

Infeasible explain_infeasible(const Space& space, const Candidate& thriftiest, Views& views) {
    const GraphStats& graph = views.numbered(thriftiest.schedule.numbering);
    Infeasible infeasible;
    infeasible.available_bytes = space.memory_per_rank;
    infeasible.needed_bytes = thriftiest.predicted.peak_bytes_per_rank;
    if (!space.accelerators) infeasible.load_bytes = load_bytes(*space.graph);
    infeasible.largest = largest_tensors(thriftiest.schedule, graph, 0, largest_shown);
    // A pinned grid is one of these ranks only; loading takes as much on any number of them.
    infeasible.grid_pinned = space.options.grid.has_value();
    if (infeasible.load_bytes <= space.memory_per_rank) {
        infeasible.smallest_ranks = smallest_ranks(space, thriftiest.configuration, views);
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
    const std::string on = infeasible.grid_pinned ? " on another grid" : "";
    if (infeasible.smallest_ranks) {
        return message + " it would fit" + on + " on " + std::to_string(*infeasible.smallest_ranks) + " ranks";
    }
    return message + " no number of ranks up to " + std::to_string(max_ranks) + " was found that fits";
}

}  // namespace gnnplan::search
