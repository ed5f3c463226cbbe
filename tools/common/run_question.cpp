#include "tools/common/run_question.hpp"

#include "tools/common/options.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/optimiser.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

// As users choose them: momentum is that of SGD, and has a flag of its own.
std::vector<std::string> optimisers() {
    std::vector<std::string> names;
    for (const OptimiserRule& rule : optimiser_rules) {
        if (&rule != &rule_of(Optimiser::momentum)) names.emplace_back(rule.name);
    }
    return names;
}

}  // namespace

void add_run_question(CLI::App& app, RunQuestion& question, bool of_a_plan) {
    const auto otherwise = [&](const char* value) {
        return std::string("; default: ") + (of_a_plan ? "the plan's, which is " : "") + value +
               (of_a_plan ? " unless it was asked" : "");
    };
    // Elements that are kept are scaled by 1 / (1 - p), in floats.
    const auto probability = [](double x) { return x >= 0 && static_cast<float>(x) < 1; };
    const std::string probabilities = "at least 0 and below 1";
    // Dropout is keyed by 32 bits of the epoch's number.
    constexpr std::int64_t most_epochs = std::numeric_limits<std::int32_t>::max();
    add_count(app, "--epochs", question.epochs, "Epochs to train" + otherwise("200"), {1, most_epochs});
    add_number(
        app, "--dropout", question.dropout, probability, probabilities,
        "Probability of dropping an element of any layer's input, the features included (of agnn: of the features, and "
        "before the last map)");
    add_number(app, "--input-dropout", question.input_dropout, probability, probabilities,
               "The same for the features only, in place of --dropout");
    add_number(app, "--attention-dropout", question.attention_dropout, probability, probabilities,
               "Probability of dropping a weight of gat's attention, of each edge and head" + otherwise("0"));
    add_count(
        app, "--eval-every", question.eval_every,
        "Epochs between evaluations; the last epoch is evaluated too; 0: never; default: chosen so that evaluation "
        "takes at most 10 % of the predicted training time",
        {0, most_epochs});
    app.add_option("--optimizer", question.optimizer,
                   fmt::format("How weights are updated: {}{}", fmt::join(optimisers(), ", "), otherwise("adam")))
        ->check(CLI::IsMember(optimisers()))
        ->type_name("NAME");
    add_number(app, "--momentum", question.momentum, probability, probabilities, "Momentum of SGD" + otherwise("0"));
    app.add_option(
           "--feature-norm", question.feature_norm,
           "Whether each vertex's features are divided by the sum of their magnitudes: none, row" + otherwise("none"))
        ->check(CLI::IsMember({"none", "row"}))
        ->type_name("KIND");
}

namespace {

void take_optimiser(const RunQuestion& question, RunRecord& run) {
    if (question.optimizer) {
        const auto rule = std::ranges::find(optimiser_rules, *question.optimizer, &OptimiserRule::name);
        run.optimiser = static_cast<Optimiser>(rule - optimiser_rules.begin());
    }
    const bool sgd = run.optimiser == Optimiser::sgd || run.optimiser == Optimiser::momentum;
    if (!sgd && question.momentum.value_or(0) > 0)
        throw Error(ErrorCode::usage, std::string(rule_of(run.optimiser).name) + " has no momentum to set",
                    "--momentum", "use --optimizer sgd");
    run.momentum = sgd ? question.momentum.value_or(run.momentum) : 0;
    if (sgd) run.optimiser = run.momentum > 0 ? Optimiser::momentum : Optimiser::sgd;
}

}  // namespace

void refuse_training_questions(const RunQuestion& question) {
    const std::pair<bool, const char*> questions[] = {{question.epochs.has_value(), "--epochs"},
                                                      {question.dropout.has_value(), "--dropout"},
                                                      {question.input_dropout.has_value(), "--input-dropout"},
                                                      {question.attention_dropout.has_value(), "--attention-dropout"},
                                                      {question.eval_every.has_value(), "--eval-every"},
                                                      {question.optimizer.has_value(), "--optimizer"},
                                                      {question.momentum.has_value(), "--momentum"}};
    for (const auto& [given, name] : questions) refuse_of_training(given, name);
}

void refuse_of_training(bool given, const char* name) {
    if (given) throw Error(ErrorCode::usage, "is of training, and this is inference", name, "leave it out");
}

RunRecord run_record(const RunQuestion& question, const RunRecord& planned) {
    RunRecord run = planned;
    run.epochs = question.epochs.value_or(planned.epochs);
    if (question.eval_every) run.eval_every = question.eval_every;
    if (question.dropout || question.input_dropout) {
        run.dropout = question.dropout;
        run.input_dropout = question.input_dropout;
    }
    run.attention_dropout = question.attention_dropout.value_or(planned.attention_dropout);
    take_optimiser(question, run);
    if (question.feature_norm)
        run.feature_norm = *question.feature_norm == "row" ? FeatureNorm::row : FeatureNorm::none;
    return run;
}

}  // namespace gnnplan::tools
