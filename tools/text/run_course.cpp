#include "tools/text/run_course.hpp"

#include <fmt/format.h>

namespace gnnplan::tools {

std::string ending_text(const RunReport& report) {
    if (!report.ended || report.epochs.empty()) return "";
    const std::string of = report.settings ? fmt::format(" of {}", report.settings->epochs) : "";
    return fmt::format("ended early: {} after epoch {}{}", *report.ended, report.epochs.back().epoch, of);
}

std::string course_text(const RunReport& report) {
    std::string ending = ending_text(report);
    if (!report.resumed_after) return ending;
    return fmt::format("resumed after epoch {}: its times are of later epochs{}{}", *report.resumed_after,
                       ending.empty() ? "" : "; ", ending);
}

}  // namespace gnnplan::tools
