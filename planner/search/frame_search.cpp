#include "planner/search/frame_search.hpp"

#include "planner/cost/batches.hpp"
#include "planner/cost/loading.hpp"
#include "planner/cost/predict.hpp"
#include "planner/lower/rules.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace gnnplan::search {
namespace {

// The seconds by which an epoch is ranked, under each of the switches.
std::vector<double> epoch_seconds(const Space& space, const Schedule& schedule, StepCosts& costs,
                                  const std::vector<Switches>& switches) {
    std::vector<double> seconds(switches.size(), 0);
    for (const Step& step : schedule.steps) {
        const double weight = space.weight_of(step);
        if (weight == 0) continue;
        const bool product = product_of(step.operation) != nullptr;
        const double same = product ? 0 : costs.seconds(schedule, step.operation);
        for (std::size_t i = 0; i < switches.size(); ++i) {
            seconds[i] += weight * (product ? costs.seconds(schedule, step.operation, switches[i]) : same);
        }
    }
    return seconds;
}

ConfigurationFrame frame_with(ConfigurationFrame frame, const Switches& switches) {
    frame.switches = switches;
    return frame;
}

}  // namespace

void FrameSearch::add(const ConfigurationFrame& frame) {
    const std::vector<Switches> switches = enumerate::product_switches(asked(space_), frame.on, frame.switches);
    const auto first_frame = static_cast<std::uint32_t>(all_.frames.size());
    for (const Switches& s : switches) {
        all_.frames.push_back(frame);
        all_.frames.back().switches = s;
    }
    if (is_deep(space_.model)) return add_deep(frame, switches, first_frame);
    const auto first_choices = static_cast<std::uint32_t>(all_.choices.size());
    std::vector<Choices> sequences = all_choices(space_, frame.on, true);
    if (frame.switches.ring) std::erase_if(sequences, [&](const Choices& choices) { return !rings(frame, choices); });
    if (sequences.empty()) return;
    all_.choices.insert(all_.choices.end(), sequences.begin(), sequences.end());
    const std::vector<std::vector<double>> seconds =
        bounded() ? seconds_of_bounded(frame, switches, sequences) : seconds_of(frame, switches, sequences);
    const std::vector<double> setup =
        bounded() ? std::vector<double>(switches.size(), 0) : setup_seconds(frame, switches, sequences.front());
    const double beside = seconds_beside(frame, switches.front(), sequences.front());
    for (std::size_t c = 0; c < sequences.size(); ++c) {
        for (std::size_t s = 0; s < switches.size(); ++s) {
            all_.members.push_back({setup[s] + seconds[c][s] + beside, first_frame + static_cast<std::uint32_t>(s),
                                    first_choices + static_cast<std::uint32_t>(c)});
        }
    }
}

double FrameSearch::seconds_of_member(const ConfigurationFrame& frame, const Choices& choices) {
    const std::vector<Switches> switches{frame.switches};
    if (bounded()) return seconds_of_bounded(frame, switches, {choices}).front().front();
    return setup_seconds(frame, switches, choices).front() +
           seconds_of_each(frame, switches, {choices}).front().front() + seconds_beside(frame, frame.switches, choices);
}

void FrameSearch::add_deep(const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                           std::uint32_t first_frame) {
    // Windows of layers do not know which of them are made again: the fastest without that is costed in full. They do
    // know what follows their norms.
    const bool remade = frame.switches.remade > 0;
    std::vector<Switches> kept = switches;
    for (Switches& each : kept) each.remade = remade ? 0 : each.remade;
    auto fastest = fastest_of_deep(space_, frame_with(frame, kept.front()), kept, machine_, graphs_);
    const std::vector<double> setup = setup_seconds(frame, switches, fastest.front().front().choices);
    const double beside = seconds_beside(frame, switches.front(), fastest.front().front().choices);
    for (std::size_t s = 0; s < switches.size(); ++s) {
        if (frame.switches.ring) keep_ringing(frame, switches[s], fastest[s]);
        if (remade) fastest[s].resize(1);
        for (const DeepMember& member : fastest[s]) {
            const double seconds = remade ? seconds_of_member(frame_with(frame, switches[s]), member.choices)
                                          : setup[s] + member.seconds + beside;
            all_.members.push_back({seconds, first_frame + static_cast<std::uint32_t>(s),
                                    static_cast<std::uint32_t>(all_.choices.size())});
            all_.choices.push_back(member.choices);
        }
    }
}

