// The output of `gnnplan enumerate --json`, schema gnnplan.enumeration/1: docs/plan-format.md.
#pragma once

#include <gnnplan/ir/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::io {

inline constexpr std::string_view enumeration_schema = "gnnplan.enumeration/1";

struct EnumeratedConfiguration {
    std::int64_t id = 0;
    std::string forward;   // layers 1 .. L
    std::string backward;  // layers L .. 1
    double redistribution_units = 0;
    double sparse_units = 0;
    double communication_elements = 0;
    double spmm_ops = 0;
    bool pareto = false;
    // Only the full space has these: its other keys follow, named as in a plan, and the bytes of an epoch.
    std::optional<Configuration> configuration;
    std::int64_t total_bytes = 0;
};

struct EnumerationDocument {
    std::string tool_version;
    std::string command_line;
    std::int64_t vertices = 0;
    std::int64_t nonzeros = 0;
    int ranks = 1;
    std::optional<int> replication;     // none: every R_A there is
    std::optional<std::string> scheme;  // none: every scheme
    std::string space = "paper";
    std::vector<std::int64_t> widths;
    bool truncated = false;  // only the Pareto front is listed
    std::vector<EnumeratedConfiguration> configurations;
};

std::string write_enumeration(const EnumerationDocument& enumeration);

}  // namespace gnnplan::io
