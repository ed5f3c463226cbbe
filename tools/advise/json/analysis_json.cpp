#include "tools/advise/json/analysis_json.hpp"

#include "planner/io/enum_names.hpp"
#include "planner/io/plan_keys.hpp"

#include <utility>

namespace gnnplan::tools {
namespace {

io::Document ratio_value(const TimePair& seconds) {
    const std::optional<double> ratio = seconds.ratio();
    return ratio ? io::Document(*ratio) : io::Document();
}

void set_times(io::Document& object, const TimePair& seconds) {
    object.set("predicted_seconds", seconds.predicted).set("measured_seconds", seconds.measured);
    object.set("ratio", ratio_value(seconds)).set("error_seconds", seconds.error());
}

io::Document encode(const StepAnalysis& step) {
    io::Document object = io::Document::object({{"name", step.name},
                                                {"kind", step.kind},
                                                {"work", key_of(step.work)},
                                                {"rows", step.rows},
                                                {"columns", step.columns},
                                                {"bytes", step.bytes},
                                                {"max_rank_bytes", step.max_rank_bytes}});
    set_times(object, step.seconds);
    object.set("error_share", step.share);
    return object.set("worst", step.worst > 0 ? io::Document(step.worst) : io::Document());
}

io::Document encode(const WorkTotal& total) {
    io::Document object =
        io::Document::object({{"work", key_of(total.work)}, {"steps", total.steps}, {"bytes", total.bytes}});
    set_times(object, total.seconds);
    return object;
}

io::Document encode(const SetupAnalysis& setup) {
    io::Document object = io::Document::object({{"name", setup.name}, {"bytes", setup.bytes}});
    set_times(object, setup.seconds);
    return object;
}

}  // namespace

io::Document encode(const Analysis& analysis, const RunReport& report) {
    io::Document epoch = io::Document::object();
    set_times(epoch, analysis.epoch);
    io::Document steps = io::Document::array(), totals = io::Document::array(), setup = io::Document::array();
    for (const StepAnalysis& step : analysis.steps) steps.push(encode(step));
    for (const WorkTotal& total : analysis.totals) totals.push(encode(total));
    for (const SetupAnalysis& each : analysis.setup) setup.push(encode(each));
    io::Document document = io::Document::object({{"schema", "gnnplan.analysis/1"},
                                                  {"ranks", report.ranks},
                                                  {"threads", report.threads},
                                                  {"configuration", io::encode(report.configuration)},
                                                  {"epoch", std::move(epoch)},
                                                  {"waiting_seconds", analysis.waiting_seconds}});
    if (analysis.batches) {
        io::Document batches = io::Document::object();
        set_times(batches, *analysis.batches);
        document.set("batches", std::move(batches));
    }
    if (report.ending) document.set("ending", io::name_of(*report.ending));
    if (report.resumed_after) document.set("resumed_after", *report.resumed_after);
    document.set("steps", std::move(steps)).set("totals", std::move(totals)).set("setup", std::move(setup));
    return document.set("hint", io::Document::object({{"cause", analysis.hint.cause}, {"text", analysis.hint.text}}));
}

}  // namespace gnnplan::tools
