#include "runtime/deploy/report.hpp"

#include "runtime/measure/clock.hpp"

#include <gnnplan/ir/shared_clones.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan::deploy {
namespace {

std::int64_t sum(const std::vector<std::int64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// Bytes of one pass over all steps logged, counted or expected.
TrafficTotal total_of(const std::vector<measure::StepLog>& ranks,
                      const std::vector<measure::StepSample>& (measure::StepLog::*which)() const) {
    TrafficTotal total;
    for (const measure::StepLog& log : ranks) {
        std::int64_t sent = 0;
        std::int64_t received = 0;
        for (const measure::StepSample& sample : (log.*which)()) {
            sent += sample.sent_bytes;
            received += sample.received_bytes;
        }
        total.total_bytes += sent;
        total.max_rank_bytes = std::max({total.max_rank_bytes, sent, received});
    }
    return total;
}

std::vector<std::int64_t> by_rank(comm::Communicator& comm, std::int64_t mine) {
    std::vector<std::int64_t> all;
    for (const std::string& one : comm.control_all_gather(std::to_string(mine))) all.push_back(std::stoll(one));
    return all;
}

double predicted_for(const LoadingSeconds& loading, const std::string& part) {
    if (part == "deal") return loading.deal;
    if (part == "rows") return loading.rows;
    if (part == "degrees") return loading.degrees;
    return part == "features" ? loading.features : 0;
}

// `loading`: what was predicted of it.
std::vector<StepRecord> setup_records(comm::Communicator& comm, const Plan& plan, const LoadingSeconds& loading,
                                      const Measurements& mine) {
    std::vector<StepRecord> records;
    const auto add = [&](const char* name, double predicted, double seconds) {
        StepRecord& record = records.emplace_back();
        record.name = std::string("setup.") + name;
        record.kind = name;
        record.rows = plan.problem.graph.vertices;
        record.columns = plan.problem.model.widths.front();
        record.predicted_bytes_by_rank.assign(static_cast<std::size_t>(comm.size()), 0);
        record.counted_bytes_by_rank = record.predicted_bytes_by_rank;
        record.predicted_seconds = predicted;
        record.measured_seconds = comm::control_max(comm, seconds);
    };
    add("load", loading.total() - loading.cut, mine.load_seconds);
    for (const load::LoadStep& step : mine.load_steps) {
        add(("load." + step.name).c_str(), predicted_for(loading, step.name), step.seconds);
        StepRecord& record = records.back();
        record.kind = "load";
        record.counted_bytes_by_rank = by_rank(comm, step.traffic.sent_bytes);
        record.predicted_bytes_by_rank = by_rank(comm, step.expected_bytes);
        record.counted_bytes = sum(record.counted_bytes_by_rank);
        record.predicted_bytes = sum(record.predicted_bytes_by_rank);
    }
    add("partition", loading.cut, mine.partition_seconds);
    add("initialise", 0, mine.initialise_seconds);
    return records;
}

std::optional<std::string> mismatch_in(const std::vector<StepRecord>& records) {
    for (const StepRecord& record : records) {
        for (std::size_t rank = 0; rank < record.predicted_bytes_by_rank.size(); ++rank) {
            const std::int64_t predicted = record.predicted_bytes_by_rank[rank];
            const std::int64_t counted = record.counted_bytes_by_rank[rank];
            if (predicted == counted) continue;
            return "step " + record.name + " on rank " + std::to_string(rank) + ": predicted " +
                   std::to_string(predicted) + " bytes, counted " + std::to_string(counted);
        }
    }
    return std::nullopt;
}

}  // namespace

std::vector<measure::TimedStep> times_of(const Schedule& schedule, Phase phase, std::size_t first_step,
                                         std::int64_t epoch, const std::vector<measure::StepSample>& samples) {
    std::vector<measure::TimedStep> times;
    for (std::size_t i = first_step; i < samples.size(); ++i) {
        if (schedule.steps[i].phase != phase) continue;
        times.push_back({epoch, static_cast<std::int64_t>(i), samples[i].begin, samples[i].begin + samples[i].seconds});
    }
    return times;
}

std::vector<measure::StepSample> expected_bytes(const Schedule& schedule, Phase phase, const GraphStats& graph,
                                                int rank) {
    std::vector<measure::StepSample> expected(schedule.steps.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (schedule.steps[i].phase != phase) continue;
        const RankTraffic traffic = traffic_of(schedule, schedule.steps[i], graph, rank);
        expected[i] = {0, traffic.sent_bytes, traffic.received_bytes};
    }
    return expected;
}

measure::StepLog expected_epochs(const Schedule& schedule, const GraphStats& graph, int rank, std::size_t first_step) {
    std::vector<std::vector<measure::StepSample>> by_epoch;
    for (std::int64_t epoch = 0; epoch < turns_until_all_repeat(schedule); ++epoch) {
        by_epoch.push_back(expected_bytes(at_turn(schedule, epoch), Phase::epoch, graph, rank));
        std::fill_n(by_epoch.back().begin(), first_step, measure::StepSample{});
    }
    return {std::move(by_epoch), static_cast<std::size_t>(bins_of(schedule.numbering.delay))};
}

std::vector<measure::StepLog> gather_logs(comm::Communicator& comm, const measure::StepLog& log) {
    std::vector<measure::StepLog> logs;
    for (const std::string& packed : comm.control_all_gather(log.pack())) {
        logs.push_back(measure::StepLog::unpack(packed));
    }
    return logs;
}

std::vector<StepRecord> step_records(const Candidate& candidate, Phase phase,
                                     const std::vector<measure::StepLog>& ranks,
                                     const std::vector<std::vector<ProductKernel>>& kernels) {
    const Schedule& schedule = candidate.schedule;
    const std::vector<double> advances = measure::advances(ranks);
    std::vector<StepRecord> records;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        if (step.phase != phase) continue;
        const Tensor& subject = tensor_of(schedule, subject_of(step.operation));
        StepRecord& record = records.emplace_back();
        record.name = step.name;
        record.kind = kind_of(step.operation);
        record.origin = step.origin;
        record.rows = subject.rows;
        record.columns = subject.columns;
        record.group = static_cast<int>(exchange_group(schedule, step.operation, 0).size());
        for (const measure::StepLog& log : ranks) {
            record.predicted_bytes_by_rank.push_back(log.expected()[i].sent_bytes);
            record.counted_bytes_by_rank.push_back(log.bytes()[i].sent_bytes);
        }
        record.predicted_bytes = sum(record.predicted_bytes_by_rank);
        record.counted_bytes = sum(record.counted_bytes_by_rank);
        record.predicted_seconds = candidate.predicted.step_seconds[i];
        record.measured_seconds = measure::median_of_slowest(ranks, i);
        record.advance_seconds = advances[i];
        record.part = part_of(step.operation);
        if (!kernels.empty()) record.kernels = kernels[i];
    }
    return records;
}

