// gnnrun --trace: what a viewer of trace events relies on.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace gnnplan::testing {
namespace {

using Json = nlohmann::ordered_json;
using Lane = std::pair<int, int>;  // pid, tid

// Whole nanoseconds of a time in microseconds.
std::int64_t nanoseconds(const Json& microseconds) { return std::llround(microseconds.get<double>() * 1e3); }

class Trace : public ::testing::Test {
protected:
    static constexpr int measured = 0;
    static constexpr int predicted = 1;

    Trace() {
        const Outcome generated =
            gnnplan("graph generate planted --vertices 120 --nonzeros 900 --features 9 --classes 3 --seed 1 -o " +
                    folder_ / "graph.npz");
        EXPECT_EQ(generated.code, 0) << generated.err;
        const Outcome planned =
            gnnplan("plan --hidden 6 --ranks 2 --graph " + folder_ / "graph.npz" + " -o " + folder_ / "plan.json");
        EXPECT_EQ(planned.code, 0) << planned.err;
    }

    Outcome run(const std::string& flags) const {
        return run_program(GNNRUN_TOOL, folder_ / "plan.json" + " --data " + folder_ / "graph.npz" +
                                            " --in-process --threads 1 -q --report " + folder_ / "run.json" +
                                            " --trace " + folder_ / "trace.json" + " " + flags);
    }

    // Slices by lane, in the order of the file; every event is checked for what it must have.
    std::map<Lane, std::vector<Json>> lanes() const {
        std::map<Lane, std::vector<Json>> lanes;
        const Json file = trace();
        for (const Json& event : file["traceEvents"]) {
            for (const char* key : {"pid", "tid"}) EXPECT_TRUE(event[key].is_number_unsigned()) << event;
            EXPECT_TRUE(event["name"].is_string()) << event;
            if (event["ph"] == "M") continue;
            EXPECT_EQ(event["ph"], "X");
            for (const char* key : {"ts", "dur"}) EXPECT_GE(event[key].get<double>(), 0) << event;
            EXPECT_TRUE(event["args"]["kind"].is_string());
            EXPECT_TRUE(event["args"]["bytes"].is_number_unsigned());
            const Lane lane{event["pid"], event["tid"]};
            if (event["cat"] != "waiting") {
                lanes[lane].push_back(event);
                continue;
            }
            // Within the step that waits, from its begin.
            const Json& step = lanes.at(lane).back();
            EXPECT_EQ(event["ts"], step["ts"]);
            EXPECT_LE(event["dur"].get<double>(), step["dur"].get<double>());
            ++waits_[lane];
        }
        return lanes;
    }
    Json trace() const { return Json::parse(read_text(folder_ / "trace.json")); }
    Json report() const { return Json::parse(read_text(folder_ / "run.json")); }

    Folder folder_;
    mutable std::map<Lane, int> waits_;  // slices in which ranks waited, of the lanes looked at
};

void expect_no_overlap(const std::vector<Json>& slices) {
    for (std::size_t i = 1; i < slices.size(); ++i) {
        const Json& before = slices[i - 1];
        EXPECT_LE(nanoseconds(before["ts"]) + nanoseconds(before["dur"]), nanoseconds(slices[i]["ts"])) << slices[i];
    }
}

std::vector<std::int64_t> epochs_of(const std::vector<Json>& slices) {
    std::set<std::int64_t> epochs;
    for (const Json& slice : slices) epochs.insert(slice["args"]["epoch"].get<std::int64_t>());
    return {epochs.begin(), epochs.end()};
}

TEST_F(Trace, HasALanePerRankWithEveryStepOfTheLastEpochs) {
    const Outcome outcome = run("--epochs 23 --autotune 0 --eval-every 0");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json steps = report()["steps"];
    const auto all = lanes();
    for (int rank = 0; rank < 2; ++rank) {
        const std::vector<Json>& slices = all.at({measured, rank});
        expect_no_overlap(slices);
        ASSERT_EQ(slices.size(), 20 * steps.size());
        EXPECT_EQ(epochs_of(slices).front(), 4);
        EXPECT_EQ(epochs_of(slices).back(), 23);
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const Json& step = steps[i % steps.size()];
            EXPECT_EQ(slices[i]["name"], step["name"]);
            EXPECT_EQ(slices[i]["args"]["kind"], step["kind"]);
            EXPECT_EQ(slices[i]["args"]["bytes"], step["counted_bytes_by_rank"][static_cast<std::size_t>(rank)]);
        }
    }
    EXPECT_FALSE(all.contains({measured, 2}));
    EXPECT_EQ(trace()["otherData"]["schema"], "gnnplan.trace/1");
}

