#include "tools/gnnrun/artifacts.hpp"

#include "planner/io/files.hpp"
#include "planner/io/report.hpp"

namespace gnnplan::tools {

void check_artifacts(const RunFlags& flags) {
    for (const auto& file : {flags.report, flags.metrics, flags.trace}) {
        if (file) io::check_can_create(*file);
    }
}

void write_artifacts(const RunFlags& flags, const RunReport& report, const std::optional<io::Trace>& trace) {
    if (flags.report) io::write_file_atomically(*flags.report, io::write_report(report));
    if (flags.metrics) {
        std::string lines;
        for (const EpochRecord& epoch : report.epochs) lines += io::metrics_line(epoch);
        io::write_file_atomically(*flags.metrics, lines);
    }
    if (flags.trace) io::write_file_atomically(*flags.trace, io::write_trace(trace.value()));
}

}  // namespace gnnplan::tools
