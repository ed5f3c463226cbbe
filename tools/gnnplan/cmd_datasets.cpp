// gnnplan datasets: cards to plan with, without the data.
#include "planner/catalog/cards.hpp"
#include "tools/advise/json/catalog_json.hpp"
#include "tools/gnnplan/command.hpp"
#include "tools/gnnplan/list_options.hpp"
#include "tools/gnnplan/output.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gnnplan::tools {
namespace {

std::string cell(std::int64_t value) { return value > 0 ? format_count(value) : "-"; }

int show_cards(const Context& context, std::span<const catalog::Card> cards, bool json) {
    if (json) {
        print_json(encode_datasets(cards));
        return 0;
    }
    Table table({{"card"},
                 {"vertices", Align::right},
                 {"nonzeros", Align::right},
                 {"features", Align::right},
                 {"classes", Align::right},
                 {"symmetric"},
                 {"source"}});
    for (const catalog::Card& card : cards) {
        table.add({catalog::selector_of(card), format_count(card.vertices) + (card.rounded ? " ~" : ""),
                   format_count(card.nonzeros), cell(card.features), cell(card.classes), card.symmetric ? "yes" : "no",
                   short_source(card.source, ";(")});
    }
    for (const char* least : {"symmetric", "classes"}) table.leave_out_if_wider(least, line_width());
    print(table.text(use_color(context.color), line_width()));
    return 0;
}

int list_datasets(const Context& context, const ListOptions& options) {
    return show_cards(context, catalog::cards(), options.json);
}

// "1.75 parts a vertex in 2, 2.94 in 4 (Libra, DistGNN Table 4)".
std::string cuts_text(const catalog::Card& card) {
    std::string text;
    for (std::size_t i = 0; i < card.replication.size(); ++i) {
        if (card.replication[i] == 0) continue;
        text += fmt::format("{}{:.2f}{} in {}", text.empty() ? "" : ", ", card.replication[i],
                            text.empty() ? " parts a vertex" : "", 2 << i);
    }
    return text + " (Libra, DistGNN Table 4)";
}

// One variant in full, or, for a name alone, its default and a line for each other.
int show_dataset(const Context&, const ListOptions& options) {
    const catalog::Card& card = catalog::find_card(options.name);
    if (options.json) {
        print_json(encode_dataset(card));
        return 0;
    }
    std::string out = fmt::format(
        "card       {} (variant {})\nvertices   {}{}\nedges      {} as printed\nnonzeros   {} (self loops "
        "included)\nsymmetric  "
        "{}\nfeatures   {}\nclasses    {}\ntraining   {}\nsource     {}\n",
        catalog::selector_of(card), card.variant, format_count(card.vertices), card.rounded ? " (rounded)" : "",
        format_count(card.edges), format_count(card.nonzeros), card.symmetric ? "yes" : "no", cell(card.features),
        cell(card.classes) + (card.several_labels ? ", several of which a vertex may have" : ""),
        cell(card.training_vertices.value_or(0)), card.source);
    if (!card.replication.empty()) out += "cuts       " + cuts_text(card) + "\n";
    if (!card.note.empty()) out += "note       " + card.note + "\n";
    for (const catalog::Card& other : catalog::variants_of(card.name)) {
        if (other.variant == card.variant) continue;
        out += fmt::format("see also   {}: N={} nnz={}\n", catalog::selector_of(other), format_count(other.vertices),
                           format_count(other.nonzeros));
    }
    print(out);
    return 0;
}

}  // namespace

void add_datasets(CLI::App& root, Context& context) {
    CLI::App& datasets = add_command(root, "datasets", "Data set cards: sizes to plan with, without the data",
                                     "gnnplan datasets\ngnnplan datasets show reddit");
    const auto options = std::make_shared<ListOptions>();
    when_alone(add_json(datasets, options), context, options, list_datasets);
    CLI::App& list = add_command(datasets, "list", "All cards", "gnnplan datasets list\ngnnplan datasets list --json");
    on_command(add_json(list, options), context, options, list_datasets);
    CLI::App& show = add_command(datasets, "show", "One card",
                                 "gnnplan datasets show reddit\ngnnplan datasets show reddit:distgnn --json");
    show.add_option("name", options->name, "The card, or one variant of it: NAME:VARIANT")
        ->required()
        ->type_name("NAME");
    on_command(add_json(show, options), context, options, show_dataset);
}

}  // namespace gnnplan::tools
