#include "planner/search/full_space.hpp"

#include "planner/cost/loading.hpp"
#include "planner/cost/predict.hpp"
#include "planner/lower/rules.hpp"
#include "planner/search/deep_network.hpp"
#include "planner/search/frames.hpp"
#include "planner/search/widthless_steps.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace gnnplan::search {
namespace {

// The epoch's seconds under each of the switches.
std::vector<double> epoch_seconds(const Schedule& schedule, StepCosts& costs, const std::vector<Switches>& switches) {
    std::vector<double> seconds(switches.size(), 0);
    for (const Step& step : schedule.steps) {
        if (step.phase != Phase::epoch) continue;
        const bool product = product_of(step.operation) != nullptr;
        const double same = product ? 0 : costs.seconds(schedule, step.operation);
        for (std::size_t i = 0; i < switches.size(); ++i) {
            seconds[i] += product ? costs.seconds(schedule, step.operation, switches[i]) : same;
        }
    }
    return seconds;
}

// Adds the members of one frame, under each of the switches.
class FrameSearch {
public:
    FrameSearch(const Space& space, const Machine& machine, NumberedGraphs& graphs, Members& all)
        : space_(space), machine_(machine), graphs_(graphs), all_(all) {}

    void add(const ConfigurationFrame& frame) {
        const std::vector<Switches> switches = exchanges_under(space_, frame);
        const auto first_frame = static_cast<std::uint32_t>(all_.frames.size());
        for (const Switches& s : switches) {
            all_.frames.push_back(frame);
            all_.frames.back().switches = s;
        }
        if (space_.model.depth > max_enumerated_layers) return add_deep(frame, switches, first_frame);
        const auto first_choices = static_cast<std::uint32_t>(all_.choices.size());
        std::vector<Choices> sequences = all_choices(space_, frame.on, true);
        if (frame.switches.ring)
            std::erase_if(sequences, [&](const Choices& choices) { return !rings(frame, choices); });
        if (sequences.empty()) return;
        all_.choices.insert(all_.choices.end(), sequences.begin(), sequences.end());
        const std::vector<std::vector<double>> seconds =
            bounded() ? seconds_of_bounded(frame, switches, sequences) : seconds_of(frame, switches, sequences);
        const std::vector<double> setup =
            bounded() ? std::vector<double>(switches.size(), 0) : setup_seconds(frame, switches, sequences.front());
        const double dropping = dropout_seconds(frame, switches.front(), sequences.front());
        for (std::size_t c = 0; c < sequences.size(); ++c) {
            for (std::size_t s = 0; s < switches.size(); ++s) {
                all_.members.push_back({setup[s] + seconds[c][s] + dropping,
                                        first_frame + static_cast<std::uint32_t>(s),
                                        first_choices + static_cast<std::uint32_t>(c)});
            }
        }
    }

private:
    void add_deep(const ConfigurationFrame& frame, const std::vector<Switches>& switches, std::uint32_t first_frame) {
        auto fastest = fastest_of_deep(space_, frame_with(frame, switches.front()), switches, machine_, graphs_);
        const std::vector<double> setup = setup_seconds(frame, switches, fastest.front().front().choices);
        const double dropping = dropout_seconds(frame, switches.front(), fastest.front().front().choices);
        for (std::size_t s = 0; s < switches.size(); ++s) {
            if (frame.switches.ring) keep_ringing(frame, switches[s], fastest[s]);
            for (const DeepMember& member : fastest[s]) {
                all_.members.push_back({setup[s] + member.seconds + dropping,
                                        first_frame + static_cast<std::uint32_t>(s),
                                        static_cast<std::uint32_t>(all_.choices.size())});
                all_.choices.push_back(member.choices);
            }
        }
    }

    bool rings(const ConfigurationFrame& frame, const Choices& choices) const {
        const Configuration configuration = configuration_of(frame, choices);
        return lower::Rules(space_.model, configuration).any_rings();
    }

    // Members without a ring belong to the frame without rings. If none of the fastest members has a ring, although one
    // is asked for, regular members are taken.
    void keep_ringing(const ConfigurationFrame& frame, const Switches& switches, std::vector<DeepMember>& fastest) {
        std::erase_if(fastest, [&](const DeepMember& member) { return !rings(frame, member.choices); });
        if (!fastest.empty() || !space_.options.ring) return;
        for (const Choices& choices : regular_choices(space_, frame.on)) {
            if (!rings(frame, choices)) continue;
            const Schedule schedule = lowered(frame, switches, choices);
            StepCosts costs(schedule, graphs_.numbered(schedule.numbering), machine_);
            fastest.push_back({epoch_seconds(schedule, costs, {switches}).front(), choices});
        }
    }

    // Sequences of choices, lowered for one of the grids on which the same axes split something.
    struct LoweredSequences {
        Schedule sample;
        WidthlessSteps steps;
        std::vector<std::vector<WidthlessSteps::StepId>> of_sequence;
    };
    using Kind = std::tuple<Sharing, bool, bool, bool, Switches>;

