// Reading guide: each switch has a function that makes its row. switch_words() lists the rows in the order of cells,
// places_in_help their keys in the order of --help.
#include "tools/advise/switch_words.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gnnplan::tools {
namespace {

template <auto member>
std::size_t value_at(const Configuration& configuration) {
    return static_cast<std::size_t>(configuration.*member);
}

template <auto member>
void pin_to(SelectOptions& options, std::size_t value, int /*number*/) {
    auto& pin = options.*member;
    if constexpr (std::is_same_v<decltype(pin), bool&>) {
        pin = value != 0;
    } else {
        pin = static_cast<typename std::remove_reference_t<decltype(pin)>::value_type>(value);
    }
}

template <auto member>
std::optional<std::size_t> pinned_to(const SelectOptions& options) {
    const auto& pin = options.*member;
    if constexpr (std::is_same_v<decltype(pin), const bool&>) {
        return pin ? std::optional<std::size_t>(1) : std::nullopt;
    } else {
        return pin ? std::optional(static_cast<std::size_t>(*pin)) : std::nullopt;
    }
}

// `pin` has the words; this adds how the member of the options is set and read.
template <auto member>
PinWords pin_of(PinWords pin) {
    pin.pin = pin_to<member>;
    pin.pinned = pinned_to<member>;
    return pin;
}

std::vector<FlagValue> on_off() { return {{"on", 1}, {"off", 0}}; }

std::vector<ValueWords> off_and_on(const CellWord& cell) {
    return {{"not " + cell.word, "not " + cell.word}, {cell.word, cell.word, cell}};
}

SwitchWords exchange() {
    return {
        .key = "exchange",
        .value_of = value_at<&Configuration::exchange>,
        .values = {{"no exchange", "none"},
                   {"panels", "panels", {"panels", "whole blocks of rows are sent"}},
                   {"rows", "rows", {"rows", "only the rows that a rank's edges need are sent"}},
                   {"relay", "relay", {"relay", "whole blocks of rows enter a node once, and its ranks pass them on"}},
                   {"relayed rows",
                    "relayed-rows",
                    {"relayed rows", "needed rows enter a node once, and its ranks pass them on"}}},
        .absence_differs = false,
        .pin = pin_of<&SelectOptions::exchange>(
            {.flag = "--exchange",
             .values = {{"panels", 1}, {"rows", 2}, {"relay", 3}, {"relayed-rows", 4}},
             .help = "Pin how ranks exchange rows for a sparse product: panels (whole blocks of rows are sent), "
                     "rows (only the rows that the other rank needs are sent), relay (whole blocks enter a node once, "
                     "and its ranks pass them on from one to the next) or relayed-rows (each needed row enters a node "
                     "once)",
             .no_effect = "ranks exchange no rows for the aggregation on {}",
             .remark_says_value = true,
             .applies = [](const Distribution& on) { return on.sends_rows(); }}),
    };
}

SwitchWords overlap() {
    return {
        .key = "overlap",
        .value_of = value_at<&Configuration::overlap>,
        .values = off_and_on({"overlap", "products run while rows travel"}),
        .pin = pin_of<&SelectOptions::overlap>({
            .flag = "--overlap",
            .values = on_off(),
            .help = "Pin whether panels travel while others are multiplied",
            .no_effect = "there is no exchange that a product could overlap on {}",
            .remark_says_value = true,
            .applies = [](const Distribution& on) { return on.can_overlap(); },
        }),
    };
}

SwitchWords permutation() {
    return {
        .key = "permutation",
        .value_of = value_at<&Configuration::permutation>,
        .values = off_and_on({"permuted", "vertices are shuffled, for balance"}),
        .pin = pin_of<&SelectOptions::permutation>({
            .flag = "--permute",
            .values = on_off(),
            .help = "Pin whether vertices are shuffled, so that work lies evenly",
        }),
    };
}

SwitchWords parts() {
    return {
        .key = "parts",
        .value_of = [](const Configuration& c) -> std::size_t {
            return c.parts > 1 && c.cut_rule == CutRule::none ? 1 : 0;
        },
        .values = off_and_on({"parts", "a partitioner numbers vertices, so that few edges join ranks"}),
        .count = &Configuration::parts,
        .pin = pin_of<&SelectOptions::partition>({
            .flag = "--partition",
            .help = "Let a partitioner number the vertices; the graph must be there, not a card",
        }),
    };
}

SwitchWords cut_rule() {
    return {
        .key = "cut_rule",
        .value_of = value_at<&Configuration::cut_rule>,
        .values = {{"no cut", "none"},
                   {"edges dealt by libra",
                    "libra",
                    {"libra cut", "each edge goes to a rank that has an edge of one of its ends already"}},
                   {"edges dealt by a seeded cut",
                    "seeded",
                    {"seeded cut", "edges within a part of METIS stay there, and those between parts are dealt"}},
                   {"edges dealt by smallest covers",
                    "cover",
                    {"cover cut", "edges between two parts of METIS are dealt so that the fewest vertices are split"}}},
        .pin = pin_of<&SelectOptions::cut_rule>({
            .flag = "--cut",
            .values = {{"libra", 1}, {"seeded", 2}, {"cover", 3}},
            .help = "Deal the edges to ranks by a vertex cut (--scheme cut), and pin its rule: libra (greedily), or, "
                    "with --partition, seeded (edges between METIS's parts are dealt greedily) or cover (so that they "
                    "split the fewest vertices)",
        }),
    };
}

// Where clones get sums of each other's, the flag says after how many epochs.
void pin_clones(SelectOptions& options, std::size_t value, int number) {
    options.clones = static_cast<CloneLoss>(value);
    if (number >= 0) options.delay = number;
}

SwitchWords clones() {
    return {
        .key = "clones",
        .value_of = [](const Configuration& c) { return c.delay ? 0 : static_cast<std::size_t>(c.clones); },
        .values = {{"all ranks together", "none"},
                   {"groups on clones, each by its share",
                    "shares",
                    {"0c",
                     "groups of ranks train apart on parts of a cut; every clone of a vertex counts by its share"}},
                   {"groups on clones, owners alone",
                    "owners",
                    {"0c:owners", "groups of ranks train apart on parts of a cut; the owner of a vertex counts"}}},
        .pin =
            {
                .flag = "--inexact",
                .values = {{"0c", 1}, {"0c:owners", 2}, {"cd:R", 2, true}},
                .help =
                    "Train with other results than full-batch training: groups of ranks (--grid 4x2: four of two "
                    "ranks; "
                    "default: each rank is one) on parts of a vertex cut (--cut). With 0c they exchange nothing but "
                    "gradients; 0c counts every clone of a vertex by its share of the edges, 0c:owners the owner's "
                    "alone. With cd:R clones of a vertex get each other's sums after R epochs, at most 1,000 "
                    "(DistGNN's cd-r); "
                    "cd:0, at once, which has the results of full-batch training",
                .pin = pin_clones,
                .pinned = pinned_to<&SelectOptions::clones>,
            },
    };
}

SwitchWords delay() {
    return {
        .key = "delay",
        .value_of = [](const Configuration& c) -> std::size_t { return !c.delay        ? 0
                                                                       : *c.delay == 0 ? 1
                                                                                       : 2; },
        .values = {{"groups apart", "apart"},
                   {"groups with whole sums",
                    "whole sums",
                    {"cd-0", "groups of ranks train on parts of a cut; clones of a vertex get the sum over all edges"}},
                   {"groups with late sums",
                    "late sums",
                    {"cd-r", "groups of ranks train on parts of a cut; clones get each other's sums epochs later"}}},
    };
}

SwitchWords replicated_input() {
    return {
        .key = "replicated_input",
        .value_of = value_at<&Configuration::replicated_input>,
        .values = off_and_on({"X replicated", "ranks that share columns each hold whole rows of the features"}),
    };
}

// Where ÂX is kept, that says it already; an inference reads its features once.
SwitchWords constant_input() {
    return {
        .key = "constant_input",
        .value_of = [](const Configuration& c) -> std::size_t {
            return c.constant_input && !c.cached_aggregation && !c.backward.empty() ? 1 : 0;
        },
        .values = off_and_on({"X constant", "features must not change (no dropout on them)"}),
        .pin = pin_of<&SelectOptions::constant_input>({
            .flag = "--constant-input",
            .help = "The features never change (no dropout on them), so their products can be kept across epochs",
        }),
    };
}

SwitchWords column_loss() {
    return {
        .key = "column_loss",
        .value_of = value_at<&Configuration::column_loss>,
        .values = off_and_on(
            {"loss by columns", "the loss is computed with logits split by class, so that they need not be moved"}),
    };
}

SwitchWords loss_rows() {
    return {
        .key = "loss_rows",
        .value_of = value_at<&Configuration::loss_rows>,
        .values = off_and_on({"pruned", "only rows that the loss needs are computed"}),
        .pin = pin_of<&SelectOptions::loss_rows>({
            .flag = "--loss-rows",
            .values = on_off(),
            .help = "Pin whether layers compute only the rows that the loss needs, where few vertices train",
            .no_effect = "the loss needs all rows, or the space prunes none",
            .remark_says_value = true,
        }),
    };
}

SwitchWords factored_values() {
    return {
        .key = "factored_values",
        .value_of = value_at<&Configuration::factored_values>,
        .values = off_and_on({"factored",
                              "an edge's value is row scale x column scale, so it is not stored (4 bytes less per "
                              "edge)"}),
        .pin = pin_of<&SelectOptions::factored_values>({
            .flag = "--values",
            .values = {{"stored", 0}, {"factored", 1}},
            .help = "Pin how the values of edges are stored: one value per edge (stored), or one scale per row and one "
                    "per column (factored)",
        }),
    };
}

SwitchWords scores() {
    return {
        .key = "scores",
        .value_of = value_at<&Configuration::scores>,
        .values =
            {{"scores by columns", "by columns"},
             {"scores by whole rows",
              "by whole rows",
              {"whole-row scores",
               "every rank gathers whole rows and computes its scores from them, in place of summing scores over "
               "ranks"}},
             {"scores by dealt rows",
              "by dealt rows",
              {"dealt-row scores",
               "each rank computes the scores of a part of the rows, from whole rows, and gets the others' scores"}}},
        .pin = pin_of<&SelectOptions::scores>({
            .flag = "--scores",
            .values = {{"columns", 0}, {"whole-rows", 1}, {"dealt-rows", 2}},
            .help = "Pin how ranks that share columns compute the scores of agnn's edges: from their columns, summed "
                    "over the ranks (columns); all scores on every rank, from whole rows (whole-rows); or each rank "
                    "the scores of its part of the rows, which it then sends to the others (dealt-rows)",
            .no_effect = "the model scores no edges, or ranks share no columns on {}",
        }),
    };
}

SwitchWords attention() {
    static constexpr std::size_t sddmm = 2;  // a value that the flag knows and no configuration has
    PinWords pin = pin_of<&SelectOptions::attention>({
        .flag = "--attention",
        .values = {{"recompute", 0}, {"stored", 1}, {"sddmm", sddmm}},
        .help =
            "Pin how the backward pass of gat gets attention scores: recompute them, or read those that the forward "
            "pass has stored for each edge and head (stored); sddmm is refused, because scores of gat are no "
            "products of rows",
        .no_effect = "no rank has all edges of its vertices on {}",
    });
    pin.pin = [](SelectOptions& options, std::size_t value, int) {
        if (value == sddmm) {
            throw Error(ErrorCode::usage,
                        "scores of gat are sums of one number of each end of an edge, and no products of rows (SDDMM)",
                        "--attention sddmm",
                        "write recompute or stored; scores of --model agnn are such products, see --scores");
        }
        pin_to<&SelectOptions::attention>(options, value, 0);
    };
    return {
        .key = "attention",
        .value_of = value_at<&Configuration::attention>,
        .values = {{"scores of attention recomputed", "recomputed"},
                   {"scores of attention stored",
                    "stored",
                    {"stored attention", "the backward pass reads attention scores that the forward pass has stored"}}},
        .pin = pin,
    };
}

SwitchWords ring() {
    return {
        .key = "ring",
        .value_of = value_at<&Configuration::ring>,
        .values = off_and_on({"ring",
                              "dense products exchange tiles of rows while they multiply, in place of moving whole "
                              "matrices"}),
        .pin = pin_of<&SelectOptions::ring>({
            .flag = "--ring",
            .values = on_off(),
            .help =
                "Pin whether dense products of an inference exchange tiles of rows while they multiply, in place of "
                "moving whole matrices (where matrices are split by columns)",
        }),
    };
}

std::size_t place_of(int remade) { return remade == remade_from_norms ? 1 : remade > 0 ? 2 : 0; }

SwitchWords recompute() {
    PinWords pin{
        .flag = "--recompute",
        .values = {{"off", 0}, {"activations", 1}, {"K", 2, true}},
        .help =
            "Pin whether training keeps what layers make (off), only what every K of them read, fewer than all, and "
            "makes "
            "these K again before their backward pass, or with --norm the sums that norms read, and makes what follows "
            "these again (activations): slower, in less memory. Searched where what is kept does not fit",
        .no_effect = "inferences and groups of ranks keep nothing, or all that layers make",
    };
    pin.pin = [](SelectOptions& options, std::size_t value, int number) {
        options.remade = value == 0 ? 0 : value == 1 ? remade_from_norms : number;
    };
    pin.pinned = [](const SelectOptions& options) -> std::optional<std::size_t> {
        return options.remade ? std::optional(place_of(*options.remade)) : std::nullopt;
    };
    return {
        .key = "remade",
        .value_of = [](const Configuration& c) -> std::size_t { return place_of(c.remade); },
        .values = {{"nothing recomputed", "off"},
                   {"activations recomputed",
                    "activations",
                    {"activations recomputed",
                     "what norms and activations make is made again, from the sums before them, before its backward "
                     "pass: slower, in less memory"}},
                   {"layers recomputed",
                    "on",
                    {"layers recomputed at once",
                     "so many layers are made again, from what the first of them reads, before their backward pass: "
                     "slower, in less memory"}}},
        .count = &Configuration::remade,
        .pin = pin,
    };
}

SwitchWords bf16() {
    return {
        .key = "bf16",
        .value_of = value_at<&Configuration::bf16>,
        .values = off_and_on({"bf16 operands", "sparse products round their dense operand to bfloat16"}),
        .pin = pin_of<&SelectOptions::bf16>({
            .flag = "--bf16",
            .help =
                "Let sparse products round their dense operand to bfloat16 where they pack it for the cache: results "
                "are inexact; with overlap or needed rows nothing is packed",
            .no_effect = "with overlap or needed rows nothing is packed for the cache (--overlap off --exchange "
                         "panels)",
            .no_effect_on = "the chosen configuration",
        }),
    };
}

SwitchWords wire() {
    return {
        .key = "wire",
        .value_of = value_at<&Configuration::wire>,
        .values = {{"messages of fp32", "fp32"},
                   {"bf16 messages",
                    "bf16",
                    {"bf16 messages", "what ranks send each other is rounded to bfloat16, once; sums stay fp32"}}},
        .pin = pin_of<&SelectOptions::wire>({
            .flag = "--wire",
            .values = {{"fp32", 0}, {"bf16", 1}},
            .help =
                "Let messages between ranks carry bfloat16 where that is faster (bf16); sums stay fp32, results are "
                "inexact. Default: fp32",
            .no_effect = "on this machine messages of fp32 are as fast",
        }),
    };
}

SwitchWords node_axis() {
    return {
        .key = "node_axis",
        .value_of = value_at<&Configuration::node_axis>,
        .values = {{"ranks of a node along y", "along y"},
                   {"ranks of a node along x",
                    "along x",
                    {"nodes along x", "a node has ranks with different rows, which exchange rows within it"}},
                   {"ranks of a node along z",
                    "along z",
                    {"nodes along z", "a node has ranks with different parts of sums, which add them up within it"}}},
        .pin = pin_of<&SelectOptions::node_axis>({
            .flag = "--node-axis",
            .values = {{"y", 0}, {"x", 1}, {"z", 2}},
            .help =
                "Pin along which axis of the grid ranks are numbered first, so that they share a node: y (ranks that "
                "share rows), x (ranks that have different rows) or z (ranks that add up parts of sums)",
            .no_effect = "ranks have one order on {}",
        }),
    };
}

SwitchWords exactness() {
    return {
        .key = "exact",
        .value_of = [](const Configuration& c) -> std::size_t { return exact(c) ? 0 : 1; },
        .values = {{"exact", "exact"},
                   {"inexact", "inexact", {"inexact", "outputs are not those of one rank up to rounding of float32"}}},
    };
}

constexpr std::array places_in_help = {
    "exchange", "overlap", "factored_values", "attention", "scores", "ring",           "permutation", "loss_rows",
    "bf16",     "wire",    "parts",           "cut_rule",  "clones", "constant_input", "node_axis",   "remade"};

}  // namespace

