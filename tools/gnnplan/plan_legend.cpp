#include "tools/gnnplan/plan_legend.hpp"

#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace gnnplan::tools {
namespace {

constexpr std::size_t most_kept_text = 24;

bool keeps_for_backward(const Configuration& configuration) {
    const std::vector<KeptProduct> kept = products_kept(configuration);
    return std::any_of(kept.begin(), kept.end(), [](const KeptProduct& product) { return !product.across_epochs; });
}

// A word, and whether the cell of a configuration has it.
struct Word {
    CellWord cell;
    std::function<bool(const Configuration&)> is_in;
};

std::vector<Word> words_of_cells() {
    std::vector<Word> words{
        {{"ÂX once",
          "made before training, so features must not change (no dropout on them); ratios count it by its share of the "
          "epochs"},
         [](const Configuration& c) { return c.cached_aggregation; }},
        {{"keep", "for the backward pass, not made again"}, keeps_for_backward},
    };
    for (const SwitchWords& row : switch_words()) {
        for (std::size_t value = 0; value < row.values.size(); ++value) {
            const CellWord& cell = row.values[value].cell;
            const auto is_in = [&row, value](const Configuration& c) { return row.value_of(c) == value; };
            if (!cell.word.empty()) words.push_back({cell, is_in});
        }
    }
    return words;
}

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

std::vector<CellWord> cell_words() {
    std::vector<CellWord> cells;
    for (const Word& word : words_of_cells()) cells.push_back(word.cell);
    return cells;
}

std::string choices_cell(const Configuration& configuration) {
    std::vector<KeptProduct> kept = products_kept(configuration);
    std::erase_if(kept, [](const KeptProduct& product) { return product.across_epochs; });  // said before
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
    for (const Word& word : words_of_cells()) {
        const bool used = std::any_of(rows.begin(), rows.end(),
                                      [&](const RankedConfiguration* row) { return word.is_in(row->configuration); });
        if (used) text += fmt::format(". {}: {}", word.cell.word, word.cell.meaning);
    }
    return labelled("legend", text + ".");
}

}  // namespace gnnplan::tools
