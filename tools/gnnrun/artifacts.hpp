// Files a run leaves behind: complete, or not there at all, but for metrics, which grow while it runs.
#pragma once

#include "planner/io/trace.hpp"
#include "tools/gnnrun/flags.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gnnplan::tools {

// Finds out before training that --report, --metrics or --trace cannot be written. Throws Error{cannot_create}.
void check_artifacts(const RunFlags& flags);

// --metrics: a line as soon as an epoch is done, so that others can follow a run and nothing is lost with it.
class Metrics {
public:
    // Without a path nothing is written.
    explicit Metrics(std::optional<std::string> path) : path_(std::move(path)) {}
    // Never throws: a run goes on without its metrics.
    void add(const EpochRecord& epoch);
    // Throws Error{io} when a line could not be written.
    void check() const;

private:
    std::optional<std::string> path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
    bool failed_ = false;
};

// Writes the report and the trace, which is there when --trace is. A file that cannot be written, metrics included, is
// said on stderr and costs itself alone: then the answer is false.
bool write_artifacts(const RunFlags& flags, const RunReport& report, const std::optional<io::Trace>& trace,
                     const Metrics& metrics);

}  // namespace gnnplan::tools
