#include "planner/search/infeasible.hpp"

#include "planner/lower/lower.hpp"

#include <algorithm>

namespace gnnplan::search {
namespace {

constexpr int largest_shown = 3;

// With R_A = 1 every resident shrinks with the ranks; rank 0 holds the largest block of every dense tensor.
std::optional<int> smallest_ranks(const Space& space, const Configuration& thriftiest) {
    for (int ranks = space.ranks + 1; ranks <= max_ranks; ++ranks) {
        Configuration configuration = thriftiest;
        configuration.grid = {ranks, 1, 1};
        configuration.replication = 1;
        configuration.exchange = Exchange::panels;
        const Schedule schedule = lower::lower(space.layers, configuration, {space.graph->vertices(), space.one_copy});
        if (plan_memory(schedule, *space.graph, 0).peak_bytes > space.memory_per_rank) continue;
        if (peak_bytes_per_rank(schedule, *space.graph) <= space.memory_per_rank) return ranks;
    }
    return std::nullopt;
}

std::string megabytes(std::int64_t bytes) {
    const std::int64_t tenths = (bytes + 99'999) / 100'000;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB";
}

}  // namespace

Infeasible explain_infeasible(const Space& space, const std::vector<Costed>& costed) {
    const auto thriftiest = std::min_element(costed.begin(), costed.end(), [](const Costed& a, const Costed& b) {
        return a.ranked.predicted.peak_bytes_per_rank < b.ranked.predicted.peak_bytes_per_rank;
    });
    Infeasible infeasible;
    infeasible.available_bytes = space.memory_per_rank;
    infeasible.needed_bytes = thriftiest->ranked.predicted.peak_bytes_per_rank;
    infeasible.load_bytes = load_bytes(*space.graph);
    infeasible.largest = largest_tensors(thriftiest->candidate.schedule, *space.graph, 0, largest_shown);
    if (!space.options.replication) infeasible.smallest_ranks = smallest_ranks(space, thriftiest->ranked.configuration);
    return infeasible;
}

std::string describe(const Infeasible& infeasible, int ranks) {
    std::string message = "no configuration fits: the thriftiest on " + std::to_string(ranks) + " ranks needs " +
                          megabytes(infeasible.needed_bytes) + " per rank, " + megabytes(infeasible.available_bytes) +
                          " are allowed; largest tensors:";
    for (const TensorSize& tensor : infeasible.largest)
        message += " " + tensor.name + " " + megabytes(tensor.bytes) + ",";
    message.back() = ';';
    if (infeasible.load_bytes > infeasible.available_bytes / 2) {
        message += " while loading, every rank holds the whole graph's structure, " + megabytes(infeasible.load_bytes) +
                   ", however many ranks there are;";
    }
    if (infeasible.smallest_ranks) {
        return message + " it would fit on " + std::to_string(*infeasible.smallest_ranks) + " ranks";
    }
    return message + " no number of ranks up to " + std::to_string(max_ranks) + " was found that fits";
}

}  // namespace gnnplan::search
