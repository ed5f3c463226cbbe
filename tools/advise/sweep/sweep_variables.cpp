#include "tools/advise/sweep/sweep_variables.hpp"

#include "planner/catalog/cards.hpp"
#include "planner/catalog/suggest.hpp"
#include "planner/io/enum_names.hpp"
#include "planner/io/files.hpp"
#include "tools/advise/sweep/sweep_link.hpp"
#include "tools/advise/switch_words.hpp"
#include "tools/ask/machine.hpp"
#include "tools/text/counts.hpp"
#include "tools/text/format.hpp"
#include "tools/text/sampler.hpp"

#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace gnnplan::tools {
namespace {

std::int64_t whole(const Setting& setting) { return static_cast<std::int64_t>(*setting.number); }

template <std::int64_t most>
double read_count(const std::string& text) {
    return static_cast<double>(parse_count(text, {1, most}));
}
double read_size(const std::string& text) { return static_cast<double>(parse_size(text)); }

// Network shapes follow from features, hidden, layers and classes only where the widths are not all given.
void check_widths(const Question& question, const char* name) {
    if (question.shape.widths.empty()) return;
    throw Error(ErrorCode::usage, std::string("--widths leaves ") + name + " nothing to vary", "--vary");
}

[[noreturn]] void refuse(const std::string& what, const std::string& text, const std::string& hint) {
    throw Error(ErrorCode::usage, "there is no " + what + " '" + text + "'", "--vary", hint);
}

void check_one_of(const std::string& what, const std::string& text, const std::vector<std::string>& names) {
    if (std::ranges::find(names, text) == names.end()) refuse(what, text, fmt::format("{}", fmt::join(names, ", ")));
}

// A family of schemes; "full" and "paper" are the spaces with every family they have.
void apply_scheme(Question& question, const Setting& setting) {
    question.search.scheme.reset();
    if (setting.text == "full" || setting.text == "paper") {
        question.search.space = setting.text == "paper" ? SearchSpace::paper : SearchSpace::full;
        return;
    }
    const std::vector<std::string>& names = scheme_names();
    if (std::find(names.begin(), names.end(), setting.text) == names.end()) {
        refuse("scheme", setting.text, fmt::format("{}; full and paper search all of a space", fmt::join(names, ", ")));
    }
    question.search.scheme = setting.text;
}

// A card or a path, in place of whatever graph there was.
void apply_graph(Question& question, const Setting& setting) {
    if (!is_card(setting.text) && !io::is_there(setting.text)) {
        throw Error(ErrorCode::missing_input, "there is no such file or folder, and no such data set card",
                    setting.text, catalog::name_hint(setting.text, catalog::card_names()));
    }
    question.shape.graph = setting.text;
    question.shape.vertices.reset();
    question.shape.nonzeros.reset();
}

void check_sizes_alone(const Question& question, const char* name) {
    if (question.shape.graph.empty()) return;
    throw Error(ErrorCode::usage, fmt::format("--graph leaves {} nothing to vary", name), "--vary",
                "give --vertices and --nonzeros in its place");
}

// "sage", or "sage:gcn" with the way to aggregate. Settings that only other models have are left out.
void apply_model(Question& question, const Setting& setting) {
    ModelRecord& model = question.network.model;
    const std::size_t colon = std::min(setting.text.find(':'), setting.text.size());
    const std::string name = setting.text.substr(0, colon);
    std::string aggregator = setting.text.substr(std::min(colon + 1, setting.text.size()));
    if (aggregator.empty() && name == model.name) aggregator = model.aggregator;
    model.aggregator = models::find(name, aggregator).name;
    model.name = name;
    model = models::with_own_settings(std::move(model));
}

// "full", a number for all layers, or one for each: "10/10/5".
void apply_fanout(Question& question, const Setting& setting) {
    question.network.fanout.clear();
    if (setting.text == "full") return;
    question.network.fanout = parse_counts(setting.text, '/', {1, std::numeric_limits<std::int32_t>::max()});
}

// "full", or as --sampler takes it; the rest of what is said of batches stays.
void apply_sampler(Question& question, const Setting& setting) {
    std::optional<Batches>& batches = question.network.batches;
    if (setting.text == "full") return batches.reset();
    const Batches before = batches.value_or(Batches());
    batches = before;
    Sampling& sampling = batches->sampling;
    sampling = parse_sampler(setting.text, "--vary sampler");
    sampling.coverage = before.sampling.coverage;
    sampling.coefficients = before.sampling.coefficients;
    sampling.training_graph = before.sampling.training_graph;
}

// An update of the whole graph is of no batches, whatever their number.
void apply_per_update(Question& question, const Setting& setting) {
    if (question.network.batches) question.network.batches->per_update = static_cast<int>(whole(setting));
}

void apply_machine(Question& question, const Setting& setting) {
    question.machine = load_machine(setting.text, question.shape.ranks, question.ranks_per_node).machine;
}

void apply_normalisation(Question& question, const Setting& setting) {
    for (const Normalisation kind : {Normalisation::symmetric, Normalisation::row_mean, Normalisation::none}) {
        if (io::name_of(kind) != setting.text) continue;
        question.reading.normalisation = kind;
        return;
    }
    refuse("normalisation", setting.text, "symmetric, row_mean, none");
}

void apply_space(Question& question, const Setting& setting) {
    check_one_of("space", setting.text, {"full", "paper"});
    question.search.space = setting.text == "paper" ? SearchSpace::paper : SearchSpace::full;
}

Variable name_variable(const char* name, const char* example, std::function<void(Question&, const Setting&)> apply) {
    return {name, name, example, "", nullptr, std::move(apply)};
}

// A number of the network's widths.
template <auto member, std::int64_t most>
Variable width_variable(const char* name, const char* example) {
    return {name, name, example, "", read_count<most>, [name](Question& q, const Setting& s) {
                check_widths(q, name);
                q.shape.*member = whole(s);
            }};
}

template <auto member, std::int64_t most>
Variable size_variable(const char* name, const char* example) {
    return {name, name, example, "", read_count<most>, [name](Question& q, const Setting& s) {
                check_sizes_alone(q, name);
                q.shape.*member = whole(s);
            }};
}

// The variable of a switch takes the values that the switch's flag takes.
Variable switch_variable(const SwitchWords& row) {
    std::vector<std::string> values;
    for (const FlagValue& value : row.pin.values) values.push_back(value.spelling);
    const std::string name = row.pin.flag.substr(2), key = row.key;
    return {
        name, key, fmt::format("{}", fmt::join(values, ",")), "", nullptr, [=, &row](Question& q, const Setting& s) {
            if (!row.pin.takes(s.text)) check_one_of("value of " + name, s.text, values);
            pin_switch(q.search, key, s.text);
        }};
}

// These variables describe the problem: the graph, the network and the machine.
std::vector<Variable> problem_variables() {
    return {{"ranks", "ranks", "2,4,8", "", read_count<max_ranks>,
             [](Question& q, const Setting& s) { q.shape.ranks = whole(s); }},
            name_variable("graph", "reddit,ogbn-products", apply_graph),
            size_variable<&Shape::vertices, max_vertices>("vertices", "1M,2M,4M"),
            size_variable<&Shape::nonzeros, max_nonzeros>("nonzeros", "10M,100M"),
            name_variable("fanout", "5,10,20,full", apply_fanout),
            name_variable("sampler", "walk:3000:2,node:6000,full", apply_sampler),
            {"batches-per-update", "batches_per_update", "1,2,4", "", read_count<max_ranks>, apply_per_update},
            name_variable("model", "gcn,sage,gat", apply_model),
            {"heads", "heads", "1,4,8", "", read_count<max_heads>,
             [](Question& q, const Setting& s) {
                 q.network.model.heads = static_cast<int>(whole(s));
                 q.network.model = models::with_own_settings(std::move(q.network.model));
             }},
            name_variable("normalisation", "symmetric,row_mean", apply_normalisation),
            width_variable<&Shape::features, max_width>("features", "64,128"),
            width_variable<&Shape::hidden, max_width>("hidden", "64,128"),
            width_variable<&Shape::classes, max_width>("classes", "16,64"),
            width_variable<&Shape::layers, max_layers>("layers", "2,3,4"),
            name_variable("machine", "a6000x8,dgx-a100", apply_machine),
            {"bandwidth", "bandwidth_bytes_per_second", "10GB,100GB", "GB", read_size,
             [](Question& q, const Setting& s) {
                 set_bandwidth(q.machine, q.machine.intra_node, *s.number);
                 set_bandwidth(q.machine, q.machine.inter_node, *s.number);
             }},
            {"memory", "memory_bytes", "16GiB,32GiB", "GiB", read_size,
             [](Question& q, const Setting& s) { q.search.memory_per_rank = whole(s); }}};
}

// These variables choose how the problem is computed.
std::vector<Variable> choice_variables() {
    std::vector<Variable> variables{
        name_variable("space", "full,paper", apply_space),
        name_variable("scheme", "1d,rdm,full", apply_scheme),
        {"replication", "replication", "1,2,4", "", read_count<max_ranks>,
         [](Question& q, const Setting& s) { q.search.replication = static_cast<int>(whole(s)); }},
        name_variable("grid", "2x4,4x2", [](Question& q, const Setting& s) { q.search.grid = parse_grid(s.text); }),
        name_variable("extras", "on,off",
                      [](Question& q, const Setting& s) {
                          check_one_of("value of extras", s.text, {"on", "off"});
                          q.search.extras = s.text == "on";
                      }),
        name_variable("forward", "SS,SD",
                      [](Question& q, const Setting& s) { q.search.forward = parse_orders(s.text); }),
        name_variable("backward", "SS,SD",
                      [](Question& q, const Setting& s) { q.search.backward = parse_orders(s.text); })};
    for (const SwitchWords* row : pinnable_switches()) {
        if (!row->pin.values.empty()) variables.push_back(switch_variable(*row));
    }
    return variables;
}

}  // namespace

const std::vector<Variable>& all_variables() {
    static const std::vector<Variable> all = [] {
        std::vector<Variable> variables = problem_variables();
        std::ranges::move(choice_variables(), std::back_inserter(variables));
        return variables;
    }();
    return all;
}

}  // namespace gnnplan::tools
