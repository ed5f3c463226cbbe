// The members of frames, with their times.
#pragma once

#include "planner/search/deep_network.hpp"
#include "planner/search/full_space.hpp"
#include "planner/search/widthless_steps.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace gnnplan::search {

// Times of members by sequence of choices, then by switches.
class FrameSearch {
public:
    FrameSearch(const Space& space, const Machine& machine, NumberedGraphs& graphs, Members& all)
        : space_(space), machine_(machine), graphs_(graphs), all_(all) {}

    // Adds the members of a frame, under each of the switches that products alone feel.
    void add(const ConfigurationFrame& frame);
    // The time of one of its members, as it would be added.
    double seconds_of_member(const ConfigurationFrame& frame, const Choices& choices);

private:
    using Seconds = std::vector<std::vector<double>>;

    void add_deep(const ConfigurationFrame& frame, const std::vector<Switches>& switches, std::uint32_t first_frame);

    bool rings(const ConfigurationFrame& frame, const Choices& choices) const;
    // Members without a ring are those of the frame without rings. Where none of the fastest has one, though it is
    // asked for, regular ones are taken.
    void keep_ringing(const ConfigurationFrame& frame, const Switches& switches, std::vector<DeepMember>& fastest);

    // Sequences of choices, lowered for one of the grids on which the same axes split something.
    struct LoweredSequences {
        Schedule sample;
        WidthlessSteps steps;
        std::vector<std::vector<WidthlessSteps::Counted>> of_sequence;
    };
    using Kind = std::tuple<Sharing, bool, bool, bool, Switches>;
    static Kind kind_of(const ConfigurationFrame& frame);
    Schedule lowered(const ConfigurationFrame& frame, const Switches& switches, const Choices& choices) const;
    // Returns the costs of steps for schedules of the frame that `schedule` belongs to.
    StepCosts costs_of(const Schedule& schedule);
    bool bounded() const { return space_.options.buffer_bytes > 0; }

    Seconds seconds_of(const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                       const std::vector<Choices>& sequences);
    Seconds seconds_of_each(const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                            const std::vector<Choices>& sequences);
    // The same where buffers are bounded, with what comes before a pass: how pieces are cut depends on the exchange, on
    // the overlap, and on the widths of all products.
    Seconds seconds_of_bounded(const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                               const std::vector<Choices>& sequences);
    double bounded_seconds(const Configuration& configuration, std::optional<StepCosts>& costs);

    // Loading the graph counts where there is one pass. It is the same however products are ordered and exchange.
    double loading_seconds(const Configuration& configuration, const Schedule& schedule);
    // The time before a pass, under each of the switches: it counts where there is one pass. It is the same for all
    // sequences of choices, but for how pieces are cut where buffers are bounded.
    std::vector<double> setup_seconds(const ConfigurationFrame& frame, const std::vector<Switches>& switches,
                                      const Choices& choices);
    // The time for drawing batches and for dropping weights of attention, which is the same for all sequences of
    // choices and exchanges.
    double seconds_beside(const ConfigurationFrame& frame, const Switches& switches, const Choices& choices) const;

    const Space& space_;
    const Machine& machine_;
    NumberedGraphs& graphs_;
    Members& all_;
    Grid counted_on_;  // the latest grid, and what is counted there of the graph in each numbering
    std::map<const GraphStats*, std::shared_ptr<cost::RankCounts>> counts_;
    std::map<Kind, LoweredSequences> lowered_;
    using LoadingKind = std::tuple<Sharing, int, int, int, Switches>;
    std::map<LoadingKind, double> loading_;
};

}  // namespace gnnplan::search
