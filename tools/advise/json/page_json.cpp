#include "tools/advise/json/page_json.hpp"

#include "planner/io/parse.hpp"
#include "tools/advise/json/analysis_json.hpp"
#include "tools/advise/json/page_columns.hpp"
#include "tools/advise/json/page_parts.hpp"
#include "tools/advise/memory_over_steps.hpp"
#include "tools/text/trust.hpp"

#include <gnnplan/base/error.hpp>

#include <utility>

namespace gnnplan::tools {
namespace {

// Beyond this size of a plan's file a page holds no schedule at all, and times of steps in its table alone.
constexpr std::size_t most_plan_bytes = 2'000'000;

// The plan as its file has it. Schedules of further candidates follow from their configurations, and are left out
// with the times of their steps.
io::Document embedded_plan(std::string_view text) {
    io::Document plan = io::parse(text, "the plan");
    if (io::Document* candidates = plan.find("candidates")) {
        io::Document without = io::Document::array();
        for (io::Document candidate : *candidates->get_if<io::Document::Array>()) {
            candidate.erase("schedule");
            if (io::Document* predicted = candidate.find("predicted")) predicted->erase("step_seconds");
            without.push(std::move(candidate));
        }
        *candidates = std::move(without);
    }
    if (text.size() <= most_plan_bytes) return plan;
    plan.erase("schedule");
    if (io::Document* predicted = plan.find("predicted")) predicted->erase("step_seconds");
    return plan;
}

std::optional<Analysis> analysis_of(const PageQuestion& question) {
    if (question.run == nullptr) return std::nullopt;
    if (question.run->fingerprints.content != question.plan.fingerprints.content)
        throw Error(ErrorCode::mismatch, "the run is of another plan", {}, "leave the run out");
    const Machine& machine = question.plan.machine;
    return analyse(*question.run, ProfileOrigin{machine.name, calibrated(machine)});
}

// A run's figures, without its steps, which are beside those of the plan.
io::Document encode_run(const RunReport& run, const Analysis& analysis) {
    io::Document whole = encode(analysis, run);
    io::Document document = io::Document::object({{"chosen", run.chosen}, {"ranks", run.ranks}});
    for (const char* key : {"epoch", "waiting_seconds", "totals", "setup", "hint"}) {
        if (io::Document* member = whole.find(key)) document.set(key, std::move(*member));
    }
    return document.set("course", encode_course(run));
}

}  // namespace

io::Document page_document(const PageQuestion& question) {
    const std::optional<Analysis> analysis = analysis_of(question);
    io::Document document = io::Document::object({{"schema", "gnnplan.page/1"}});
    io::Document steps = encode_page_steps(question, analysis ? &*analysis : nullptr);
    io::Document memory = with_columns(encode(memory_over_steps(question.plan)), *steps.find("name"));
    document.set("answer", encode_answer(question))
        .set("race", encode_race(question.plan))
        .set("worth", encode_worth(question.plan))
        .set("steps", std::move(steps))
        .set("memory_over_steps", std::move(memory))
        .set("bytes_by_rank", encode_rank_bytes(question))
        .set("run", analysis ? encode_run(*question.run, *analysis) : io::Document())
        .set("provenance", encode_provenance(question));
    return document.set("plan", embedded_plan(question.plan_text));
}

}  // namespace gnnplan::tools