    static Kind kind_of(const ConfigurationFrame& frame) {
        const Grid& grid = frame.on.grid;
        Switches felt = as_felt(frame.switches, &FeltBy::lowering);
        felt.parts = std::min(felt.parts, 2);  // there are as many as the grid has rows, which does not matter here
        return {frame.on.sharing, grid.x > 1, grid.y > 1, grid.z > 1, felt};
    }

    Schedule lowered(const ConfigurationFrame& frame, const Switches& switches, const Choices& choices) const {
        return lower::lower(space_.model, configuration_of(frame_with(frame, switches), choices), space_.shape);
    }

    bool bounded() const { return space_.options.buffer_bytes > 0; }

    // By sequence and switches.
    std::vector<std::vector<double>> seconds_of(const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                                                const std::vector<Choices>& sequences) {
        // Source panels depend on the extents of the grid, and so does whether heads are cut.
        if (space_.shape.cache_bytes > 0 || space_.weighs_edges()) return seconds_of_each(frame, switches, sequences);
        const auto [entry, is_new] = lowered_.try_emplace(kind_of(frame));
        LoweredSequences& known = entry->second;
        for (std::size_t c = 0; is_new && c < sequences.size(); ++c) {
            Schedule schedule = lowered(frame, switches.front(), sequences[c]);
            if (c == 0) known.sample = schedule;
            known.of_sequence.push_back(known.steps.add(std::move(schedule)));
        }
        known.sample.grid = frame.on.grid;
        known.sample.numbering.parts = frame.switches.parts;
        known.steps.put_on(known.sample.grid, known.sample.numbering);
        StepCosts costs(known.sample, graphs_.numbered(known.sample.numbering), machine_);
        std::vector<std::vector<double>> of_step;
        for (std::size_t id = 0; id < known.steps.size(); ++id)
            of_step.push_back(known.steps.seconds(id, {}, costs, switches));
        std::vector<std::vector<double>> seconds(sequences.size(), std::vector<double>(switches.size(), 0));
        for (std::size_t c = 0; c < sequences.size(); ++c) {
            for (const WidthlessSteps::StepId id : known.of_sequence[c]) {
                for (std::size_t i = 0; i < switches.size(); ++i) seconds[c][i] += of_step[id][i];
            }
        }
        return seconds;
    }

    std::vector<std::vector<double>> seconds_of_each(const ConfigurationFrame& frame,
                                                     const std::vector<Switches>& switches,
                                                     const std::vector<Choices>& sequences) {
        std::vector<std::vector<double>> seconds;
        std::optional<StepCosts> costs;
        for (const Choices& choices : sequences) {
            const Schedule schedule = lowered(frame, switches.front(), choices);
            if (!costs) costs.emplace(schedule, graphs_.numbered(schedule.numbering), machine_);
            seconds.push_back(epoch_seconds(schedule, *costs, switches));
        }
        return seconds;
    }

