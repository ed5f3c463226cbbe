#include "tools/advise/sweep/sweep_question.hpp"
#include "tools/advise/sweep/sweep_link.hpp"

#include "tools/advise/feature_dropout.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/text/counts.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/option_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::size_t max_points = 10000;

std::int64_t whole(const Setting& setting) { return static_cast<std::int64_t>(*setting.number); }

// A variable of a sweep: how a value is read and what it changes.
struct Variable {
    const char* name;
    const char* key;
    const char* example;                 // values as they are written
    const char* unit;                    // of a number written without one, in hints
    double (*read)(const std::string&);  // nullptr: a name
    void (*apply)(Question&, const Setting&);
};

double read_ranks(const std::string& text) { return static_cast<double>(parse_count(text, {1, max_ranks})); }
double read_width(const std::string& text) { return static_cast<double>(parse_count(text, {1, max_width})); }
double read_layers(const std::string& text) { return static_cast<double>(parse_count(text, {1, max_layers})); }
double read_size(const std::string& text) { return static_cast<double>(parse_size(text)); }

// Network shapes follow from hidden and layers only where the widths are not all given.
void check_widths(const Question& question, const char* name) {
    if (question.shape.widths.empty()) return;
    throw Error(ErrorCode::usage, std::string("--widths leaves ") + name + " nothing to vary", "--vary");
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
        throw Error(ErrorCode::usage, "there is no scheme '" + setting.text + "'", "--vary",
                    fmt::format("{}; full and paper search all of a space", fmt::join(names, ", ")));
    }
    question.search.scheme = setting.text;
}

constexpr std::array<Variable, 8> variables{
    {{"ranks", "ranks", "2,4,8", "", read_ranks, [](Question& q, const Setting& s) { q.shape.ranks = whole(s); }},
     {"replication", "replication", "1,2,4", "", read_ranks,
      [](Question& q, const Setting& s) { q.search.replication = static_cast<int>(whole(s)); }},
     {"hidden", "hidden", "64,128", "", read_width,
      [](Question& q, const Setting& s) {
          check_widths(q, "hidden");
          q.shape.hidden = whole(s);
      }},
     {"layers", "layers", "2,3,4", "", read_layers,
      [](Question& q, const Setting& s) {
          check_widths(q, "layers");
          q.shape.layers = whole(s);
      }},
     {"bandwidth", "bandwidth_bytes_per_second", "10GB,100GB", "GB", read_size,
      [](Question& q, const Setting& s) {
          set_bandwidth(q.machine, q.machine.intra_node, *s.number);
          set_bandwidth(q.machine, q.machine.inter_node, *s.number);
          q.machine.network_cards.reset();
          q.machine.all_to_all.reset();
      }},
     {"memory", "memory_bytes", "16GiB,32GiB", "GiB", read_size,
      [](Question& q, const Setting& s) { q.search.memory_per_rank = whole(s); }},
     {"scheme", "scheme", "1d,rdm,full", "", nullptr, apply_scheme},
     {"grid", "grid", "2x4,4x2", "", nullptr,
      [](Question& q, const Setting& s) { q.search.grid = parse_grid(s.text); }}}};

const Variable& variable(const std::string& name) {
    const auto* found =
        std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return name == v.name; });
    if (found != variables.end()) return *found;
    throw Error(ErrorCode::usage, "'" + name + "' cannot be varied", "--vary",
                fmt::format("{}", fmt::join(variation_names(), ", ")));
}

// "2:8" -> "2,4,8"; "" for any other text.
std::string doubled_list(const std::string& text) {
    std::int64_t low = 0, high = 0;
    const char* const end = text.data() + text.size();
    const auto [colon, error] = std::from_chars(text.data(), end, low);
    if (error != std::errc() || colon == end || (*colon != ':' && *colon != '-') || low < 1) return "";
    const auto [last, second_error] = std::from_chars(colon + 1, end, high);
    if (second_error != std::errc() || last != end || high <= low || high > max_width) return "";
    std::string list = std::to_string(low);
    while (low <= high / 2) list += "," + std::to_string(low *= 2);
    return low < high ? list + "," + std::to_string(high) : list;
}

// How to write values: those that `text` seems to mean, else an example.
std::string how_to_write(const Variable& varied, const std::string& text) {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    const bool needs_unit = *varied.unit != '\0';
    const std::string list = doubled_list(text);
    std::string meant;
    for (const std::string& value : split(list.empty() ? text : list, ",")) {
        meant += (meant.empty() ? "" : ",") + value + varied.unit;
    }
    const bool known = !list.empty() || (needs_unit && digits);
    const char* how = !known       ? "write for example"
                      : needs_unit ? "write every value with its unit:"
                                   : "write every value:";
    return fmt::format("{} --vary {}={}", how, varied.name, known ? meant : varied.example);
}

