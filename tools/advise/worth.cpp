#include "tools/advise/worth.hpp"

#include "planner/cost/likely.hpp"
#include "planner/io/plan_keys.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/evidence.hpp"
#include "tools/advise/feature_dropout.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/switch_words.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace gnnplan::tools {
namespace {

// The chosen value, and the one that an alternative has instead.
struct Words {
    std::string chosen, instead;
};

Words order_words(const Choice& choice, const Configuration& chosen) {
    const LayerRange& layers = *choice.layers;
    const bool backward = choice.key == "backward";
    const bool aggregate = choice.value == text(Orders{Order::sparse_first});
    const bool together = layers.last > layers.first;
    const std::string where =
        (together ? fmt::format("layers {}..{}", layers.first, layers.last) : fmt::format("layer {}", layers.first)) +
        (backward ? " backward" : "");
    const bool once = chosen.cached_aggregation && layers == LayerRange{1, 1} && !backward;
    const std::string now = aggregate ? "transform first" : "aggregate first";
    return {together ? "the orders of " + where : now + " in " + where + (once ? " (ÂX once)" : ""),
            aggregate ? "aggregate first" : "transform first"};
}

Words words_of(const Alternative& alternative, const Configuration& chosen) {
    const Choice& choice = alternative.choice;
    const Configuration& other = alternative.configuration;
    if (const SwitchWords* row = find_switch_words(choice.key))
        return {row->words_of(chosen).chosen, row->words_of(other).instead};
    if (choice.layers) return order_words(choice, chosen);
    if (choice.key == "scheme") return {"scheme " + scheme_of(chosen), "the best " + scheme_of(other)};
    if (choice.key == "grid") return {"grid " + chosen.grid.text(), other.grid.text()};
    if (choice.key == "cached_aggregation") return {"ÂX once", "made in every epoch"};
    if (choice.key == "kept") return {kept_text(products_kept(chosen)) + " kept", "nothing kept"};
    if (choice.key == "feature_dropout") {
        const bool added = choice.value == "on";
        return {added ? "no dropout on the features" : "dropout on the features", added ? "with it" : "without it"};
    }
    if (choice.key == "pre") return {"linear maps before layer 1", "the network without them"};
    if (choice.key == "baseline")
        return {"all of this", fmt::format("the defaults of {}", choice.value == "pyg" ? "PyG" : "DGL")};
    return {text(choice), ""};  // of another version's plan
}

double more_seconds(const Plan& plan, const Alternative& alternative) {
    return alternative.predicted.ranked_seconds() - plan.candidates.front().predicted.ranked_seconds();
}
double ratio(const Plan& plan, const Alternative& alternative) {
    return alternative.predicted.ranked_seconds() / plan.candidates.front().predicted.ranked_seconds();
}
bool tied(const Plan& plan, const Alternative& alternative) {
    return cost::tie(alternative.predicted, plan.candidates.front().predicted, plan.machine);
}
bool fits(const Plan& plan, const Alternative& alternative) {
    return alternative.predicted.peak_bytes_per_rank <= plan.memory_per_rank();
}

std::string verdict(const Plan& plan, const Alternative& alternative) {
    std::string text = times_text(ratio(plan, alternative));
    if (tied(plan, alternative)) text += ", a tie";
    if (!fits(plan, alternative)) {
        text += ", over memory: " + format_memory(alternative.predicted.peak_bytes_per_rank);
    }
    if (alternative.pinned) text += ", pinned";
    return text;
}

// Whether the words do not say all that differs.
bool needs_details(const Choice& choice) { return find_switch_words(choice.key) == nullptr; }

std::string kept_difference(const Configuration& chosen, const Configuration& other) {
    const std::vector<KeptProduct> kept = products_kept(other);
    if (kept == products_kept(chosen)) return "";
    return kept.empty() ? "nothing kept" : kept_text(kept, " and ") + " kept";
}

// The words that cells of the other configuration have and the chosen one's have not, then those that they lack.
void add_switch_differences(const Configuration& chosen, const Configuration& other,
                            std::vector<std::string>& differences) {
    for (const SwitchWords& row : switch_words()) {
        if (row.has_same(chosen, other)) continue;
        if (const std::string word = row.cell_of(other); !word.empty()) differences.push_back(word);
    }
    for (const SwitchWords& row : switch_words()) {
        if (row.has_same(chosen, other) || !row.absence_differs) continue;
        if (const std::string word = row.cell_of(chosen); !word.empty()) differences.push_back("not " + word);
    }
}

}  // namespace