    // As above with bounded buffers, and with the steps that come before a pass: how pieces are cut depends on the
    // exchange, on the overlap, and on the widths of all products.
    std::vector<std::vector<double>> seconds_of_bounded(const ConfigurationFrame& frame,
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
    double bounded_seconds(const Configuration& configuration, std::optional<StepCosts>& costs) {
        const Lowered made = search::lowered(space_, configuration, graphs_);
        if (!made.fits()) {
            all_.needed_buffer = std::min(all_.needed_buffer, made.needed_buffer);
            return std::numeric_limits<double>::infinity();
        }
        if (!costs) costs.emplace(made.schedule, graphs_.numbered(made.schedule.numbering), machine_);
        double seconds = loading_seconds(configuration, made.schedule);
        for (const Step& step : made.schedule.steps) {
            const bool counts = step.phase == Phase::epoch || (step.phase == Phase::setup && !space_.model.trains());
            if (counts) seconds += costs->seconds(made.schedule, step.operation);
        }
        return seconds;
    }

    // Loading the graph counts where there is one pass. It is the same however products are ordered and exchange.
    double loading_seconds(const Configuration& configuration, const Schedule& schedule) {
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

    // The seconds of the steps before a pass, under each of the switches; they count where there is one pass only. They
    // are the same for all sequences of choices, except for how pieces are cut where buffers are bounded.
    std::vector<double> setup_seconds(const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                                      const Choices& choices) {
        std::vector<double> seconds(switches.size(), 0);
        std::optional<StepCosts> costs;  // what ranks request of each other is counted once
        for (std::size_t i = 0; !space_.model.trains() && i < switches.size(); ++i) {
            const Configuration configuration = configuration_of(frame_with(frame, switches[i]), choices);
            const Schedule schedule = search::lowered(space_, configuration, graphs_).schedule;
            seconds[i] = loading_seconds(configuration, schedule);
            for (const Step& step : schedule.steps) {
                if (step.phase != Phase::setup) continue;
                if (!costs) costs.emplace(schedule, graphs_.numbered(schedule.numbering), machine_);
                seconds[i] += costs->seconds(schedule, step.operation);
            }
        }
        return seconds;
    }

    // What dropping weights of attention takes, which is the same for all sequences of choices and exchanges.
    double dropout_seconds(const ConfigurationFrame& frame, const Switches& switches, const Choices& choices) const {
        double seconds = 0;
        if (!space_.drops_attention) return seconds;
        const Schedule schedule = lowered(frame, switches, choices);
        const GraphStats& graph = graphs_.numbered(schedule.numbering);
        const cost::CostedRanks on = cost::ranks_to_cost(schedule, graph, machine_);
        for (const Step& step : schedule.steps)
            seconds += cost::attention_dropout_seconds(schedule, step, graph, machine_, on);
        return seconds;
    }

    static ConfigurationFrame frame_with(ConfigurationFrame frame, const Switches& switches) {
        frame.switches = switches;
        return frame;
    }

    const Space& space_;
    const Machine& machine_;
    NumberedGraphs& graphs_;
    Members& all_;
    std::map<Kind, LoweredSequences> lowered_;
    using LoadingKind = std::tuple<Sharing, int, int, int, Switches>;
    std::map<LoadingKind, double> loading_;
};

}  // namespace

bool never_pruned(const Space& space) {
    const auto& sites = space.model.sites;
    const bool sums_layers = std::any_of(sites.begin(), sites.end(), [&](const Site& site) {
        return site.addend >= 0 && space.model.at(site.addend).layer < site.layer;
    });
    return sums_layers && space.model.depth > max_enumerated_layers;
}

std::vector<enumerate::LayerChoice> choices_of_layer(const Space& space, const Distribution& on, int layer,
                                                     bool undominated_only) {
    const auto l = static_cast<std::size_t>(layer);
    const std::size_t depth = space.depth();
    enumerate::LayerRules rules;
    rules.layer = layer;
    rules.layers = static_cast<int>(depth);
    rules.trains = space.model.trains();
    rules.columns_split = on.splits_columns();
    const Site& product = space.model.product(layer);
    rules.only = product.only_orders();
    rules.leaves_columns = !product.heads.average;
    rules.cachable = rules.trains && space.model.aggregates_features();
    if (space.options.constant_input) rules.constant_input = true;
    if (space.options.drops_features.value_or(false)) rules.constant_input = false;
    if (space.options.forward) rules.forward = (*space.options.forward)[l - 1];
    if (space.options.backward) rules.backward = (*space.options.backward)[depth - l];
    return enumerate::layer_choices(rules, undominated_only);
}

std::vector<Choices> all_choices(const Space& space, const Distribution& on, bool undominated_only) {
    std::vector<Choices> sequences{{}};
    for (std::size_t l = 1; l <= space.depth(); ++l) {
        const auto choices = choices_of_layer(space, on, static_cast<int>(l), undominated_only);
        std::vector<Choices> longer;
        for (const Choices& sequence : sequences) {
            for (const enumerate::LayerChoice& choice : choices) {
                longer.push_back(sequence);
                longer.back().push_back(choice);
            }
        }
        sequences = std::move(longer);
    }
    return sequences;
}

std::vector<Choices> regular_choices(const Space& space, const Distribution& on) {
    constexpr auto S = Order::sparse_first, D = Order::dense_first;
    std::vector<Choices> sequences;
    for (const auto& [odd, even] : {std::pair(S, S), std::pair(D, D), std::pair(S, D), std::pair(D, S)}) {
        Choices& sequence = sequences.emplace_back();
        for (int l = 1; l <= space.model.depth; ++l) {
            const Order wanted = l % 2 == 1 ? odd : even;
            const auto choices = choices_of_layer(space, on, l, true);
            const auto found = std::find_if(choices.begin(), choices.end(),
                                            [&](const enumerate::LayerChoice& c) { return c.forward == wanted; });
            sequence.push_back(found == choices.end() ? choices.front() : *found);
        }
    }
    return sequences;
}

Configuration configuration_of(const ConfigurationFrame& frame, const Choices& choices) {
    Configuration configuration;
    configuration.sharing = frame.on.sharing;
    configuration.grid = frame.on.grid;
    configuration.switches() = frame.switches;
    configuration.bf16 = frame.switches.bf16 && packs_panels(configuration.exchange, configuration.overlap);
    enumerate::apply(choices, configuration);
    if (!frame.trains) configuration.backward.clear(), configuration.operands.clear();
    return configuration;
}

Members rank_members(const Space& space, const std::vector<Distribution>& grids, const Machine& machine,
                     NumberedGraphs& graphs, const std::vector<bool>& factored) {
    Members all;
    FrameSearch search(space, machine, graphs, all);
    std::size_t searched = 0;
    for (const Distribution& on : grids) {
        say_searching(space, on, ++searched, grids.size());
        // Where nonzeros are sent, factored ones are slower to multiply and fewer bytes: time alone cannot do without.
        const bool sent = on.sends_nonzeros() && !space.options.factored_values;
        for (const bool values : sent ? std::vector{false, true} : factored) {
            for (const ConfigurationFrame& frame : frames_on(space, on, values)) search.add(frame);
        }
    }
    // Equal times in the order of the lists, which is the same everywhere.
    std::stable_sort(all.members.begin(), all.members.end(),
                     [](const Member& a, const Member& b) { return a.seconds < b.seconds; });
    return all;
}

}  // namespace gnnplan::search
