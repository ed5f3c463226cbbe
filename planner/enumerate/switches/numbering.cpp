// How vertices are numbered: as the graph has them, shuffled, or by parts.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

#include <iterator>
#include <span>

namespace gnnplan::enumerate {
namespace {

std::vector<Switches> parts(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (asked.batches) return with_each(so_far, &Switches::parts, {0});
    if (on.deals_edges()) return with_each(so_far, &Switches::parts, {on.grid.x});
    if (!asked.pins.partition || on.grid.x == 1) return with_each(so_far, &Switches::parts, {0});
    return with_each(so_far, &Switches::parts, {0, on.grid.x});
}

std::vector<OtherValue> other_parts(const Asked&, const Configuration& chosen) {
    if (chosen.parts <= 1 || chosen.on().deals_edges()) return {};
    return {other(chosen, "off", &Switches::parts, 0)};
}

// The first one needs no partitioner.
constexpr Named<CutRule> rules[] = {{CutRule::libra, "libra"}, {CutRule::seeded, "seeded"}, {CutRule::cover, "cover"}};

std::span<const Named<CutRule>> rules_for(const Pins& pins) {
    return std::span(rules).first(pins.partition ? std::size(rules) : 1);
}

CutRule rule_of_groups(const Pins& pins) { return pins.cut_rule.value_or(CutRule::libra); }

std::vector<Switches> cuts(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!on.deals_edges()) return with_each(so_far, &Switches::cut_rule, {CutRule::none});
    if (asked.batches) return with_each(so_far, &Switches::cut_rule, {CutRule::none});
    // Groups give other results by other rules, so that none is chosen for them.
    if (on.grid.grouped()) return with_each(so_far, &Switches::cut_rule, {rule_of_groups(asked.pins)});
    return with_each(so_far, &Switches::cut_rule, pinned_or(asked.pins.cut_rule, values_of(rules_for(asked.pins))));
}

std::vector<OtherValue> other_cuts(const Asked& asked, const Configuration& chosen) {
    if (chosen.sharing != Sharing::cut) return {};
    return all_others(chosen, &Switches::cut_rule, rules_for(asked.pins));
}

// Training that loads its graph in shares keeps to numberings that do not take the whole graph.
void check_shares(const Asked& asked) {
    const bool pruned = asked.pins.loss_rows.value_or(false);
    if (!asked.in_shares || !asked.model.trains() || !(pruned || asked.pins.partition)) return;
    throw Error(
        ErrorCode::usage,
        pruned ? "which rows the loss needs is found out from the whole graph" : "parts are made of the whole graph",
        "`load`", "use `load whole`, or leave out what asks for it");
}

// Statistics know no order of vertices, and parts are balanced already: a permutation within them changes nothing that
// counts.
std::vector<Switches> permutations(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (on.deals_edges()) return with_each(so_far, &Switches::permutation, {false});
    const bool balances = asked.counted && on.grid.x * on.grid.z > 1 && so_far.parts <= 1;
    if (!balances) return with_each(so_far, &Switches::permutation, {asked.pins.permutation.value_or(false)});
    return with_each(so_far, &Switches::permutation, pinned_or(asked.pins.permutation, {false, true}));
}

std::vector<OtherValue> other_permutation(const Asked&, const Configuration& chosen) {
    if (!chosen.permutation) return {};
    return {turned(chosen, &Switches::permutation)};
}

// Updates draw batches, or neighbours.
[[noreturn]] void refuse_with_batches(const std::string& why, const char* option) {
    throw Error(ErrorCode::usage, why + ", not where updates draw batches or neighbours", option,
                "leave one of the two out");
}

void check_order(const Asked& asked) {
    if (asked.batches && asked.pins.permutation.value_or(false))
        refuse_with_batches("the vertices of the whole graph are shuffled", "`permute`");
}

void check_rule(const Asked& asked) {
    if (asked.batches && asked.pins.cut_rule)
        refuse_with_batches("the edges of the whole graph are dealt by a vertex cut", "`cut`");
}

std::vector<Switches> clones(const Asked& asked, const Distribution& on, const Switches& so_far) {
    const CloneLoss asked_for = asked.pins.clones.value_or(CloneLoss::none);
    return with_each(so_far, &Switches::clones, {on.grid.grouped() ? asked_for : CloneLoss::none});
}

std::vector<Switches> delays(const Asked& asked, const Distribution& on, const Switches& so_far) {
    return with_each(so_far, &Switches::delay, {on.grid.grouped() ? asked.pins.delay : std::nullopt});
}

void check_clones(const Asked& asked) {
    if (!asked.pins.clones) return;
    if (asked.batches) refuse_with_batches("groups train on the parts of a vertex cut of the whole graph", "`inexact`");
    if (!asked.model.trains())
        throw Error(ErrorCode::usage, "groups train on clones of vertices, and an inference trains nothing",
                    "`inexact`", "leave it out");
    if (asked.pins.node_axis.value_or(NodeAxis::y) != NodeAxis::y)
        throw Error(ErrorCode::usage, "the ranks of a group follow each other", "`node-axis`", "say `node-axis y`");
}

}  // namespace

extern const SwitchRow parts_row, cut_rule_row, permutation_row, clones_row, delay_row;
const SwitchRow parts_row = {"parts", [](const Pins& pins) { return pins.partition; }, parts, other_parts,
                             check_shares};
const SwitchRow cut_rule_row = {"cut_rule", [](const Pins& pins) { return pins.cut_rule.has_value(); }, cuts,
                                other_cuts, check_rule};
const SwitchRow permutation_row = {"permutation", [](const Pins& pins) { return pins.permutation.has_value(); },
                                   permutations, other_permutation, check_order};

const SwitchRow clones_row = {"clones", [](const Pins& pins) { return pins.clones.has_value(); }, clones, nullptr,
                              check_clones};
const SwitchRow delay_row = {"delay", [](const Pins& pins) { return pins.delay.has_value(); }, delays};

Numbering numbering_of_groups(const Pins& pins, int groups, std::uint64_t seed) {
    return {.parts = groups,
            .seed = seed,
            .cut = rule_of_groups(pins),
            .clones = pins.clones.value_or(CloneLoss::shares),
            .delay = pins.delay};
}

Numbering numbering_of_batches(const Batches& batches, int groups) { return {.parts = groups, .batches = batches}; }

bool asks_for_cut(const Pins& pins) { return pins.cut_rule.has_value(); }

std::optional<std::string> why_no_cut(const Asked& asked) {
    const Pins& pins = asked.pins;
    if (!asked.cuts_are_known)
        return "nobody knows how this graph cuts into as many parts as these ranks form; `replication-factor` says "
               "what if, or name the graph's files";
    if (asked.draws) return "drawn edges are not dealt to parts of a cut: leave out `fanout`";
    if (asked.in_shares) return "a cut is made of the whole graph: say `load whole`";
    if (!pins.clones && !may_exchange_rows(pins))
        return "its ranks exchange the rows that they need: say `exchange rows`";
    if (pins.loss_rows.value_or(false)) return "it computes all rows: say `loss-rows off`";
    if (pins.permutation.value_or(false)) return "its parts number the vertices: say `permute off`";
    const CutRule rule = pins.cut_rule.value_or(CutRule::libra);
    if (rule == CutRule::none) return "a cut has a rule: libra, seeded or cover";
    if (rule != CutRule::libra && !asked.counted) return "a graph that is not there is cut by libra alone";
    if (rule != CutRule::libra && !pins.partition)
        return "a partitioner makes the parts that the rule begins with: say `partition`";
    return std::nullopt;
}

}  // namespace gnnplan::enumerate