std::string SwitchWords::cell_of(const Configuration& configuration) const {
    const std::string& word = words_of(configuration).cell.word;
    const bool counted = count != nullptr && configuration.*count > 0;
    return word.empty() || !counted ? word : fmt::format("{} {}", configuration.*count, word);
}

std::string SwitchWords::flag_with(std::size_t value) const {
    const auto named =
        std::find_if(pin.values.begin(), pin.values.end(), [&](const FlagValue& each) { return each.value == value; });
    return named == pin.values.end() ? pin.flag : pin.flag + " " + named->spelling;
}

const std::vector<SwitchWords>& switch_words() {
    static const std::vector<SwitchWords> rows{exchange(),       overlap(),     permutation(), parts(),
                                               cut_rule(),       clones(),      delay(),       replicated_input(),
                                               constant_input(), column_loss(), loss_rows(),   factored_values(),
                                               scores(),         attention(),   ring(),        node_axis(),
                                               bf16(),           wire(),        recompute(),   exactness()};
    return rows;
}

const SwitchWords* find_switch_words(std::string_view key) {
    const auto& rows = switch_words();
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const SwitchWords& each) { return each.key == key; });
    return row == rows.end() ? nullptr : &*row;
}

std::vector<const SwitchWords*> pinnable_switches() {
    std::vector<const SwitchWords*> rows;
    rows.reserve(std::size(places_in_help));
    for (const char* key : places_in_help) rows.push_back(find_switch_words(key));
    return rows;
}

