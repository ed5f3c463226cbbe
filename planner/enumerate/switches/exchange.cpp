// How panels travel, which matters where there is something to exchange.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/panel_relay.hpp>

namespace gnnplan::enumerate {
namespace {

std::vector<Switches> exchanges(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!on.sends_rows()) return with_each(so_far, &Switches::exchange, {Exchange::none});
    if (on.sharing == Sharing::cut) return with_each(so_far, &Switches::exchange, {Exchange::rows});
    std::vector<Exchange> values{Exchange::panels, Exchange::rows};
    if (relay_saves(on.grid, asked.ranks_per_node)) values.push_back(Exchange::relay);
    return with_each(so_far, &Switches::exchange, pinned_or(asked.pins.exchange, values));
}

std::vector<OtherValue> other_exchange(const Asked& asked, const Configuration& chosen) {
    if (!chosen.on().sends_rows() || chosen.sharing == Sharing::cut) return {};
    std::vector<OtherValue> others;
    const auto add = [&](const char* name, Exchange value) {
        if (chosen.exchange != value) others.push_back(other(chosen, name, &Switches::exchange, value));
    };
    add("panels", Exchange::panels);
    add("rows", Exchange::rows);
    if (relay_saves(chosen.grid, asked.ranks_per_node)) add("relay", Exchange::relay);
    return others;
}

void check_exchange(const Asked& asked) {
    if (asked.pins.exchange == Exchange::none)
        throw Error(ErrorCode::usage, "panels or rows are exchanged, wherever there are any", "`exchange`");
}

std::vector<Switches> overlaps(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!on.can_overlap()) return with_each(so_far, &Switches::overlap, {false});
    return with_each(so_far, &Switches::overlap, pinned_or(asked.pins.overlap, {false, true}));
}

std::vector<OtherValue> other_overlap(const Asked&, const Configuration& chosen) {
    if (!chosen.on().can_overlap()) return {};
    return {turned(chosen, &Switches::overlap)};
}

}  // namespace

bool may_exchange_rows(const Pins& pins) { return pins.exchange.value_or(Exchange::rows) == Exchange::rows; }

extern const SwitchRow exchange_row, overlap_row;
const SwitchRow exchange_row = {"exchange", [](const Pins& pins) { return pins.exchange.has_value(); }, exchanges,
                                other_exchange, check_exchange};
const SwitchRow overlap_row = {"overlap", [](const Pins& pins) { return pins.overlap.has_value(); }, overlaps,
                               other_overlap};

}  // namespace gnnplan::enumerate
