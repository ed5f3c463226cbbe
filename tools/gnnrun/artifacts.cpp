#include "tools/gnnrun/artifacts.hpp"

#include "planner/io/files.hpp"
#include "planner/io/report.hpp"

namespace gnnplan::tools {

void check_artifacts(const RunFlags& flags) {
    if (flags.report) io::check_can_create(*flags.report);
    if (flags.metrics) io::check_can_create(*flags.metrics);
}

void write_artifacts(const RunFlags& flags, const RunReport& report) {
    if (flags.report) io::write_file_atomically(*flags.report, io::write_report(report));
    if (flags.metrics) {
        std::string lines;
        for (const EpochRecord& epoch : report.epochs) lines += io::metrics_line(epoch);
        io::write_file_atomically(*flags.metrics, lines);
    }
}

}  // namespace gnnplan::tools
