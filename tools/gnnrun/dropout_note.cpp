#include "tools/gnnrun/dropout_note.hpp"

#include "runtime/train/match.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gnnplan::tools {
namespace {

// Probabilities, of the inputs of layers after the first and of the features.
struct Dropout {
    double layers = 0, features = 0;
    bool any() const { return layers > 0 || features > 0; }
    bool drops_like(const Dropout& other) const {
        return (layers > 0) == (other.layers > 0) && (features > 0) == (other.features > 0);
    }
};

Dropout dropout_of(const RunRecord& run) {
    const double layers = run.dropout.value_or(0);
    return {layers, run.input_dropout.value_or(layers)};
}

// The flags that ask for it.
std::string text_of(const Dropout& dropout) {
    if (dropout.layers == dropout.features) return fmt::format("--dropout {}", dropout.layers);
    const std::string features = fmt::format("--input-dropout {}", dropout.features);
    return dropout.layers == 0 ? features : fmt::format("--dropout {} {}", dropout.layers, features);
}

// "candidate 3", "candidates 1 to 5", "candidates 1, 2 and 4"
std::string named(const std::vector<int>& numbers) {
    if (numbers.size() == 1) return fmt::format("candidate {}", numbers.front());
    const bool run = numbers.back() - numbers.front() + 1 == std::ssize(numbers);
    if (run && numbers.size() > 2) return fmt::format("candidates {} to {}", numbers.front(), numbers.back());
    return fmt::format("candidates {} and {}", fmt::join(numbers.begin(), numbers.end() - 1, ", "), numbers.back());
}

// From 1: those that keep what needs features that never change.
std::vector<int> of_constant_features(const Plan& plan) {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
        if (plan.candidates[i].configuration.constant_input) numbers.push_back(static_cast<int>(i) + 1);
    }
    return numbers;
}

std::string left_out(const Plan& plan, const std::vector<int>& lost, const train::TrainOptions& options) {
    const auto seconds = [&](int index) {
        const double predicted = plan.candidates[static_cast<std::size_t>(index)].predicted.epoch_seconds;
        return format_seconds(predicted, plan.machine);
    };
    return fmt::format(
        "{} of {} cannot be used: what they keep needs features that never change, and this run drops some with "
        "probability {}; an epoch is then predicted to take {} instead of {}. --input-dropout 0 keeps them",
        named(lost), plan.candidates.size(), options.features_dropout(),
        seconds(train::usable_candidates(plan, options).front()), seconds(0));
}

// What the other dropout does to the plan.
std::string consequence(const Plan& plan, const Dropout& asked, const train::TrainOptions& options) {
    const std::vector<int> constant = of_constant_features(plan);
    if (asked.features > 0 && !constant.empty()) return left_out(plan, constant, options);
    if (asked.features > 0 && plan.problem.run.drops_features() == false) {
        return "no time is predicted for dropping features";
    }
    if (asked.features == 0 && dropout_of(plan.problem.run).features > 0 && constant.empty()) {
        return "none of its candidates keeps what needs features that never change, though that is often faster";
    }
    return "other weights are learnt, and bytes, memory and times are predicted alike for both";
}

}  // namespace

std::optional<std::string> dropout_note(const Plan& plan, const RunFlags& flags, const train::TrainOptions& options) {
    const Dropout planned = dropout_of(plan.problem.run), asked{options.dropout, options.features_dropout()};
    const bool lost = asked.features > 0 && !of_constant_features(plan).empty();
    const bool given = flags.question.dropout || flags.question.input_dropout;
    if (!given && planned.any() && !lost) {
        return fmt::format(
            "note: the plan was made with {}, and this run takes that over: inputs of layers are dropped at random "
            "while it trains; --dropout 0 trains without",
            text_of(planned));
    }
    if (planned.drops_like(asked) && !lost) return std::nullopt;
    return fmt::format(
        "note: the plan was made {}, and this run has {}: {}; gnnplan plan {} plans for it, {} trains as "
        "planned",
        planned.any() ? "with " + text_of(planned) : "without --dropout", text_of(asked),
        consequence(plan, asked, options), text_of(asked), text_of(planned));
}

}  // namespace gnnplan::tools
