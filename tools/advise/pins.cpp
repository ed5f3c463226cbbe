#include "tools/advise/pins.hpp"

#include "planner/enumerate/grids.hpp"
#include "tools/advise/switch_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

// The grids that the pinned choices leave. The paper space has RDM's own replications, whatever is genuine elsewhere.
std::vector<Distribution> grids_left(const SelectOptions& options, int ranks) {
    const bool paper = options.space == SearchSpace::paper && options.scheme.value_or("rdm") == "rdm";
    const enumerate::GridChoice choice{options.scheme, options.replication, options.grid};
    return paper ? enumerate::paper_distributions(ranks, choice) : enumerate::distributions(ranks, choice);
}

// The same; none where the search refuses them, with the reason.
std::vector<Distribution> grids_if_any(const SelectOptions& options, int ranks) {
    try {
        return grids_left(options, ranks);
    } catch (const Error&) {
        return {};
    }
}

// Each grid once, on however many ways nonzeros may be shared.
std::string texts(const std::vector<Distribution>& grids) {
    std::vector<std::string> all;
    for (const Distribution& entry : grids) {
        const std::string text = entry.grid.text();
        if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
    }
    return fmt::format("{}", fmt::join(all, ", "));
}

// The value that a switch is pinned to, unless it is the plainest.
std::optional<std::size_t> asked(const SwitchWords& row, const SelectOptions& options) {
    const std::optional<std::size_t> value = row.pin.pinned == nullptr ? std::nullopt : row.pin.pinned(options);
    return value == std::size_t{0} ? std::nullopt : value;
}

// Throws Error{usage} where a pin applies to none of the grids.
void check_applies(const SwitchWords& row, const SelectOptions& options, const std::vector<Distribution>& grids) {
    const std::optional<std::size_t> value = asked(row, options);
    if (!value || row.pin.applies == nullptr || std::any_of(grids.begin(), grids.end(), row.pin.applies)) return;
    throw Error(ErrorCode::usage, fmt::format(fmt::runtime(row.pin.no_effect), texts(grids)), row.flag_with(*value),
                "leave it out, or take another scheme, replication or grid");
}

// On a pin that has no effect on what was chosen; "" of any other.
std::string remark_on(const SwitchWords& row, const SelectOptions& options, const Configuration& chosen) {
    const std::optional<std::size_t> value = asked(row, options);
    if (!value || row.pin.no_effect.empty()) return "";
    const bool works = row.pin.applies != nullptr ? row.pin.applies(chosen.on()) : row.value_of(chosen) == *value;
    if (works) return "";
    const std::string where = fmt::format("{} {}", scheme_of(chosen.on()), chosen.grid.text());
    return fmt::format("{} has no effect on {}: {}", row.pin.remark_says_value ? row.flag_with(*value) : row.pin.flag,
                       row.pin.no_effect_on, fmt::format(fmt::runtime(row.pin.no_effect), where));
}

}  // namespace

void check_pins(const SelectOptions& options, int ranks) {
    if (!options.scheme && !options.replication && !options.grid) return;
    const std::vector<Distribution> grids = grids_if_any(options, ranks);
    if (grids.empty()) return;
    for (const SwitchWords& row : switch_words()) check_applies(row, options, grids);
}

std::vector<std::string> pin_remarks(const SelectOptions& options, const Plan& plan, bool replication_said) {
    const int ranks = plan.problem.ranks;
    std::vector<std::string> remarks;
    if (options.scheme == "3d" && !options.replication && !options.grid) {
        const std::vector<Distribution> grids = grids_if_any(options, ranks);
        const auto proper = [](const Distribution& on) { return on.grid.y > 1 && on.grid.z > 1; };
        if (!grids.empty() && std::none_of(grids.begin(), grids.end(), proper))
            remarks.push_back(fmt::format(
                "{} form{} no proper 3D grid; planned on {}, which are those of simpler schemes",
                ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks), ranks == 1 ? "s" : "", texts(grids)));
    }
    for (const SwitchWords& row : switch_words()) {
        std::string remark = remark_on(row, options, plan.candidates.front().configuration);
        if (!remark.empty()) remarks.push_back(std::move(remark));
    }
    if (replication_said && plan.candidates.front().schedule.numbering.cut == CutRule::none)
        remarks.emplace_back("`replication-factor` has no effect: no vertex cut is planned");
    return remarks;
}

}  // namespace gnnplan::tools
