#include "runtime/run/trace.hpp"

#include "runtime/deploy/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace gnnplan::run {
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

// One pass over the steps of a phase: its epoch, and whether it is the epoch's evaluation.
using Pass = std::pair<std::int64_t, bool>;

class TraceMaker {
public:
    TraceMaker(const Plan& plan, const RunReport& report, const std::vector<measure::Timeline>& ranks)
        : candidate_(plan.candidates[static_cast<std::size_t>(report.chosen)]), ranks_(ranks), origin_(ranks) {
        // The report lists the steps of a phase in the schedule's order, the last ones where a pass went on.
        add_records(Phase::epoch, report.steps);
        add_records(Phase::evaluation, report.evaluation);
    }

    io::TraceLane measured(std::size_t rank) const {
        io::TraceLane lane{fmt::format("rank {}", rank), {}};
        for (std::size_t i = 0; i < ranks_[rank].steps().size(); ++i) {
            const measure::TimedStep& step = ranks_[rank].steps()[i];
            const StepRecord& record = *record_of_.at(step.step);
            const std::int64_t begin = origin_.nanoseconds(step.begin);
            lane.slices.push_back({record.name, record.kind, step.epoch, begin, origin_.nanoseconds(step.end) - begin,
                                   record.counted_bytes_by_rank[rank], evaluates(step), waiting(rank, i),
                                   std::llround(record.predicted_seconds * 1e9)});
        }
        return lane;
    }

    std::vector<io::TraceLane> predicted() const {
        std::vector<io::TraceLane> lanes;
        for (const auto& [pass, start] : pass_starts()) {
            std::vector<io::TraceSlice> slices = predicted_pass(pass, start);
            if (slices.empty()) continue;
            const auto free = std::find_if(lanes.begin(), lanes.end(), [&](const io::TraceLane& lane) {
                const io::TraceSlice& last = lane.slices.back();
                return last.start_nanoseconds + last.nanoseconds <= slices.front().start_nanoseconds;
            });
            if (free == lanes.end()) {
                lanes.push_back({"epochs and evaluations as predicted", std::move(slices)});
            } else {
                free->slices.insert(free->slices.end(), slices.begin(), slices.end());
            }
        }
        return lanes;
    }

private:
    const Step& step_of(const measure::TimedStep& step) const {
        return candidate_.schedule.steps[static_cast<std::size_t>(step.step)];
    }
    bool evaluates(const measure::TimedStep& step) const { return step_of(step).phase == Phase::evaluation; }

    void add_records(Phase phase, const std::vector<StepRecord>& records) {
        const auto& steps = candidate_.schedule.steps;
        std::size_t left = records.size();
        for (std::size_t i = steps.size(); i-- > 0 && left > 0;) {
            if (steps[i].phase == phase) record_of_[static_cast<std::int64_t>(i)] = &records[--left];
        }
    }

    // From the step's begin on this rank until the last rank of its exchange began it, or until it was over. Every rank
    // recorded the same steps in the same order.
    std::int64_t waiting(std::size_t rank, std::size_t index) const {
        const measure::TimedStep& mine = ranks_[rank].steps()[index];
        double last = mine.begin;
        for (const int other : exchange_group(candidate_.schedule, step_of(mine).operation, static_cast<int>(rank))) {
            last = std::max(last, ranks_[static_cast<std::size_t>(other)].steps().at(index).begin);
        }
        return origin_.nanoseconds(std::min(last, mine.end)) - origin_.nanoseconds(mine.begin);
    }

    // When the first rank began each pass.
    std::map<Pass, double> pass_starts() const {
        std::map<Pass, double> starts;
        for (const measure::Timeline& rank : ranks_) {
            for (const measure::TimedStep& step : rank.steps()) {
                double& start = starts.emplace(Pass(step.epoch, evaluates(step)), step.begin).first->second;
                start = std::min(start, step.begin);
            }
        }
        return starts;
    }

    std::vector<io::TraceSlice> predicted_pass(const Pass& pass, double start) const {
        const auto [epoch, evaluation] = pass;
        std::vector<io::TraceSlice> slices;
        double at = start;
        for (const auto& [step, record] : record_of_) {
            const auto index = static_cast<std::size_t>(step);
            if ((candidate_.schedule.steps[index].phase == Phase::evaluation) != evaluation) continue;
            const std::int64_t begin = origin_.nanoseconds(at);
            at += record->predicted_seconds;
            slices.push_back({record->name,
                              record->kind,
                              epoch,
                              begin,
                              origin_.nanoseconds(at) - begin,
                              record->predicted_bytes,
                              evaluation,
                              0,
                              {}});
        }
        return slices;
    }

    const Candidate& candidate_;
    const std::vector<measure::Timeline>& ranks_;
    Origin origin_;
    std::map<std::int64_t, const StepRecord*> record_of_;  // by step of the schedule, in its order
};

}  // namespace

void TraceRecorder::add(std::span<const measure::TimedStep> pass) {
    for (const measure::TimedStep& step : pass) timeline_.add(step);
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

}  // namespace gnnplan::run
