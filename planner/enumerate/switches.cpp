#include "planner/enumerate/switches.hpp"

#include <algorithm>
#include <array>

namespace gnnplan::enumerate {

// A file of switches/ defines each.
extern const SwitchRow exchange_row, overlap_row, permutation_row, parts_row, cut_rule_row, loss_rows_row, values_row,
    scores_row, attention_row, ring_row, bf16_row, node_axis_row, recompute_row, clones_row, delay_row, wire_row;

namespace {

constexpr std::array rows = {&exchange_row,  &overlap_row, &permutation_row, &parts_row, &cut_rule_row, &loss_rows_row,
                             &values_row,    &scores_row,  &attention_row,   &ring_row,  &bf16_row,     &node_axis_row,
                             &recompute_row, &clones_row,  &delay_row,       &wire_row};

void add_values(const SwitchRow& row, const Asked& asked, const Distribution& on, std::vector<Switches>& switches) {
    std::vector<Switches> all;
    for (const Switches& so_far : switches) {
        for (const Switches& each : row.searched(asked, on, so_far)) all.push_back(each);
    }
    switches = std::move(all);
}

}  // namespace

std::span<const SwitchRow* const> switch_rows() { return rows; }

void check_pins(const Asked& asked) {
    for (const SwitchRow* row : rows) {
        if (row->check != nullptr) row->check(asked);
    }
}

std::vector<Switches> lowered_switches(const Asked& asked, const Distribution& on, bool factored_values) {
    std::vector<Switches> switches{{.factored_values = factored_values}};
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
        if (felt_by((*row)->key).lowering) add_values(**row, asked, on, switches);
    }
    return switches;
}

std::vector<Switches> product_switches(const Asked& asked, const Distribution& on, const Switches& lowered) {
    std::vector<Switches> switches{lowered};
    for (const SwitchRow* row : rows) {
        if (!felt_by(row->key).lowering) add_values(*row, asked, on, switches);
    }
    return switches;
}

std::vector<LeftOut> left_out(const Asked& asked, const std::vector<Distribution>& grids) {
    std::vector<LeftOut> all;
    for (const SwitchRow* row : {&attention_row, &values_row, &ring_row, &loss_rows_row}) {
        if (std::optional<LeftOut> entry = row->left_out(asked, grids)) all.push_back(*std::move(entry));
    }
    return all;
}

}  // namespace gnnplan::enumerate