bool FrameSearch::rings(const ConfigurationFrame& frame, const Choices& choices) const {
    const Configuration configuration = configuration_of(frame, choices);
    return lower::Rules(space_.model, configuration).any_rings();
}

void FrameSearch::keep_ringing(const ConfigurationFrame& frame, const Switches& switches,
                               std::vector<DeepMember>& fastest) {
    std::erase_if(fastest, [&](const DeepMember& member) { return !rings(frame, member.choices); });
    if (!fastest.empty() || !space_.options.ring) return;
    for (const Choices& choices : regular_choices(space_, frame.on)) {
        if (!rings(frame, choices)) continue;
        const Schedule schedule = lowered(frame, switches, choices);
        StepCosts costs = costs_of(schedule);
        fastest.push_back({epoch_seconds(space_, schedule, costs, {switches}).front(), choices});
    }
}

FrameSearch::Kind FrameSearch::kind_of(const ConfigurationFrame& frame) {
    const Grid& grid = frame.on.grid;
    Switches felt = as_felt(frame.switches, &FeltBy::lowering);
    felt.parts = std::min(felt.parts, 2);  // there are as many as the grid has rows, which does not matter here
    return {frame.on.sharing, grid.x > 1, grid.y > 1, grid.z > 1, felt};
}

Schedule FrameSearch::lowered(const ConfigurationFrame& frame, const Switches& switches, const Choices& choices) const {
    return lower::lower_epoch(space_.model, configuration_of(frame_with(frame, switches), choices), space_.shape);
}

// The frames of a grid follow each other.
StepCosts FrameSearch::costs_of(const Schedule& schedule) {
    const GraphStats& graph = graphs_.numbered(schedule.numbering);
    if (schedule.grid != counted_on_) counts_.clear();
    counted_on_ = schedule.grid;
    std::shared_ptr<cost::RankCounts>& counts = counts_[&graph];
    if (counts == nullptr) counts = std::make_shared<cost::RankCounts>();
    return {schedule, graph, machine_, counts};
}

FrameSearch::Seconds FrameSearch::seconds_of(const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                                             const std::vector<Choices>& sequences) {
    // Source panels depend on the extents of the grid, and so does whether heads are cut.
    if (space_.shape.cache_bytes > 0 || space_.weighs_edges()) return seconds_of_each(frame, switches, sequences);
    const auto [entry, is_new] = lowered_.try_emplace(kind_of(frame));
    LoweredSequences& known = entry->second;
    for (std::size_t c = 0; is_new && c < sequences.size(); ++c) {
        Schedule schedule = lowered(frame, switches.front(), sequences[c]);
        if (c == 0) known.sample = schedule;
        known.of_sequence.push_back(
            known.steps.add(std::move(schedule), [&](const Step& step) { return space_.weight_of(step); }));
    }
    known.sample.grid = configuration_of(frame, sequences.front()).grid_of_ranks();
    known.sample.numbering.parts = space_.batches ? frame.on.grid.x : frame.switches.parts;
    known.steps.put_on(known.sample.grid, known.sample.numbering);
    StepCosts costs = costs_of(known.sample);
    std::vector<std::vector<double>> of_step;
    for (std::size_t id = 0; id < known.steps.size(); ++id)
        of_step.push_back(known.steps.seconds(id, {}, costs, switches));
    std::vector<std::vector<double>> seconds(sequences.size(), std::vector<double>(switches.size(), 0));
    for (std::size_t c = 0; c < sequences.size(); ++c) {
        for (const auto& [id, weight] : known.of_sequence[c]) {
            for (std::size_t i = 0; i < switches.size(); ++i) seconds[c][i] += weight * of_step[id][i];
        }
    }
    return seconds;
}

