#include "tools/gnnrun/artifacts.hpp"

#include "planner/io/files.hpp"
#include "planner/io/report.hpp"
#include "tools/common/main.hpp"
#include "tools/common/outputs.hpp"

namespace gnnplan::tools {

void check_artifacts(const RunFlags& flags) {
    check_outputs({{"--report", flags.report}, {"--metrics", flags.metrics}, {"--trace", flags.trace}},
                  {{"the plan", flags.plan}, {"--data", flags.data}});
}

void Metrics::add(const EpochRecord& epoch) {
    if (!path_ || failed_) return;
    if (!file_) file_.reset(std::fopen(path_->c_str(), "w"));
    const std::string line = io::metrics_line(epoch);
    failed_ =
        !file_ || std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0;
}

void Metrics::check() const {
    if (failed_) throw Error(ErrorCode::io, "not all lines could be written", *path_);
}

bool write_artifacts(const RunFlags& flags, const RunReport& report, const std::optional<io::Trace>& trace,
                     const Metrics& metrics) {
    bool all = true;
    const auto attempt = [&](const auto& write) {
        all = run_guarded([&] {
                  write();
                  return 0;
              }) == 0 &&
              all;
    };
    if (flags.report) attempt([&] { io::write_file_atomically(*flags.report, io::write_report(report)); });
    if (flags.trace) attempt([&] { io::write_file_atomically(*flags.trace, io::write_trace(trace.value())); });
    attempt([&] { metrics.check(); });
    return all;
}

}  // namespace gnnplan::tools
