#include "runtime/train/report.hpp"

#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan::train {
namespace {

int group_of(const Schedule& schedule, const Operation& operation) {
    return std::visit(Overloaded{
                          [&](const RedistributeStep&) { return schedule.grid.y; },
                          [&](const SpmmStep& s) { return s.exchange == Exchange::panels ? schedule.grid.x : 1; },
                          [&](const AllReduceStep&) { return schedule.grid.size(); },
                          [](const auto&) { return 1; },
                      },
                      operation);
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::int64_t{0});
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

std::vector<measure::StepSample> expected_bytes(const Schedule& schedule, int rank) {
    std::vector<measure::StepSample> expected(schedule.steps.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const RankTraffic traffic = traffic_of(schedule, schedule.steps[i])[static_cast<std::size_t>(rank)];
        expected[i] = {0, traffic.sent_bytes, traffic.received_bytes};
    }
    return expected;
}

std::vector<measure::StepLog> gather_logs(comm::Communicator& comm, const measure::StepLog& log) {
    std::vector<measure::StepLog> logs;
    for (const std::string& packed : comm.control_all_gather(log.pack())) {
        logs.push_back(measure::StepLog::unpack(packed));
    }
    return logs;
}

std::vector<StepRecord> step_records(const Candidate& candidate, Phase phase,
                                     const std::vector<measure::StepLog>& ranks) {
    const Schedule& schedule = candidate.schedule;
    std::vector<StepRecord> records;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        if (step.phase != phase) continue;
        const Tensor& subject = tensor_of(schedule, subject_of(step.operation));
        StepRecord& record = records.emplace_back();
        record.name = step.name;
        record.kind = kind_of(step.operation);
        record.rows = subject.rows;
        record.columns = subject.columns;
        record.group = group_of(schedule, step.operation);
        for (const RankTraffic& traffic : traffic_of(schedule, step)) {
            record.predicted_bytes_by_rank.push_back(traffic.sent_bytes);
        }
        for (const measure::StepLog& log : ranks) record.counted_bytes_by_rank.push_back(log.bytes()[i].sent_bytes);
        record.predicted_bytes = sum(record.predicted_bytes_by_rank);
        record.counted_bytes = sum(record.counted_bytes_by_rank);
        record.predicted_seconds = candidate.predicted.step_seconds[i];
        record.measured_seconds = measure::median_of_slowest(ranks, i);
    }
    return records;
}

CountedTotal counted_total(const std::vector<measure::StepLog>& ranks) {
    CountedTotal total;
    for (const measure::StepLog& log : ranks) {
        std::int64_t sent = 0;
        std::int64_t received = 0;
        for (const measure::StepSample& sample : log.bytes()) {
            sent += sample.sent_bytes;
            received += sample.received_bytes;
        }
        total.total_bytes += sent;
        total.max_rank_bytes = std::max({total.max_rank_bytes, sent, received});
    }
    return total;
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

}  // namespace gnnplan::train
