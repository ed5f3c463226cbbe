// What `gnnplan enumerate --json` prints, schema gnnplan.enumeration/1: docs/plan-format.md.
#pragma once

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
    std::optional<std::vector<std::string>> kept;  // written when there is something to say
};

struct EnumerationDocument {
    std::string tool_version;
    std::string command_line;
    std::int64_t vertices = 0;
    std::int64_t nonzeros = 0;
    int ranks = 1;
    int replication = 1;
    std::string scheme = "rdm";
    std::string space = "paper";
    std::vector<std::int64_t> widths;
    bool truncated = false;  // only the Pareto front is listed
    std::vector<EnumeratedConfiguration> configurations;
};

std::string write_enumeration(const EnumerationDocument& enumeration);

}  // namespace gnnplan::io
