// Run reports, schema gnnplan.run/1, and the metrics of single epochs: docs/plan-format.md.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <string>
#include <string_view>

namespace gnnplan::io {

inline constexpr std::string_view report_schema = "gnnplan.run/1";

// `report.fingerprints.content` is that of the plan that ran. A loss that is not finite is written as null.
std::string write_report(const RunReport& report);

// Throws Error{data} like read_plan. A loss of null is read as NaN.
RunReport read_report(std::string_view text, const std::string& where);

// One epoch as one line of JSON, newline included, with the keys of an epoch of the report.
std::string metrics_line(const EpochRecord& epoch, std::optional<std::uint64_t> seed = {});

}  // namespace gnnplan::io
