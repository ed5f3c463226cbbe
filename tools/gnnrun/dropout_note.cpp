#include "tools/gnnrun/dropout_note.hpp"

#include "runtime/deploy/match.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gnnplan::tools {
namespace {

// Probabilities, of the inputs of layers after the first, of the features, and of weights of attention.
struct Dropout {
    double layers = 0, features = 0, attention = 0;
    bool any() const { return layers > 0 || features > 0 || attention > 0; }
    bool drops_like(const Dropout& other) const {
        return (layers > 0) == (other.layers > 0) && (features > 0) == (other.features > 0) &&
               (attention > 0) == (other.attention > 0);
    }
};

Dropout dropout_of(const RunRecord& run) {
    const double layers = run.dropout.value_or(0);
    return {layers, run.input_dropout.value_or(layers), run.attention_dropout};
}

// The flags that turn it off.
std::string without(const Dropout& dropout) {
    if (dropout.attention == 0) return "--dropout 0";
    return dropout.layers > 0 || dropout.features > 0 ? "--dropout 0 --attention-dropout 0" : "--attention-dropout 0";
}

// The flags that ask for it, where another run asks for `other`.
std::string text_of(const Dropout& dropout, const Dropout& other) {
    std::vector<std::string> flags;
    if (dropout.layers > 0) flags.push_back(fmt::format("--dropout {}", dropout.layers));
    if (dropout.features != dropout.layers) flags.push_back(fmt::format("--input-dropout {}", dropout.features));
    if (dropout.attention > 0) flags.push_back(fmt::format("--attention-dropout {}", dropout.attention));
    return flags.empty() ? without(other) : fmt::format("{}", fmt::join(flags, " "));
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
        seconds(deploy::usable_candidates(plan, options.features_dropout()).front()), seconds(0));
}

// The effect of the other dropout on the plan.
std::string consequence(const Plan& plan, const Dropout& asked, const train::TrainOptions& options) {
    const std::vector<int> constant = of_constant_features(plan);
    if (asked.features > 0 && !constant.empty()) return left_out(plan, constant, options);
    if (asked.features > 0 && plan.problem.run.drops_features() == false) {
        return "no time is predicted for dropping features";
    }
    if (asked.features == 0 && dropout_of(plan.problem.run).features > 0 && constant.empty()) {
        return "none of its candidates keeps what needs features that never change, though that is often faster";
    }
    const bool drops_planned = plan.problem.run.attention_dropout > 0;
    if ((asked.attention > 0) != drops_planned)
        return fmt::format("{} time is predicted for dropping weights of attention", drops_planned ? "some" : "no");
    return "other weights are learnt, and bytes, memory and times are predicted alike for both";
}

}  // namespace

std::optional<std::string> dropout_note(const Plan& plan, const RunFlags& flags, const train::TrainOptions& options) {
    const Dropout planned = dropout_of(plan.problem.run),
                  asked{options.dropout, options.features_dropout(), options.attention_dropout};
    const bool lost = asked.features > 0 && !of_constant_features(plan).empty();
    const RunQuestion& question = flags.question;
    const bool given = question.dropout || question.input_dropout || question.attention_dropout;
    if (!given && planned.any() && !lost) {
        const bool inputs = planned.layers > 0 || planned.features > 0;
        return fmt::format("note: this run drops {} at random, as the plan says ({}); {} turns it off",
                           planned.attention == 0 ? "inputs of layers"
                           : inputs               ? "inputs of layers and weights of attention"
                                                  : "weights of attention",
                           text_of(planned, asked), without(planned));
    }
    if (planned.drops_like(asked) && !lost) return std::nullopt;
    const std::string as_planned = text_of(planned, asked), as_asked = text_of(asked, planned);
    return fmt::format(
        "note: the plan was made {}, and this run has {}: {}; gnnplan plan {} plans for it, {} trains as planned",
        planned.any() ? "with " + as_planned : "without dropout", as_asked, consequence(plan, asked, options), as_asked,
        as_planned);
}

}  // namespace gnnplan::tools