// Throws Error{usage} that names what varies and shows how to write it.
double read_number(const Variable& varied, const std::string& text) {
    try {
        return varied.read(text);
    } catch (const Error& error) {
        std::string what = error.what();
        if (!error.hint().empty()) what.erase(what.rfind(" (" + error.hint()));
        throw Error(ErrorCode::usage, what, fmt::format("--vary {}", varied.name), how_to_write(varied, text));
    }
}

Problem problem_of(const Question& question) {
    Problem problem = with_shape(*question.loaded, question.shape);
    problem.record.space = question.search.space == SearchSpace::paper ? "paper" : "full";
    return problem;
}

SweepPoint plan_point(const Question& question) {
    SweepPoint point;
    SelectResult result = answer(question);
    if (result.code == ErrorCode::internal && !result) throw Error(result.code, result.message);
    if (!result) {
        point.code = result.code;
        if (result.infeasible) {
            point.smallest_ranks = result.infeasible->smallest_ranks;
            point.needed_bytes = result.infeasible->needed_bytes;
            point.memory_limit = result.infeasible->available_bytes;
        }
        point.why = result.infeasible ? infeasible_text(*result.infeasible) : with_dashes(result.message);
        return point;
    }
    point.best = result.selection->ranked.front();
    point.pareto = time_memory_front(result.selection->ranked);
    point.memory_limit = result.selection->memory_per_rank;
    point.rejected = std::move(result.selection->rejected);
    if (const auto otherwise = answer_otherwise(question, point.best->configuration)) {
        if (*otherwise) point.otherwise = otherwise->selection->ranked.front();
        point.otherwise_over_memory = otherwise->infeasible.has_value();
    }
    return point;
}

void check_answered(const Sweep& sweep) {
    const bool any = std::any_of(sweep.points.begin(), sweep.points.end(), [](const SweepPoint& point) {
        return point.best.has_value() || point.code == ErrorCode::infeasible;
    });
    if (!any) throw Error(sweep.points.front().code, sweep.points.front().why);
}

}  // namespace

SelectResult answer(const Question& question) {
    Problem problem;
    try {
        problem = problem_of(question);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        SelectResult none;  // there is no network of this shape
        none.code = error.code();
        none.message = error.what();
        return none;
    }
    SelectOptions options = question.search;
    options.alternatives = false;  // of thousands of plans nobody asks
    return select(problem, question.machine, options);
}

std::optional<SelectResult> answer_otherwise(const Question& question, const Configuration& chosen) {
    return select_otherwise(problem_of(question), question.machine, question.search, chosen);
}

Variation parse_variation(const std::string& text) {
    const std::size_t equals = text.find('=');
    const Variable& varied = variable(text.substr(0, equals));
    if (equals == std::string::npos) {
        throw Error(ErrorCode::usage, "'" + text + "' names no values", "--vary", how_to_write(varied, ""));
    }
    Variation variation{varied.name, varied.key, {}};
    for (std::size_t begin = equals + 1; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        Setting setting{text.substr(begin, end - begin), std::nullopt};
        if (setting.text.empty()) throw Error(ErrorCode::usage, "'" + text + "' has an empty value", "--vary");
        if (varied.read != nullptr) setting.number = read_number(varied, setting.text);
        variation.settings.push_back(std::move(setting));
        begin = end + 1;
    }
    return variation;
}

std::vector<std::string> variation_names() {
    std::vector<std::string> names;
    names.reserve(std::size(variables));
    for (const Variable& v : variables) names.emplace_back(v.name);
    return names;
}

Question with_settings(Question question, const std::vector<Variation>& variations,
                       const std::vector<std::size_t>& at) {
    for (std::size_t v = 0; v < variations.size(); ++v) {
        variable(variations[v].name).apply(question, variations[v].settings[at[v]]);
    }
    return question;
}

Sweep run_sweep(const Question& question, std::vector<Variation> variations, const Progress& progress) {
    std::size_t count = 1;
    for (std::size_t v = 0; v < variations.size(); ++v) {
        count *= variations[v].settings.size();
        if (count > max_points) {
            throw Error(ErrorCode::usage, fmt::format("more than {} points", max_points), "--vary");
        }
        for (std::size_t other = 0; other < v; ++other) {
            if (variations[other].name != variations[v].name) continue;
            throw Error(ErrorCode::usage, variations[v].name + " varies twice", "--vary");
        }
    }
    Sweep sweep{std::move(variations), {}, question.machine, question.loaded->problem.record};
    const auto all = combinations(sweep.variations);
    for (const auto& at : all) with_settings(question, sweep.variations, at);  // wrong usage shows before long work
    for (const auto& at : all) {
        progress(sweep.points.size(), count);
        SweepPoint point = plan_point(with_settings(question, sweep.variations, at));
        point.at = at;
        sweep.points.push_back(std::move(point));
    }
    check_answered(sweep);
    return sweep;
}

}  // namespace gnnplan::tools
