#include "tools/gnnrun/artifacts.hpp"

#include "planner/io/files.hpp"
#include "planner/io/report.hpp"

namespace gnnplan::tools {

void check_artifacts(const RunFlags& flags) {
    for (const auto& file : {flags.report, flags.metrics, flags.trace}) {
        if (file) io::check_can_create(*file);
    }
}

void Metrics::add(const EpochRecord& epoch) {
    if (!path_ || failed_) return;
    if (!file_) file_.reset(std::fopen(path_->c_str(), "w"));
    const std::string line = io::metrics_line(epoch);
    failed_ =
        !file_ || std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0;
}

void Metrics::finish() const {
    if (failed_) throw Error(ErrorCode::io, "not all lines could be written", *path_);
}

void write_artifacts(const RunFlags& flags, const RunReport& report, const std::optional<io::Trace>& trace) {
    if (flags.report) io::write_file_atomically(*flags.report, io::write_report(report));
    if (flags.trace) io::write_file_atomically(*flags.trace, io::write_trace(trace.value()));
}

}  // namespace gnnplan::tools