void report_candidate(comm::Communicator& comm, const Plan& plan, const Measurements& mine, RunReport& report) {
    const Candidate& chosen = plan.candidates[static_cast<std::size_t>(report.chosen)];
    report.configuration = chosen.configuration;
    const auto logs = gather_logs(comm, mine.epoch);
    const TrafficTotal predicted = total_of(logs, &measure::StepLog::expected);
    report.predicted.total_bytes = predicted.total_bytes;
    report.predicted.max_rank_bytes = predicted.max_rank_bytes;
    report.predicted.estimate = false;
    report.steps = step_records(chosen, Phase::epoch, logs, mine.kernels);
    if (mine.evaluation.passes() > 0) {
        report.evaluation = step_records(chosen, Phase::evaluation, gather_logs(comm, mine.evaluation), mine.kernels);
    }
    report.setup = setup_records(comm, plan, chosen.predicted.loading, mine);
    for (StepRecord& record : step_records(chosen, Phase::setup, gather_logs(comm, mine.setup), mine.kernels)) {
        report.setup.push_back(std::move(record));
    }
    const TrafficTotal counted = total_of(logs, &measure::StepLog::bytes);
    report.measured.total_bytes = counted.total_bytes;
    report.measured.max_rank_bytes = counted.max_rank_bytes;
    report.measured.epoch_seconds = measure::median(mine.steady_seconds);
    report.measured.peak_bytes_per_rank =
        static_cast<std::int64_t>(comm::control_max(comm, static_cast<double>(mine.peak_bytes)));
    report.measured.host_peak_bytes =
        static_cast<std::int64_t>(comm::control_max(comm, static_cast<double>(mine.host_peak_bytes)));
}

std::optional<std::string> byte_mismatch(const RunReport& report) {
    for (const auto* records : {&report.steps, &report.evaluation, &report.setup}) {
        if (auto mismatch = mismatch_in(*records)) return mismatch;
    }
    if (report.predicted.total_bytes != report.measured.total_bytes ||
        report.predicted.max_rank_bytes != report.measured.max_rank_bytes) {
        return "one epoch: predicted " + std::to_string(report.predicted.total_bytes) + " bytes in all and " +
               std::to_string(report.predicted.max_rank_bytes) + " on the busiest rank, counted " +
               std::to_string(report.measured.total_bytes) + " and " + std::to_string(report.measured.max_rank_bytes);
    }
    return std::nullopt;
}

}  // namespace gnnplan::deploy