FrameSearch::Seconds FrameSearch::seconds_of_each(const ConfigurationFrame& frame,
                                                  const std::vector<Switches>& switches,
                                                  const std::vector<Choices>& sequences) {
    std::vector<std::vector<double>> seconds;
    std::optional<StepCosts> costs;
    for (const Choices& choices : sequences) {
        const Schedule schedule = lowered(frame, switches.front(), choices);
        if (!costs) costs.emplace(costs_of(schedule));
        seconds.push_back(epoch_seconds(space_, schedule, *costs, switches));
    }
    return seconds;
}

FrameSearch::Seconds FrameSearch::seconds_of_bounded(const ConfigurationFrame& frame,
                                                     const std::vector<Switches>& switches,
                                                     const std::vector<Choices>& sequences) {
    std::vector<std::vector<double>> seconds;
    std::optional<StepCosts> costs;
    for (const Choices& choices : sequences) {
        seconds.emplace_back();
        for (const Switches& each : switches)
            seconds.back().push_back(bounded_seconds(configuration_of(frame_with(frame, each), choices), costs));
    }
    return seconds;
}

double FrameSearch::bounded_seconds(const Configuration& configuration, std::optional<StepCosts>& costs) {
    const Lowered made = search::lowered(space_, configuration, graphs_);
    if (!made.fits()) {
        all_.needed_buffer = std::min(all_.needed_buffer, made.needed_buffer);
        return std::numeric_limits<double>::infinity();
    }
    if (!costs) costs.emplace(costs_of(made.schedule));
    double seconds = loading_seconds(configuration, made.schedule);
    for (const Step& step : made.schedule.steps) {
        const bool once = step.phase == Phase::setup && !space_.model.trains();
        const double weight = once ? 1 : space_.weight_of(step);
        if (weight > 0) seconds += weight * costs->seconds(made.schedule, step.operation);
    }
    return seconds;
}

double FrameSearch::loading_seconds(const Configuration& configuration, const Schedule& schedule) {
    if (space_.model.trains()) return 0;
    const Grid& grid = configuration.grid;
    const LoadingKind kind{configuration.sharing, grid.x, grid.y, grid.z, as_felt(configuration, &FeltBy::loading)};
    const auto [entry, is_new] = loading_.try_emplace(kind, 0);
    if (is_new) {
        const GraphStats& graph = graphs_.numbered(schedule.numbering);
        entry->second = cost::loading_seconds(schedule, graph, space_.record, space_.listing, machine_).total();
    }
    return entry->second;
}

std::vector<double> FrameSearch::setup_seconds(const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                                               const Choices& choices) {
    std::vector<double> seconds(switches.size(), 0);
    std::optional<StepCosts> costs;
    for (std::size_t i = 0; !space_.model.trains() && i < switches.size(); ++i) {
        const Configuration configuration = configuration_of(frame_with(frame, switches[i]), choices);
        const Schedule schedule = search::lowered(space_, configuration, graphs_).schedule;
        seconds[i] = loading_seconds(configuration, schedule);
        for (const Step& step : schedule.steps) {
            if (step.phase != Phase::setup) continue;
            if (!costs) costs.emplace(costs_of(schedule));
            seconds[i] += costs->seconds(schedule, step.operation);
        }
    }
    return seconds;
}

double FrameSearch::seconds_beside(const ConfigurationFrame& frame, const Switches& switches,
                                   const Choices& choices) const {
    double seconds = 0;
    if (space_.batches) {
        const GraphStats& graph = graphs_.numbered(enumerate::numbering_of_batches(*space_.batches, frame.on.grid.x));
        seconds = cost::batch_seconds(*space_.batches, frame.on.grid, space_.model.at(0).width, graph, machine_);
    }
    if (!space_.drops_attention) return seconds;
    const Schedule schedule = lowered(frame, switches, choices);
    const GraphStats& graph = graphs_.numbered(schedule.numbering);
    const cost::CostedRanks on = cost::ranks_to_cost(schedule, graph, machine_);
    for (const Step& step : schedule.steps)
        seconds += cost::attention_dropout_seconds(schedule, step, graph, machine_, on);
    return seconds;
}

}  // namespace gnnplan::search
