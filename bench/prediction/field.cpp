#include "bench/prediction/field.hpp"

#include "bench/prediction/sample.hpp"
#include "planner/cost/likely.hpp"
#include "planner/cost/predict.hpp"
#include "planner/search/full_space.hpp"
#include "planner/search/paper_space.hpp"

#include <gnnplan/ir/memory.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace gnnplan::bench {
namespace {

struct Entry {
    Configuration configuration;
    double seconds = 0;
};

void list_space(const search::Space& space, const Machine& machine, search::NumberedGraphs& graphs,
                std::vector<Entry>& entries) {
    if (space.options.space == SearchSpace::paper) {
        for (search::EvaluatedCandidate& costed : search::cost_paper_space(space, machine, graphs)) {
            entries.push_back({costed.ranked.configuration, costed.ranked.predicted.epoch_seconds});
        }
        return;
    }
    const search::Members all = search::rank_members(space, space.grids, machine, graphs);
    for (const search::Member& member : all.members) {
        entries.push_back(
            {search::configuration_of(all.frames[member.frame], all.choices[member.choices]), member.seconds});
    }
}

std::string kind_of(const Configuration& c) {
    std::string kind = scheme_of(c) + c.grid.text();
    kind += static_cast<char>('0' + static_cast<int>(c.exchange));
    for (const bool flag : {c.overlap, c.permutation, c.loss_rows, c.constant_input, c.column_loss}) {
        kind += flag ? '+' : '-';
    }
    return kind;
}

}  // namespace

std::vector<Candidate> choose_field(const Problem& problem, const Machine& machine, const FieldOptions& options,
                                    search::NumberedGraphs& graphs, std::size_t& listed) {
    SelectOptions select;
    select.space = options.space;
    std::vector<std::optional<std::string>> schemes(options.schemes.begin(), options.schemes.end());
    if (schemes.empty()) schemes.emplace_back();
    std::optional<search::Space> space;
    std::vector<Entry> entries;
    for (const auto& scheme : schemes) {
        select.scheme = scheme;
        space = search::make_space(problem, machine, select);
        list_space(*space, machine, graphs, entries);
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.seconds < b.seconds; });
    listed = entries.size();

    std::vector<Predicted> by_time;
    by_time.reserve(entries.size());
    for (const Entry& entry : entries) by_time.push_back({entry.seconds, kind_of(entry.configuration)});
    std::map<std::size_t, Candidate> fitting;
    const auto fits = [&](std::size_t position) {
        const Configuration& configuration = entries[position].configuration;
        Schedule schedule = lower::lower(space->model, configuration, space->shape);
        const GraphStats& graph = graphs.numbered(schedule.numbering);
        const std::int64_t peak = peak_bytes_per_rank(schedule, graph);
        if (peak > space->memory_per_rank) return false;
        Prediction predicted = cost::predict(schedule, graph, machine, peak);
        cost::split_into_parts(schedule, machine, predicted);
        fitting[position] = {configuration, std::move(schedule), predicted};
        return true;
    };
    std::vector<Candidate> field;
    for (const std::size_t position : choose_sample(by_time, static_cast<std::size_t>(options.most), fits)) {
        field.push_back(std::move(fitting.at(position)));
    }
    return field;
}

}  // namespace gnnplan::bench
