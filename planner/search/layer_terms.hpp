// Terms of a deep network's time: what the steps of one layer take, between its neighbours.
#pragma once

#include "planner/lower/rules.hpp"
#include "planner/search/full_space.hpp"
#include "planner/search/widthless_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace gnnplan::search {

// The time of layer l's steps under each of the switches, for networks in which it depends on layers l - 1 to l + 1
// alone. All arguments of the constructor outlive the object.
class LayerTerms {
public:
    LayerTerms(const Space& space, const ConfigurationFrame& frame, const std::vector<Switches>& switches,
               const Machine& machine, NumberedGraphs& graphs);
    // Where choice `c` of layer `l` leaves H^l; that may depend on what layer l + 1 begins with.
    lower::Place produced_in(int l, const enumerate::LayerChoice& c, const enumerate::LayerChoice& next);
    // One time for each of the switches, valid until the next call. H^(l-1) is produced at `before`; `next` is the
    // choice of layer l + 1, null for the last layer.
    const double* seconds(int l, lower::Place before, const enumerate::LayerChoice& c,
                          const enumerate::LayerChoice* next);

private:
    int first(int l) const { return std::max(1, l - 1); }
    int last(int l) const { return std::min(depth_, l + 1); }
    // Layers of the same shape between layers of the same shapes have the same terms.
    std::vector<std::int64_t> shape(int l, const SiteGraph& layers) const;
    static std::uint64_t neighbours(const enumerate::LayerChoice& c, const enumerate::LayerChoice* next);
    // Adds the time of layer l's steps under each of the switches.
    void add_steps(int l, lower::Place before, const enumerate::LayerChoice& c, const enumerate::LayerChoice* next,
                   double* seconds);
    // The steps of layer l between its neighbours, whatever the widths: lowered once for layers that are of one kind.
    const std::vector<WidthlessSteps::Counted>& steps_of(int l, lower::Place before, const enumerate::LayerChoice& c,
                                                         const enumerate::LayerChoice* next);
    // A step's time in layer l under each of the switches.
    const double* step_seconds(WidthlessSteps::StepId step, int l);
    // The properties of layer l and its neighbours that decide which steps there are.
    std::vector<std::int64_t> kinds_around(int l, const SiteGraph& layers) const;
    // |N_l| after each aggregation of these layers, and of what they read.
    std::vector<std::int64_t> loss_rows_around(int l) const;
    SiteGraph layers_around(int l) const { return window(space_.model, first(l), last(l)); }
    int position(int l) const { return l - first(l) + 1; }
    // Any choice of the first of `layers` that leaves its result where it is said to be, before `others`.
    enumerate::LayerChoice previous_leaving(lower::Place before, const SiteGraph& layers, const Choices& others) const;
    // The schedule of layer l between its neighbours alone.
    Schedule lowered_between(int l, lower::Place before, const enumerate::LayerChoice& c,
                             const enumerate::LayerChoice* next, const SiteGraph& layers,
                             const ConfigurationFrame& frame) const;
    // The time of its steps, cut to meet the bound on buffers between these neighbours; infinite where no cut meets it.
    double bounded_seconds(int l, Schedule schedule);
    // How wide source panels are where that is the same for all widths between the network's narrowest and its widest;
    // nothing where rows differ between layers.
    std::optional<std::int64_t> panels_of_all() const;
    // A schedule with every width and row count of the network.
    Schedule sample() const;

    const Space& space_;
    const ConfigurationFrame& frame_;
    const std::vector<Switches>& switches_;
    const Machine& machine_;
    NumberedGraphs& graphs_;
    int depth_;
    std::vector<std::size_t> shape_of_, kind_of_;                        // per layer
    std::vector<std::unordered_map<std::uint64_t, std::size_t>> known_;  // per shape and place: where its term is
    std::vector<double> terms_;                                          // one after the other, by switches
    std::unordered_map<std::uint64_t, lower::Place> produced_in_;
    std::optional<StepCosts> costs_;
    std::optional<std::int64_t> panels_;  // see panels_of_all
    WidthlessSteps widthless_;
    std::unordered_map<std::uint64_t, std::vector<WidthlessSteps::Counted>> steps_of_;  // by kind, place and choices
    std::vector<std::vector<double>> step_seconds_;  // per layer: by step and switches
};

}  // namespace gnnplan::search
