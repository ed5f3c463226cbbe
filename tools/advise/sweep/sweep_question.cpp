#include "tools/advise/sweep/sweep_question.hpp"

#include "planner/io/enum_names.hpp"
#include "tools/advise/feature_dropout.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/advise/sweep/sweep_variation.hpp"
#include "tools/text/option_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::size_t max_points = 10000;

Problem problem_of(const Question& question) {
    Problem problem = with_shape(*question.loaded, question.shape);
    problem.record.space = question.search.space == SearchSpace::paper ? "paper" : "full";
    if (question.network.batches) {
        problem.record.batches = question.network.batches;
        problem.record.batches->sampling.seed = question.reading.seed;
    }
    return problem;
}

// There is no such network, or no such graph for it.
SelectResult refused(const Error& error) {
    SelectResult none;
    none.code = error.code();
    none.message = error.what();
    return none;
}

SelectResult answer(Question& question, SweepGraphs& graphs) {
    try {
        question.loaded = &graphs.of(question);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        return refused(error);
    }
    return answer(std::as_const(question));
}

SweepPoint plan_point(Question question, SweepGraphs& graphs) {
    SweepPoint point;
    SelectResult result = answer(question, graphs);
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

void check_points(const std::vector<Variation>& variations) {
    std::size_t count = 1;
    for (const Variation& variation : variations) {
        count *= variation.settings.size();
        if (count > max_points) throw Error(ErrorCode::usage, fmt::format("more than {} points", max_points), "--vary");
    }
}

// All that decides which graph is read, and which of its matrices are made, as text.
std::string text_of(const Question& question) {
    const Shape& shape = question.shape;
    const ModelRecord& model = question.network.model;
    std::string text =
        fmt::format("{},{},{},{},{},{},{},{},{}", shape.graph, shape.vertices.value_or(0), shape.nonzeros.value_or(0),
                    model.name, model.aggregator, model.heads, io::name_of(question.network.task),
                    question.reading.normalisation ? io::name_of(*question.reading.normalisation) : "",
                    fmt::join(question.network.fanout, "/"));
    if (question.network.batches) text += ",batches";
    // A number of neighbours is that of every layer, and what a file lacks is generated.
    if (!question.network.fanout.empty()) text += fmt::format(",{} layers", shape.layers.value_or(0));
    if (reads_graph(shape)) text += fmt::format(",{},{}", shape.features.value_or(0), shape.classes.value_or(0));
    return text;
}

}  // namespace

const LoadedProblem& SweepGraphs::of(const Question& question) {
    const std::string text = text_of(question);
    const auto found = loaded_.find(text);
    return found != loaded_.end() ? found->second : loaded_.emplace(text, read_(question)).first->second;
}

SelectResult answer(const Question& question) {
    Problem problem;
    try {
        problem = problem_of(question);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        return refused(error);
    }
    SelectOptions options = question.search;
    options.alternatives = false;  // of thousands of plans nobody asks
    return select(problem, question.machine, options);
}

std::optional<SelectResult> answer_otherwise(const Question& question, const Configuration& chosen) {
    return select_otherwise(problem_of(question), question.machine, question.search, chosen);
}

Sweep run_sweep(const Question& question, std::vector<Variation> variations, SweepGraphs& graphs,
                const Progress& progress) {
    check_points(variations);
    Sweep sweep{std::move(variations), {}, question.machine, question.loaded->problem.record};
    const auto all = combinations(sweep.variations);
    for (const auto& at : all) with_settings(question, sweep.variations, at);  // wrong usage shows before long work
    for (const auto& at : all) {
        progress(sweep.points.size(), all.size());
        Question asked = with_settings(question, sweep.variations, at);
        std::shared_ptr<const Machine> other;
        if (asked.machine.name != question.machine.name) other = std::make_shared<Machine>(asked.machine);
        SweepPoint point = plan_point(std::move(asked), graphs);
        point.at = at;
        point.machine = std::move(other);
        sweep.points.push_back(std::move(point));
    }
    check_answered(sweep);
    return sweep;
}

}  // namespace gnnplan::tools
