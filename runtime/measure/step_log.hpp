// The times and bytes of the steps of a schedule, pass after pass, on one rank; and the same put together over all
// ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::measure {

struct StepSample {
    double seconds = 0;
    std::int64_t sent_bytes = 0;
    std::int64_t received_bytes = 0;
    double begin = 0;  // seconds of the rank's clock; of a measured step alone
};

// Samples are indexed by step of the schedule; steps of other phases stay 0.
class StepLog {
public:
    // `expected`: the bytes predicted for this rank. A pass that counted others is the one whose bytes are kept.
    explicit StepLog(std::vector<StepSample> expected = {})
        : StepLog(std::vector<std::vector<StepSample>>{std::move(expected)}, 1) {}
    // By pass, the last `repeated` of which repeat.
    StepLog(std::vector<std::vector<StepSample>> expected, std::size_t repeated)
        : by_pass_(std::move(expected)), repeated_(repeated) {}

    // The bytes of the next pass, in place of those expected so far, unless a pass has counted others already.
    void expect(std::vector<StepSample> bytes);
    void add(const std::vector<StepSample>& pass);
    // Forgets the times of the passes so far, not their bytes.
    void restart_times() { seconds_.clear(); }
    std::size_t passes() const { return seconds_.size(); }

    // This rank's log as text for the control channel, and back.
    std::string pack() const;
    static StepLog unpack(const std::string& packed);

    // The pass that bytes() are of.
    const std::vector<StepSample>& expected() const { return by_pass_[pass_]; }
    const std::vector<StepSample>& bytes() const { return bytes_; }
    const std::vector<std::vector<double>>& seconds() const { return seconds_; }  // per kept pass, per step

private:
    std::vector<std::vector<StepSample>> by_pass_;  // expected
    std::size_t repeated_;
    std::size_t added_ = 0;                     // passes
    std::size_t pass_ = 0;                      // of by_pass_, whose bytes are kept
    std::vector<StepSample> bytes_;             // of the last pass, or of one that is not as expected
    std::vector<std::vector<double>> seconds_;  // of the last passes, at most `kept_passes`
    bool surprised_ = false;
};

// Median over passes of the largest time over ranks, for one step.
double median_of_slowest(std::span<const StepLog> ranks, std::size_t step);

// By how much each step moves the latest rank on, median over passes that all ranks begin together. Within a pass they
// add up to its time: waiting for another rank is not counted again.
std::vector<double> advances(std::span<const StepLog> ranks);

}  // namespace gnnplan::measure
