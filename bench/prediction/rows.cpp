#include "bench/prediction/rows.hpp"

#include "planner/cost/likely.hpp"
#include "planner/io/document.hpp"
#include "planner/io/enum_names.hpp"
#include "tools/advise/configuration_text.hpp"

#include <fmt/format.h>

namespace gnnplan::bench {
namespace {

// The kind of a step, so fine that steps of one kind are predicted by one part of the model.
std::string kind_text(const Step& step) {
    std::string kind(kind_of(step.operation));
    if (const auto* product = std::get_if<SpmmStep>(&step.operation)) {
        if (product->program != Program::sum) kind += fmt::format(" {}", io::name_of(product->program));
        if (product->exchange != Exchange::none) kind += fmt::format(" {}", io::name_of(product->exchange));
        if (product->overlap) kind += " overlapped";
        if (product->bf16) kind += " bf16";
    }
    const auto* map = std::get_if<MapStep>(&step.operation);
    if (map != nullptr && map->done_before) return std::string(GemmStep::kind);  // it is measured there
    if (map != nullptr) kind += fmt::format(" {}", io::name_of(map->op));
    return kind;
}

io::Document steps_of(const Candidate& candidate, const Outcome& outcome) {
    io::Document steps = io::Document::array();
    for (std::size_t i = 0; i < candidate.schedule.steps.size(); ++i) {
        const Step& step = candidate.schedule.steps[i];
        if (step.phase != Phase::epoch) continue;
        steps.push(io::Document::object({{"name", step.name},
                                         {"kind", kind_text(step)},
                                         {"predicted", candidate.predicted.step_seconds[i]},
                                         {"measured", outcome.step_seconds[i]}}));
    }
    return steps;
}

}  // namespace

std::string rows_text(const Setting& setting, const std::vector<Candidate>& field,
                      const std::vector<Outcome>& outcomes) {
    io::Document rows = io::Document::array();
    for (std::size_t i = 0; i < field.size(); ++i) {
        const Configuration& configuration = field[i].configuration;
        const cost::Interval likely = cost::likely_seconds(field[i].predicted, setting.machine);
        rows.push(io::Document::object({{"graph", setting.graph},
                                        {"widths", setting.widths},
                                        {"ranks", setting.ranks},
                                        {"network", setting.network},
                                        {"configuration", tools::configuration_text(configuration)},
                                        {"operands", text(configuration.operands)},
                                        {"predicted_seconds", field[i].predicted.epoch_seconds},
                                        {"predicted_low", likely.low},
                                        {"predicted_high", likely.high},
                                        {"measured_seconds", outcomes[i].seconds},
                                        {"low", outcomes[i].interval.low},
                                        {"high", outcomes[i].interval.high},
                                        {"fastest", outcomes[i].fastest},
                                        {"slowest", outcomes[i].slowest},
                                        {"epochs", outcomes[i].epochs},
                                        {"turns", outcomes[i].turns},
                                        {"steps", steps_of(field[i], outcomes[i])}}));
    }
    return io::dump(rows, 1) + "\n";
}

}  // namespace gnnplan::bench
