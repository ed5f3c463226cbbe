#include "tools/advise/worth.hpp"

#include "planner/cost/tie.hpp"
#include "planner/io/plan_keys.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gnnplan::tools {
namespace {

// What is chosen, and what instead.
struct Words {
    std::string chosen, instead;
};

// "forward 2 D", "backward 2..9 S".
Words order_words(const std::vector<std::string>& choice, const Configuration& chosen) {
    const bool backward = choice[0] == "backward";
    const bool aggregate = choice[2] == "S";
    const bool together = choice[1].find("..") != std::string::npos;
    const std::string where = (together ? "layers " : "layer ") + choice[1] + (backward ? " backward" : "");
    const std::string once = chosen.cached_aggregation && choice[1] == "1" && !backward ? " (ÂX once)" : "";
    const std::string now = aggregate ? "transform first" : "aggregate first";
    return {together ? "the orders of " + where : now + " in " + where + once,
            aggregate ? "aggregate first" : "transform first"};
}

std::string scores_words(Scores scores) {
    if (scores == Scores::columns) return "scores by columns";
    return scores == Scores::whole_rows ? "scores by whole rows" : "scores by dealt rows";
}

Words words_of(const Alternative& alternative, const Configuration& chosen) {
    const std::string sentence = text(alternative.choice);
    const std::vector<std::string> choice = split(sentence, " ");
    if (choice[0] == "scheme")
        return {"scheme " + scheme_of(chosen), "the best " + scheme_of(alternative.configuration)};
    if (choice[0] == "grid") return {"grid " + chosen.grid.text(), alternative.configuration.grid.text()};
    if ((choice[0] == "forward" || choice[0] == "backward") && choice.size() == 3) return order_words(choice, chosen);
    if (choice[0] == "input") return {"ÂX kept across epochs", "made in every epoch"};
    if (choice[0] == "nothing") return {kept_text(kept_products(chosen)) + " kept", "nothing kept"};
    if (choice[0] == "exchange" && choice.size() == 2) {
        return {"exchange of " + std::string(choice[1] == "rows" ? "panels" : "rows"), choice[1]};
    }
    if (choice[0] == "attention")
        return choice[1] == "stored" ? Words{"scores of attention made again", "stored"}
                                     : Words{"scores of attention stored", "made again"};
    if (choice[0] == "scores") return {scores_words(chosen.scores), sentence.substr(choice[0].size() + 1)};
    if (sentence == "baseline") return {"all of this", "what PyG does by default"};
    if (sentence == "baseline DGL") return {"all of this", "what DGL does by default"};
    if (choice.size() < 2) return {sentence, ""};
    const std::string name = sentence.substr(0, sentence.rfind(' '));
    return choice.back() == "on" ? Words{"no " + name, "with it"} : Words{name, "without"};
}

double more_seconds(const Plan& plan, const Alternative& alternative) {
    return alternative.predicted.ranked_seconds() - plan.candidates.front().predicted.ranked_seconds();
}
double ratio(const Plan& plan, const Alternative& alternative) {
    return alternative.predicted.ranked_seconds() / plan.candidates.front().predicted.ranked_seconds();
}
bool tied(const Plan& plan, const Alternative& alternative) {
    return cost::tie(alternative.predicted.ranked_seconds(), plan.candidates.front().predicted.ranked_seconds(),
                     plan.machine);
}
bool fits(const Plan& plan, const Alternative& alternative) {
    return alternative.predicted.peak_bytes_per_rank <= plan.memory_per_rank();
}

std::string verdict(const Plan& plan, const Alternative& alternative) {
    const double times = ratio(plan, alternative);
    std::string text = times >= 2 ? fmt::format("{:.1f}x", times) : fmt::format("{:+.0f} %", 100 * (times - 1));
    if (tied(plan, alternative)) text += ", a tie";
    if (!fits(plan, alternative)) {
        text += ", over memory: " + format_memory(alternative.predicted.peak_bytes_per_rank);
    }
    if (alternative.pinned) text += ", pinned";
    return text;
}

// Whether the words do not say all that differs.
bool needs_details(const std::string& choice) {
    return !(choice.starts_with("exchange") || choice.starts_with("scores") || choice.starts_with("attention") ||
             choice.ends_with(" on") || choice.ends_with(" off"));
}

}  // namespace

std::string difference_text(const Configuration& chosen, const Configuration& other) {
    std::vector<std::string> differences;
    if (scheme_of(chosen) != scheme_of(other)) differences.push_back(scheme_of(other));
    if (chosen.grid != other.grid) differences.push_back("grid " + other.grid.text());
    if (chosen.forward != other.forward) differences.push_back("forward " + format_orders(text(other.forward)));
    if (chosen.backward != other.backward) differences.push_back("backward " + format_orders(text(other.backward)));
    if (kept_products(chosen) != kept_products(other)) {
        differences.push_back(kept_products(other).empty() ? "nothing kept"
                                                           : kept_text(kept_products(other)) + " kept");
    }
    const std::vector<std::string> before = split(choices_text(chosen), ", ");
    const std::vector<std::string> after = split(choices_text(other), ", ");
    const auto has = [](const std::vector<std::string>& words, const std::string& word) {
        return word == "-" || std::find(words.begin(), words.end(), word) != words.end();
    };
    for (const std::string& word : after) {
        if (!has(before, word)) differences.push_back(word);
    }
    for (const std::string& word : before) {
        // One exchange takes the place of the other.
        if (!has(after, word) && word != "panels" && word != "rows") differences.push_back("not " + word);
    }
    return fmt::format("{}", fmt::join(differences, ", "));
}

std::string worth_text(const Plan& plan, bool color) {
    if (plan.alternatives.empty()) {
        return "What each choice is worth is not in this plan: plan again with this version of gnnplan.\n";
    }
    const Configuration& chosen = plan.candidates.front().configuration;
    Table table(
        {{"chosen"}, {"instead"}, {ranked_time_name(plan.problem.task), Align::right}, {"more", Align::right}, {""}});
    for (const Alternative& alternative : plan.alternatives) {
        const Words words = words_of(alternative, chosen);
        const double more = more_seconds(plan, alternative);
        const bool same = std::abs(more) < 1e-3 * plan.candidates.front().predicted.ranked_seconds();
        const std::string sign = more < 0 ? "-" : "+";
        table.add({words.chosen, words.instead, format_seconds(alternative.predicted.ranked_seconds(), plan.machine),
                   same ? "0" : sign + format_seconds(std::abs(more), plan.machine), verdict(plan, alternative)});
    }
    const std::vector<std::string> lines = split(table.text(color), "\n");
    std::string out =
        fmt::format("What each choice is worth: the plan with one choice made otherwise. Ties are within {:.0f} %.\n",
                    100 * cost::model_error(plan.machine)) +
        lines.front() + "\n";
    for (std::size_t i = 0; i < plan.alternatives.size(); ++i) {
        const Alternative& alternative = plan.alternatives[i];
        const std::string details = difference_text(chosen, alternative.configuration);
        out += lines[i + 1] + "\n";
        if (needs_details(text(alternative.choice)) && !details.empty()) out += wrapped("    ", "    ", details, ", ");
    }
    return out;
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
