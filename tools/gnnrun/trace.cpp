#include "tools/gnnrun/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>

namespace gnnplan::tools {
namespace {

constexpr int barriers = 9;

std::string pack(const std::vector<double>& values) {
    std::string text(values.size() * sizeof(double), '\0');
    std::memcpy(text.data(), values.data(), text.size());
    return text;
}

std::vector<double> unpack(const std::string& text) {
    std::vector<double> values(text.size() / sizeof(double));
    std::memcpy(values.data(), text.data(), values.size() * sizeof(double));
    return values;
}

// Seconds since the trace began, in whole nanoseconds: rounded alike, neighbours that touch still do.
class Origin {
public:
    explicit Origin(const std::vector<measure::Timeline>& ranks) {
        for (const measure::Timeline& rank : ranks) {
            if (!rank.steps().empty()) seconds_ = std::min(seconds_, rank.steps().front().begin);
        }
    }
    std::int64_t nanoseconds(double seconds) const { return std::llround((seconds - seconds_) * 1e9); }

private:
    double seconds_ = std::numeric_limits<double>::infinity();
};

class TraceMaker {
public:
    TraceMaker(const Plan& plan, const RunReport& report, const std::vector<measure::Timeline>& ranks)
        : candidate_(plan.candidates[static_cast<std::size_t>(report.chosen)]),
          report_(report),
          ranks_(ranks),
          origin_(ranks) {
        // The report lists the steps of the epoch in the schedule's order.
        for (std::size_t i = 0; i < candidate_.schedule.steps.size(); ++i) {
            if (candidate_.schedule.steps[i].phase == Phase::epoch) epoch_steps_.push_back(i);
        }
        for (std::size_t i = 0; i < epoch_steps_.size(); ++i) record_of_[epoch_steps_[i]] = &report.steps.at(i);
    }

    io::TraceLane measured(std::size_t rank) const {
        io::TraceLane lane{fmt::format("rank {}", rank), {}};
        for (const measure::TimedStep& step : ranks_[rank].steps()) {
            const StepRecord& record = *record_of_.at(static_cast<std::size_t>(step.step));
            const std::int64_t begin = origin_.nanoseconds(step.begin);
            lane.slices.push_back({record.name, record.kind, step.epoch, begin, origin_.nanoseconds(step.end) - begin,
                                   record.counted_bytes_by_rank[rank]});
        }
        return lane;
    }

    std::vector<io::TraceLane> predicted() const {
        std::vector<io::TraceLane> lanes;
        for (const auto& [epoch, start] : epoch_starts()) {
            std::vector<io::TraceSlice> slices = predicted_epoch(epoch, start);
            const auto free = std::find_if(lanes.begin(), lanes.end(), [&](const io::TraceLane& lane) {
                const io::TraceSlice& last = lane.slices.back();
                return last.start_nanoseconds + last.nanoseconds <= slices.front().start_nanoseconds;
            });
            if (free == lanes.end()) {
                lanes.push_back({"one epoch as predicted", std::move(slices)});
            } else {
                free->slices.insert(free->slices.end(), slices.begin(), slices.end());
            }
        }
        return lanes;
    }

private:
    // When the first rank began each epoch.
    std::map<std::int64_t, double> epoch_starts() const {
        std::map<std::int64_t, double> starts;
        for (const measure::Timeline& rank : ranks_) {
            for (const measure::TimedStep& step : rank.steps()) {
                double& start = starts.emplace(step.epoch, step.begin).first->second;
                start = std::min(start, step.begin);
            }
        }
        return starts;
    }

    std::vector<io::TraceSlice> predicted_epoch(std::int64_t epoch, double start) const {
        std::vector<io::TraceSlice> slices;
        slices.reserve(epoch_steps_.size());
        double at = start;
        for (const std::size_t step : epoch_steps_) {
            const StepRecord& record = *record_of_.at(step);
            const std::int64_t begin = origin_.nanoseconds(at);
            at += candidate_.predicted.step_seconds[step];
            slices.push_back(
                {record.name, record.kind, epoch, begin, origin_.nanoseconds(at) - begin, record.predicted_bytes});
        }
        return slices;
    }

    const Candidate& candidate_;
    const RunReport& report_;
    const std::vector<measure::Timeline>& ranks_;
    Origin origin_;
    std::vector<std::size_t> epoch_steps_;
    std::map<std::size_t, const StepRecord*> record_of_;
};

}  // namespace

void TraceRecorder::step(std::int64_t epoch, const Step& step, const exec::Executor& executor) {
    timeline_.add({epoch, &step - executor.schedule().steps.data(), clock_.begin(), clock_.end()});
}

std::vector<measure::Timeline> TraceRecorder::gather(comm::Communicator& comm) {
    std::vector<double> readings;
    for (int i = 0; i < barriers; ++i) {
        comm.barrier();
        readings.push_back(clock_.now());
    }
    std::vector<std::vector<double>> all_readings;
    for (const std::string& text : comm.control_all_gather(pack(readings))) all_readings.push_back(unpack(text));
    const std::vector<double> offsets = measure::clock_offsets(all_readings);
    timeline_.shift(offsets[static_cast<std::size_t>(comm.rank())]);
    std::vector<measure::Timeline> ranks;
    for (const std::string& text : comm.control_all_gather(timeline_.pack())) {
        ranks.push_back(measure::Timeline::unpack(text));
    }
    return ranks;
}

io::Trace make_trace(const Plan& plan, const RunReport& report, const std::vector<measure::Timeline>& ranks) {
    const TraceMaker maker(plan, report, ranks);
    io::TraceProcess measured{"measured", {}};
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) measured.lanes.push_back(maker.measured(rank));
    io::Trace trace;
    trace.processes = {std::move(measured), {"predicted", maker.predicted()}};
    return trace;
}

}  // namespace gnnplan::tools
