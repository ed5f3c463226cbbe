// How panels travel, which matters where there is something to exchange.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/panel_relay.hpp>

#include <algorithm>

namespace gnnplan::enumerate {
namespace {

// Relaying rows needs counts of the rows that ranks share, and ranks that have the whole graph to find these rows.
bool may_relay_rows(const Asked& asked, const Distribution& on) {
    return asked.counted && !asked.in_shares && on.sharing == Sharing::replicated &&
           relay_saves(on.grid, asked.ranks_per_node);
}

// The exchanges that differ on a grid.
std::vector<Named<Exchange>> exchanges_on(const Asked& asked, const Distribution& on) {
    // Only the evaluation of groups exchanges rows, by which plans are not ranked.
    if (on.grid.grouped()) return {{Exchange::panels, "panels"}};
    std::vector<Named<Exchange>> all{{Exchange::panels, "panels"}, {Exchange::rows, "rows"}};
    if (relay_saves(on.grid, asked.ranks_per_node)) all.push_back({Exchange::relay, "relay"});
    if (may_relay_rows(asked, on)) all.push_back({Exchange::relayed_rows, "relayed_rows"});
    return all;
}

std::vector<Switches> exchanges(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!on.sends_rows()) return with_each(so_far, &Switches::exchange, {Exchange::none});
    if (on.sharing == Sharing::cut) return with_each(so_far, &Switches::exchange, {Exchange::rows});
    std::vector<Exchange> values = pinned_or(asked.pins.exchange, values_of(exchanges_on(asked, on)));
    // Where there is nobody to pass them on, needed rows come straight.
    if (!may_relay_rows(asked, on)) std::ranges::replace(values, Exchange::relayed_rows, Exchange::rows);
    return with_each(so_far, &Switches::exchange, values);
}

std::vector<OtherValue> other_exchange(const Asked& asked, const Configuration& chosen) {
    if (!chosen.on().sends_rows() || chosen.sharing == Sharing::cut) return {};
    return all_others(chosen, &Switches::exchange, exchanges_on(asked, chosen.on()));
}

void check_exchange(const Asked& asked) {
    if (asked.pins.exchange == Exchange::none)
        throw Error(ErrorCode::usage, "panels or rows are exchanged, wherever there are any", "`exchange`");
    if (asked.pins.exchange != Exchange::relayed_rows) return;
    if (!asked.counted)
        throw Error(ErrorCode::usage, "which rows the ranks of a node share is counted from the edges of a graph",
                    "`exchange relayed-rows`", "name the graph's files, or use `exchange rows`");
    if (asked.in_shares)
        throw Error(ErrorCode::usage, "which rows the ranks of a node share is found from the whole graph",
                    "`exchange relayed-rows`", "use `load whole`, or `exchange rows`");
}

std::vector<Switches> overlaps(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!on.can_overlap()) return with_each(so_far, &Switches::overlap, {false});
    if (on.grid.grouped()) return with_each(so_far, &Switches::overlap, {asked.pins.overlap.value_or(false)});
    return with_each(so_far, &Switches::overlap, pinned_or(asked.pins.overlap, {false, true}));
}

std::vector<OtherValue> other_overlap(const Asked&, const Configuration& chosen) {
    if (!chosen.on().can_overlap()) return {};
    return {turned(chosen, &Switches::overlap)};
}

}  // namespace

bool may_exchange_rows(const Pins& pins) { return by_need(pins.exchange.value_or(Exchange::rows)); }

extern const SwitchRow exchange_row, overlap_row;
const SwitchRow exchange_row = {"exchange", [](const Pins& pins) { return pins.exchange.has_value(); }, exchanges,
                                other_exchange, check_exchange};
const SwitchRow overlap_row = {"overlap", [](const Pins& pins) { return pins.overlap.has_value(); }, overlaps,
                               other_overlap};

}  // namespace gnnplan::enumerate