TEST_F(Trace, LaysThePredictionBesideEachEpoch) {
    ASSERT_EQ(run("--epochs 5 --autotune 0 --eval-every 0").code, 0);
    std::map<std::int64_t, std::int64_t> began, predicted_from, predicted_for;
    for (const auto& [lane, slices] : lanes()) {
        expect_no_overlap(slices);
        for (const Json& slice : slices) {
            const std::int64_t epoch = slice["args"]["epoch"];
            const std::int64_t start = nanoseconds(slice["ts"]);
            auto& first = lane.first == measured ? began : predicted_from;
            first[epoch] = std::min(first.try_emplace(epoch, start).first->second, start);
            if (lane.first == predicted) predicted_for[epoch] += nanoseconds(slice["dur"]);
        }
    }
    EXPECT_EQ(began.size(), 5U);
    EXPECT_EQ(began, predicted_from);
    const double epoch_seconds = report()["predicted"]["epoch_seconds"];
    for (const auto& [epoch, length] : predicted_for) EXPECT_NEAR(static_cast<double>(length), epoch_seconds * 1e9, 2);
}

// Evaluations are drawn, what was predicted for them beside them, and in every step how it compares.
TEST_F(Trace, DrawsEvaluationsAndWhatWasPredicted) {
    ASSERT_EQ(run("--epochs 4 --autotune 0 --eval-every 2").code, 0);
    const Json run = report();
    ASSERT_FALSE(run["evaluation"].empty());
    const auto all = lanes();
    for (const auto& [lane, slices] : all) {
        std::map<std::int64_t, std::vector<std::string>> evaluated;
        for (const Json& slice : slices) {
            const bool evaluation = slice["args"]["phase"] == "evaluation";
            if (evaluation) evaluated[slice["args"]["epoch"]].push_back(slice["name"]);
            EXPECT_EQ(slice["args"].contains("predicted_us"), lane.first == measured) << slice;
        }
        if (lane.first != measured) continue;
        std::vector<std::string> steps;
        for (const Json& step : run["evaluation"]) steps.push_back(step["name"]);
        EXPECT_EQ(evaluated, (std::map<std::int64_t, std::vector<std::string>>{{2, steps}, {4, steps}}));
    }
    double predicted_evaluation = 0;
    for (const Json& step : run["evaluation"]) predicted_evaluation += step["predicted_seconds"].get<double>();
    double drawn = 0;
    for (const auto& [lane, slices] : all) {
        for (const Json& slice : slices) {
            if (lane.first == predicted && slice["args"]["phase"] == "evaluation") drawn += slice["dur"].get<double>();
        }
    }
    EXPECT_NEAR(drawn, 2 * predicted_evaluation * 1e6, 0.1);
}

// Two ranks never begin all their exchanges at the same nanosecond.
TEST_F(Trace, DrawsWaitingWithinTheStepsThatWait) {
    ASSERT_EQ(run("--epochs 20 --autotune 0 --eval-every 0").code, 0);
    lanes();
    int waits = 0;
    for (const auto& [lane, count] : waits_) {
        EXPECT_EQ(lane.first, measured);
        waits += count;
    }
    EXPECT_GT(waits, 0);
}

TEST_F(Trace, ShowsTheCandidateThatTrainedTheLastEpochs) {
    const Outcome outcome = run("--epochs 30 --autotune 2 --eval-every 0");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json run = report();
    std::int64_t tuned = 0;
    for (const Json& candidate : run["autotune"]["tried"]) tuned += candidate["epochs"].get<std::int64_t>();
    // The last one tried is not set up again when it wins: its trial is the begin of its epochs.
    const Json& last = run["autotune"]["tried"].back();
    if (last["candidate"] == run["autotune"]["chosen"]) tuned -= last["epochs"].get<std::int64_t>();
    const std::vector<Json> slices = lanes().at({measured, 0});
    EXPECT_EQ(epochs_of(slices).front(), std::max<std::int64_t>(tuned + 1, 11));
    EXPECT_EQ(epochs_of(slices).back(), 30);
    for (std::size_t i = 0; i < run["steps"].size(); ++i) EXPECT_EQ(slices[i]["name"], run["steps"][i]["name"]);
}

TEST_F(Trace, CannotBeCreatedIsFoundOutFirst) {
    const Outcome outcome = run_program(
        GNNRUN_TOOL, folder_ / "plan.json" + " --data nowhere --in-process --trace " + folder_ / "no" + "/trace.json");
    EXPECT_EQ(outcome.code, 73) << outcome.err;
    EXPECT_THAT(run_program(GNNRUN_TOOL, "--help").out, ::testing::HasSubstr("at most 20"));
}

}  // namespace
}  // namespace gnnplan::testing
