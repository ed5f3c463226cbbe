#include "planner/io/trace.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gnnplan::io {
namespace {

using nlohmann::json;

Trace sample_trace() {
    Trace trace;
    trace.tool_version = "0.1.0";
    trace.command_line = "gnnrun \"a b\"";
    const TraceSlice first{"forward.1.spmm", "spmm", 7, 0, 1'500, 64, false, 500, 750};
    const TraceSlice second{"all_reduce.W1", "all_reduce", 7, 1'500, 1'000'000'001, 0, true, 0, {}};
    trace.processes = {{"measured", {{"rank 0", {first, second}}, {"rank 1", {second}}}}, {"predicted", {}}};
    return trace;
}

TEST(Trace, SlicesAreCompleteEventsInMicroseconds) {
    const json trace = json::parse(write_trace(sample_trace()));
    std::vector<json> slices;
    for (const json& event : trace["traceEvents"]) {
        if (event["ph"] == "X") slices.push_back(event);
    }
    ASSERT_EQ(slices.size(), 4U);
    EXPECT_EQ(slices[0], json::parse(R"({"name": "forward.1.spmm", "cat": "spmm", "ph": "X", "pid": 0, "tid": 0,
                                         "ts": 0, "dur": 1.5, "args": {"kind": "spmm", "phase": "epoch", "epoch": 7,
                                         "bytes": 64, "predicted_us": 0.75, "measured_over_predicted": 2}})"));
    EXPECT_EQ(slices[1]["name"], "waiting");
    EXPECT_EQ(slices[1]["ts"], 0);
    EXPECT_EQ(slices[1]["dur"], 0.5);
    EXPECT_EQ(slices[2]["ts"], 1.5);
    EXPECT_EQ(slices[2]["dur"], 1000000.001);
    EXPECT_EQ(slices[2]["args"]["phase"], "evaluation");
    EXPECT_EQ(slices[3]["tid"], 1);
}

TEST(Trace, ProcessesAndLanesAreNamedAndKeepTheirOrder) {
    const json trace = json::parse(write_trace(sample_trace()));
    std::vector<std::string> names;
    for (const json& event : trace["traceEvents"]) {
        if (event["ph"] != "M" || !event["args"].contains("name")) continue;
        names.push_back(event["name"].get<std::string>() + " " + event["pid"].dump() + " " + event["tid"].dump() + " " +
                        event["args"]["name"].get<std::string>());
    }
    EXPECT_EQ(names, (std::vector<std::string>{"process_name 0 0 measured", "thread_name 0 0 rank 0",
                                               "thread_name 0 1 rank 1", "process_name 1 0 predicted"}));
    EXPECT_EQ(trace["otherData"]["schema"], "gnnplan.trace/1");
    EXPECT_EQ(trace["otherData"]["command_line"], "gnnrun \"a b\"");
}

}  // namespace
}  // namespace gnnplan::io
