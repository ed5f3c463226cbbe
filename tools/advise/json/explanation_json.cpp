#include "tools/advise/json/explanation_json.hpp"

#include "planner/io/enum_names.hpp"
#include "planner/io/plan_keys.hpp"
#include "tools/advise/certainty.hpp"
#include "tools/advise/memory_over_steps.hpp"
#include "tools/advise/worth.hpp"

#include <utility>

namespace gnnplan::tools {
namespace {

io::Document encode(const Units& units) {
    return io::Document::object({{"redistribution", units.redistribution}, {"sparse", units.sparse}});
}

io::Document encode(const StepCost& step) {
    return io::Document::object({{"name", step.name},
                                 {"phase", io::name_of(step.phase)},
                                 {"section", step.section},
                                 {"kind", step.kind},
                                 {"rows", step.rows},
                                 {"columns", step.columns},
                                 {"layout", step.layout},
                                 {"total_bytes", step.total_bytes},
                                 {"max_rank_bytes", step.max_rank_bytes},
                                 {"predicted_seconds", step.seconds},
                                 {"within", step.within ? io::Document(*step.within) : io::Document()}});
}

io::Document encode(const RunnerUp& runner_up) {
    const auto& bytes = runner_up.total_bytes_ratio;
    return io::Document::object({{"configuration", io::encode(runner_up.configuration)},
                                 {"epoch_seconds_ratio", runner_up.epoch_seconds_ratio},
                                 {"total_bytes_ratio", bytes ? io::Document(*bytes) : io::Document()},
                                 {"peak_bytes_ratio", runner_up.peak_bytes_ratio}});
}

}  // namespace

io::Document encode(const Plan& plan, const Explanation& explanation) {
    io::Document steps = io::Document::array();
    for (const StepCost& step : explanation.steps) steps.push(encode(step));
    io::Document remarks = io::Document::array();
    for (const UnitRemark& remark : explanation.remarks) {
        remarks.push(
            io::Document::object({{"step", remark.step}, {"redistribution", remark.units}, {"reason", remark.reason}}));
    }
    io::Document largest = io::Document::array();
    for (const TensorSize& tensor : explanation.largest) {
        largest.push(io::Document::object({{"name", tensor.name}, {"bytes", tensor.bytes}}));
    }
    const Candidate& chosen = plan.candidates.front();
    io::Document units =
        io::Document::object({{"paper", explanation.paper ? encode(*explanation.paper) : io::Document()},
                              {"executed", encode(explanation.executed)}});
    units.set("differences", std::move(remarks));
    io::Document memory = io::Document::object({{"peak_bytes_per_rank", chosen.predicted.peak_bytes_per_rank}});
    memory.set("largest_tensors", std::move(largest));
    io::Document document = io::Document::object({{"schema", "gnnplan.explanation/1"},
                                                  {"configuration", io::encode(chosen.configuration)},
                                                  {"predicted", io::encode(chosen.predicted)}});
    document.set("units", std::move(units)).set("steps", std::move(steps)).set("memory", std::move(memory));
    document.set("runner_up", explanation.runner_up ? encode(*explanation.runner_up) : io::Document());
    document.set("sure", encode(certainty_of(plan))).set("alternatives", encode_alternatives(plan));
    return document.set("memory_over_steps", encode(memory_over_steps(plan)));
}

}  // namespace gnnplan::tools
