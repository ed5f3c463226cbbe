#include "tools/advise/certainty.hpp"

#include "planner/cost/likely.hpp"
#include "tools/text/format.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

constexpr std::size_t most_orders = 4;  // that are named

bool is_order(const Alternative& alternative) {
    return alternative.choice.layers && (alternative.choice.key == "forward" || alternative.choice.key == "backward");
}

std::string layers_text(const LayerRange& layers) {
    return layers.last > layers.first ? fmt::format("layers {} to {}", layers.first, layers.last)
                                      : fmt::format("layer {}", layers.first);
}

// "transform first in layer 1": what is chosen otherwise.
std::string other_order(const Choice& choice) {
    return fmt::format("{} first in {}{}",
                       choice.value == text(Orders{Order::sparse_first}) ? "aggregate" : "transform",
                       layers_text(*choice.layers), choice.key == "backward" ? " backward" : "");
}

std::string open_order(const Choice& choice) {
    return fmt::format("the {}order{} of {}", choice.key == "backward" ? "backward " : "",
                       choice.layers->last > choice.layers->first ? "s" : "", layers_text(*choice.layers));
}

// In deep networks several orders of the same layers are looked at: of one name the largest ratio counts.
void add(std::vector<Contender>& group, const Contender& contender) {
    const auto same = std::ranges::find(group, contender.name, &Contender::name);
    if (same == group.end()) {
        group.push_back(contender);
    } else {
        same->ratio = std::max(same->ratio, contender.ratio);
    }
}

// The first few names, and how many more there are.
std::vector<std::string> names_of(const std::vector<Contender>& contenders, std::size_t most) {
    std::vector<std::string> names;
    for (const Contender& contender : contenders) {
        if (names.size() < most) names.push_back(contender.name);
    }
    if (contenders.size() > most) names.push_back(fmt::format("{} more", contenders.size() - most));
    return names;
}

// "within 11 %"
std::string within(const std::vector<Contender>& contenders) {
    double most = 0;
    for (const Contender& contender : contenders)
        most = std::max(most, std::max(contender.ratio, 1 / contender.ratio) - 1);
    return fmt::format("within {:.0f} %", 100 * most);
}

std::string decisions_text(const Certainty& certainty, const Machine& machine, Task task) {
    std::string text;
    if (!certainty.slower.empty()) {
        const std::size_t count = certainty.slower.size();
        text += fmt::format("{} {} {}slower. ", listed(names_of(certainty.slower, 4 + most_orders)),
                            count == 1 ? "is" : "are", certainty.compared ? "" : "predicted to be ");
    }
    std::vector<std::string> open;
    if (!certainty.schemes.empty())
        open.push_back(fmt::format("{} ({})", listed(names_of(certainty.schemes, 8)), within(certainty.schemes)));
    if (!certainty.orders.empty())
        open.push_back(
            fmt::format("{} ({})", listed(names_of(certainty.orders, most_orders)), within(certainty.orders)));
    if (open.empty()) return text;
    text += fmt::format("Undecided, as {}: {}", apart_text(machine), fmt::join(open, "; "));
    return text + (task == Task::train
                       ? "; gnnrun tries the plan's candidates in its first epochs if the run is long enough. "
                       : ". ");
}

// "9.2 to 74 ms", or both with their units where these differ.
std::string span_text(double least, double most, const Machine& machine) {
    std::string low = format_seconds(least, machine);
    const std::string high = format_seconds(most, machine);
    if (low == high) return low;
    const std::string unit = high.substr(high.rfind(' '));
    if (low.ends_with(unit)) low.erase(low.size() - unit.size());
    return low + " to " + high;
}

io::Document encode(const std::vector<Contender>& contenders) {
    io::Document array = io::Document::array();
    for (const Contender& c : contenders) array.push(io::Document::object({{"name", c.name}, {"ratio", c.ratio}}));
    return array;
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
    if (names.size() < 2) return names.empty() ? "" : names.front();
    return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string range_text(double seconds, const std::optional<TimeFactors>& factors, const Machine& machine, Task task) {
    const std::string what = task == Task::infer ? "Loading and the pass take" : "An epoch takes";
    const std::string likely = format_seconds(seconds * (factors ? factors->likely : 1), machine);
    if (!factors) return fmt::format("{} {} if the figures of the machine hold.", what, likely);
    const std::string span = span_text(seconds * factors->least, seconds * factors->most, machine);
    return fmt::format("{} {}{}.", what, span, span == likely ? "" : " (likely " + likely + ")");
}

io::Document encode_range(double seconds, const std::optional<TimeFactors>& factors) {
    if (!factors) return {};
    return io::Document::object({{"least", seconds * factors->least},
                                 {"likely", seconds * factors->likely},
                                 {"most", seconds * factors->most}});
}

Certainty certainty_of(const Plan& plan) {
    const Candidate& chosen = plan.candidates.front();
    const Task task = plan.problem.task;
    Certainty certainty;
    certainty.seconds = chosen.predicted.shown_seconds();
    std::vector<Contender> slower_orders;
    for (const Alternative& alternative : plan.alternatives) {
        const bool order = is_order(alternative);
        if (!order && alternative.choice.key != "scheme") continue;
        if (alternative.predicted.peak_bytes_per_rank > plan.memory_per_rank()) continue;
        const bool tied = cost::tie(alternative.predicted, chosen.predicted, plan.machine);
        const std::string name = !order ? scheme_of(alternative.configuration)
                                 : tied ? open_order(alternative.choice)
                                        : other_order(alternative.choice);
        auto& group =
            tied ? (order ? certainty.orders : certainty.schemes) : (order ? slower_orders : certainty.slower);
        add(group, {name, alternative.predicted.ranked_seconds() / chosen.predicted.ranked_seconds()});
    }
    certainty.slower.insert(certainty.slower.end(), slower_orders.begin(), slower_orders.end());
    if (!certainty.schemes.empty())
        certainty.schemes.insert(certainty.schemes.begin(), {scheme_of(chosen.configuration), 1});
    certainty.origin = origin_of(plan.machine);
    certainty.factors = time_factors(chosen.predicted, plan.machine, task);
    certainty.compared = was_compared(plan.machine, certainty.origin, plan.problem);
    certainty.evidence = evidence_text(plan.machine, certainty.origin, plan.problem);
    certainty.text = decisions_text(certainty, plan.machine, task) +
                     range_text(certainty.seconds, certainty.factors, plan.machine, task);
    return certainty;
}

std::string sure_text(const Certainty& certainty) { return certainty.text + " " + certainty.evidence; }

io::Document encode(const Certainty& certainty) {
    std::vector<Contender> undecided = certainty.schemes;
    undecided.insert(undecided.end(), certainty.orders.begin(), certainty.orders.end());
    return io::Document::object({{"text", certainty.text},
                                 {"slower", encode(certainty.slower)},
                                 {"undecided", encode(undecided)},
                                 {"range_seconds", encode_range(certainty.seconds, certainty.factors)},
                                 {"machine", text(certainty.origin)},
                                 {"evidence", certainty.evidence}});
}

}  // namespace gnnplan::tools
