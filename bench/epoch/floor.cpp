// How far the steps of a run are from the least time that this machine needs for them: floor --help.
#include "bench/epoch/floor_run.hpp"
#include "bench/epoch/floor_text.hpp"

#include "planner/io/files.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/report.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/deploy/match.hpp"
#include "tools/common/main.hpp"
#include "tools/common/options.hpp"
#include "tools/text/streams.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <thread>

namespace {

using namespace gnnplan;

struct Options {
    std::string plan, data, report;
    std::optional<double> link;
    bool by_excess = false, json = false;
};

void add_options(CLI::App& app, Options& options) {
    app.add_option("plan", options.plan, "The plan that ran")->required();
    app.add_option("--data", options.data, "The data that it ran on")->required();
    app.add_option("--report", options.report, "The report that gnnrun --report wrote")->required();
    tools::add_number(
        app, "--link", options.link, [](double rate) { return rate > 0; }, "a positive rate",
        "Bytes a second of a rank's messages between nodes; default: as the plan's machine has it");
    app.add_flag("--by-excess", options.by_excess, "Show the steps with the largest excess first");
    app.add_flag("--json", options.json, "Print JSON");
}

// Threads that take turns measure no peaks.
void check_processors(const RunReport& report, const std::string& file) {
    const int threads = report.ranks * report.threads;
    const auto processors = static_cast<int>(std::thread::hardware_concurrency());
    if (processors == 0 || threads <= processors) return;
    throw Error(ErrorCode::unavailable,
                "the run had " + std::to_string(threads) + " threads, and this machine runs " +
                    std::to_string(processors) + " at a time",
                file, "measure the peaks on the machine of the run");
}

// The rate of a rank's link where the plan has ranks on several nodes.
std::optional<double> link_of(const Plan& plan, const Options& options) {
    if (options.link) return options.link;
    if (plan.problem.ranks <= plan.machine.ranks_per_node) return std::nullopt;
    double rate = plan.machine.inter_node.bytes_per_second;
    for (const LinkSegment& segment : plan.machine.inter_node.segments) rate = std::max(rate, segment.bytes_per_second);
    return rate;
}

int show_floor(const Options& options) {
    Plan plan = io::read_plan(io::read_file(options.plan), options.plan);
    const RunReport report = io::read_report(io::read_file(options.report), options.report);
    bench::check_report(plan, report, options.report);
    check_processors(report, options.report);
    data::DatasetOptions reading = deploy::dataset_options(plan, plan.problem.run.feature_norm);
    reading.in_shares = 0;
    const data::Dataset dataset = data::open_dataset(options.data, reading);
    deploy::match_data(plan, dataset);
    const data::GraphCounts counts(dataset.graph(), dataset.subset());
    const auto graph = counts.numbered(bench::chosen(plan, report).schedule.numbering);
    bench::Peaks peaks = bench::measure_peaks(report.ranks, report.threads);
    peaks.link_bytes_per_second = link_of(plan, options);
    bench::EpochFloor epoch = bench::lay_beside(plan, report, *graph, peaks);
    if (options.by_excess) bench::sort_by_excess(epoch);
    tools::print(options.json ? io::dump(bench::floor_json(epoch, report, peaks), 2) + "\n"
                              : bench::floor_text(epoch, report, peaks));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"The steps of a training run beside the least time that this machine needs for them"};
    Options options;
    add_options(app, options);
    return tools::run_main(app, argc, argv, [&] { return show_floor(options); });
}