std::string difference_text(const Configuration& chosen, const Configuration& other) {
    std::vector<std::string> differences;
    if (scheme_of(chosen) != scheme_of(other)) differences.push_back(scheme_of(other));
    if (chosen.grid != other.grid) differences.push_back("grid " + other.grid.text());
    if (chosen.forward != other.forward) differences.push_back("forward " + format_orders(text(other.forward)));
    if (chosen.backward != other.backward) differences.push_back("backward " + format_orders(text(other.backward)));
    if (const std::string kept = kept_difference(chosen, other); !kept.empty()) differences.push_back(kept);
    add_switch_differences(chosen, other, differences);
    return fmt::format("{}", fmt::join(differences, ", "));
}

ChoiceWords choice_words(const Plan& plan, const Alternative& alternative) {
    const Configuration& chosen = plan.candidates.front().configuration;
    const Words words = words_of(alternative, chosen);
    return {words.chosen, words.instead, verdict(plan, alternative),
            needs_details(alternative.choice) ? difference_text(chosen, alternative.configuration) : ""};
}

std::string worth_text(const Plan& plan, bool color) {
    if (plan.alternatives.empty()) {
        return "This plan does not say how much each choice is worth: plan again with this version of gnnplan.\n";
    }
    const Configuration& chosen = plan.candidates.front().configuration;
    Table table(
        {{"chosen"}, {"instead"}, {ranked_time_name(plan.problem.task), Align::right}, {"more", Align::right}, {""}});
    for (const Alternative& alternative : plan.alternatives) {
        const Words words = words_of(alternative, chosen);
        const double more = more_seconds(plan, alternative);
        const bool same = std::abs(more) < 1e-3 * plan.candidates.front().predicted.ranked_seconds();
        const std::string sign = more < 0 ? "-" : "+";
        table.add({words.chosen, words.instead, format_seconds(alternative.predicted.shown_seconds(), plan.machine),
                   same ? "0" : sign + format_seconds(std::abs(more), plan.machine), verdict(plan, alternative)});
        const std::string details = difference_text(chosen, alternative.configuration);
        if (!needs_details(alternative.choice) || details.empty()) continue;
        const std::string lines = wrapped("    ", "    ", details, ", ");
        table.add_title(lines.substr(0, lines.size() - 1));
    }
    const std::string headline = fmt::format(
        "Each choice and how much it is worth: the plan with one choice made otherwise. Ties are within {}.",
        tie_text(plan.machine));
    if (line_width() < page_width) table.leave_out_if_wider("more", line_width());
    return wrapped("", "", headline) + table.text(color, line_width());
}

io::Document encode_alternatives(const Plan& plan) {
    io::Document array = io::Document::array();
    for (const Alternative& alternative : plan.alternatives) {
        array.push(io::Document::object({{"choice", text(alternative.choice)},
                                         {"pinned", alternative.pinned},
                                         {"configuration", io::encode(alternative.configuration)},
                                         {"predicted", io::encode(alternative.predicted)},
                                         {"more_seconds", more_seconds(plan, alternative)},
                                         {"ratio", ratio(plan, alternative)},
                                         {"tie", tied(plan, alternative)},
                                         {"fits", fits(plan, alternative)}}));
    }
    return array;
}

}  // namespace gnnplan::tools