void pin_switch(SelectOptions& options, std::string_view key, std::string_view spelling) {
    const SwitchWords* row = find_switch_words(key);
    ensure(row != nullptr && row->pin.pin != nullptr, "no such switch can be pinned");
    const std::vector<FlagValue>& values = row->pin.values;
    const auto named = std::ranges::find_if(values, [&](const FlagValue& each) { return each.is(spelling); });
    ensure(named != values.end() || values.empty(), "a flag has checked its values");
    row->pin.pin(options, values.empty() ? 1 : named->value, values.empty() ? 0 : named->number_in(spelling));
}

std::string recomputed_text(const Configuration& configuration) {
    return find_switch_words("remade")->cell_of(configuration);
}

std::string inexact_way(const Configuration& configuration) {
    if (configuration.delay) return "cd:" + std::to_string(*configuration.delay);
    return configuration.clones == CloneLoss::none     ? ""
           : configuration.clones == CloneLoss::owners ? "0c:owners"
                                                       : "0c";
}

bool PinWords::takes(std::string_view text) const {
    return std::ranges::any_of(values, [&](const FlagValue& value) { return value.is(text); });
}

bool FlagValue::is(std::string_view text) const { return numbered ? number_in(text) >= 0 : text == spelling; }

int FlagValue::number_in(std::string_view text) const {
    const std::string_view before = std::string_view(spelling).substr(0, spelling.size() - 1);
    if (!numbered || !text.starts_with(before)) return -1;
    const int number = number_from<int>(text.substr(before.size())).value_or(-1);
    return number >= 0 && number <= most_delay ? number : -1;
}

}  // namespace gnnplan::tools
