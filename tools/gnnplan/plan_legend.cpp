#include "tools/gnnplan/plan_legend.hpp"

#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gnnplan::tools {
namespace {

constexpr std::size_t most_kept_text = 24;

struct Word {
    const char* meaning;
    bool (*is_in)(const Configuration&);
};

// In the order of the cell.
constexpr std::array<Word, 14> legend_words{{
    {"ÂX once: made before training, so features must not change (no dropout on them)",
     [](const Configuration& c) { return c.cached_aggregation; }},
    {"keep: for the backward pass, not made again",
     [](const Configuration& c) { return kept_products(c).size() > (c.cached_aggregation ? 1U : 0U); }},
    {"panels: whole blocks of rows are sent", [](const Configuration& c) { return c.exchange == Exchange::panels; }},
    {"rows: only the rows that a rank's nonzeros need are sent",
     [](const Configuration& c) { return c.exchange == Exchange::rows; }},
    {"overlap: products run while rows travel", [](const Configuration& c) { return c.overlap; }},
    {"permuted: vertices are shuffled, for balance", [](const Configuration& c) { return c.permutation; }},
    {"X replicated: more ranks hold the features", [](const Configuration& c) { return c.replicated_input; }},
    {"loss by columns: no rank has whole rows of logits", [](const Configuration& c) { return c.column_loss; }},
    {"pruned: only rows that the loss needs are computed", [](const Configuration& c) { return c.loss_rows; }},
    {"factored: values come from two scales a vertex, 4 bytes a nonzero less",
     [](const Configuration& c) { return c.factored_values; }},
    {"whole-row scores: every rank gathers whole rows to weigh edges, in place of summing scores over ranks",
     [](const Configuration& c) { return c.scores == Scores::whole_rows; }},
    {"dealt-row scores: ranks weigh the edges of a part of the rows each, from whole rows, and gather the scores",
     [](const Configuration& c) { return c.scores == Scores::dealt_rows; }},
    {"stored attention: the backward pass reads scores of edges that the forward pass has stored",
     [](const Configuration& c) { return c.attention == AttentionScores::stored; }},
    {"ring: dense products exchange tiles of rows while they multiply, in place of moving whole matrices",
     [](const Configuration& c) { return c.ring; }},
}};

const char* name_of(Objective objective, Task task) {
    switch (objective) {
        case Objective::time: return ranked_time_name(task);
        case Objective::memory: return "peak/rank";
        case Objective::volume: return "volume";
        case Objective::spmm: return "SpMM work";
    }
    return "";
}

}  // namespace

std::string choices_cell(const Configuration& configuration) {
    std::vector<std::string> kept = kept_products(configuration);
    if (configuration.cached_aggregation) kept.erase(kept.begin());  // said before
    std::vector<std::string> parts;
    if (configuration.cached_aggregation) parts.emplace_back("ÂX once");
    const std::string products = kept_text(kept);
    const bool many = products.size() > most_kept_text;
    if (many) parts.push_back(fmt::format("keep {} products", kept.size()));
    if (!many && !kept.empty()) parts.push_back("keep " + products);
    const std::string choices = choices_text(configuration);
    if (choices != "-") parts.push_back(choices);
    return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string plan_legend(const std::vector<const RankedConfiguration*>& rows, Task task,
                        const std::vector<Objective>& objectives, std::size_t costed) {
    std::vector<std::string> names;
    names.reserve(objectives.size());
    for (const Objective objective : objectives) names.emplace_back(name_of(objective, task));
    std::string text = fmt::format(
        "orders: S multiplies by the sparse matrix first, D by the weights; {}. +: on the Pareto front of {}, among "
        "the "
        "{} compared",
        task == Task::infer ? "layers 1..L. load + pass: loading the graph and one pass over all vertices"
                            : "layers 1..L forward, L..1 backward",
        fmt::join(names, " and "), format_count(static_cast<std::int64_t>(costed)));
    for (const Word& word : legend_words) {
        const bool used = std::any_of(rows.begin(), rows.end(),
                                      [&](const RankedConfiguration* row) { return word.is_in(row->configuration); });
        if (used) text += std::string(". ") + word.meaning;
    }
    return labelled("legend", text + ".");
}

}  // namespace gnnplan::tools
