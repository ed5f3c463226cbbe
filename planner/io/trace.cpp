#include "planner/io/trace.hpp"

#include "planner/io/document.hpp"

namespace gnnplan::io {
namespace {

constexpr double nanoseconds_per_microsecond = 1e3;

double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / nanoseconds_per_microsecond; }

// A metadata event: `what` is process_name, thread_name or one of their sort indices.
Document metadata(const char* what, std::size_t pid, std::size_t tid, const char* key, Document value) {
    return Document::object({{"name", what},
                             {"ph", "M"},
                             {"pid", pid},
                             {"tid", tid},
                             {"args", Document::object({{key, std::move(value)}})}});
}

Document complete(const TraceSlice& slice, std::size_t pid, std::size_t tid) {
    Document args = Document::object({{"kind", slice.kind},
                                      {"phase", slice.evaluation ? "evaluation" : "epoch"},
                                      {"epoch", slice.epoch},
                                      {"bytes", slice.bytes}});
    if (slice.predicted_nanoseconds) {
        args.set("predicted_us", microseconds(*slice.predicted_nanoseconds));
        if (*slice.predicted_nanoseconds > 0) {
            args.set("measured_over_predicted",
                     static_cast<double>(slice.nanoseconds) / static_cast<double>(*slice.predicted_nanoseconds));
        }
    }
    return Document::object({{"name", slice.name},
                             {"cat", slice.kind},
                             {"ph", "X"},
                             {"pid", pid},
                             {"tid", tid},
                             {"ts", microseconds(slice.start_nanoseconds)},
                             {"dur", microseconds(slice.nanoseconds)},
                             {"args", std::move(args)}});
}

// The part of a slice in which it only waited.
TraceSlice waiting(const TraceSlice& slice) {
    return {"waiting",        "waiting", slice.epoch, slice.start_nanoseconds, slice.waiting_nanoseconds, 0,
            slice.evaluation, 0,         {}};
}

}  // namespace

std::string write_trace(const Trace& trace) {
    Document events = Document::array();
    for (std::size_t pid = 0; pid < trace.processes.size(); ++pid) {
        const TraceProcess& process = trace.processes[pid];
        events.push(metadata("process_name", pid, 0, "name", process.name));
        events.push(metadata("process_sort_index", pid, 0, "sort_index", pid));
        for (std::size_t tid = 0; tid < process.lanes.size(); ++tid) {
            const TraceLane& lane = process.lanes[tid];
            events.push(metadata("thread_name", pid, tid, "name", lane.name));
            events.push(metadata("thread_sort_index", pid, tid, "sort_index", tid));
            for (const TraceSlice& slice : lane.slices) {
                events.push(complete(slice, pid, tid));
                if (slice.waiting_nanoseconds > 0) events.push(complete(waiting(slice), pid, tid));
            }
        }
    }
    const Document root = Document::object({{"displayTimeUnit", "ms"},
                                            {"otherData", Document::object({{"schema", "gnnplan.trace/1"},
                                                                            {"tool_version", trace.tool_version},
                                                                            {"command_line", trace.command_line}})},
                                            {"traceEvents", std::move(events)}});
    return dump(root, 1) + "\n";
}

}  // namespace gnnplan::io
