#include "planner/io/dry_run.hpp"

#include "planner/io/plan_keys.hpp"

#include <utility>

namespace gnnplan::io {
namespace {

Document encode_step(const DryRunStep& step) {
    Writer writer;
    writer.field("name", step.name);
    writer.field("phase", step.phase);
    writer.field("kind", step.kind);
    writer.field("predicted_bytes", step.bytes);
    writer.field("predicted_seconds", step.seconds);
    return writer.take();
}

}  // namespace

std::string write_dry_run(const DryRunDocument& run) {
    Writer writer;
    writer.field("schema", dry_run_schema);
    writer.field("ranks", run.ranks);
    writer.field("candidate", run.candidate);
    writer.field("rank", run.rank);
    writer.field("load_bytes", run.load_bytes);
    writer.field("adjacency_bytes", run.adjacency_bytes);
    writer.field("arena_bytes", run.arena_bytes);
    writer.field("peak_bytes_per_rank", run.peak_bytes);
    if (run.host_peak_bytes) writer.field("host_peak_bytes_per_rank", *run.host_peak_bytes);
    Document document = writer.take();
    Document steps = Document::array();
    for (const DryRunStep& step : run.steps) steps.push(encode_step(step));
    document.set("steps", std::move(steps));
    if (run.tuning_peak_bytes) document.set("tuning_peak_bytes_per_rank", *run.tuning_peak_bytes);
    return dump(document, 1) + "\n";
}

}  // namespace gnnplan::io
