// The output of `gnnrun --dry-run --json`, schema gnnplan.dry-run/1: docs/json-output.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::io {

inline constexpr std::string_view dry_run_schema = "gnnplan.dry-run/1";

struct DryRunStep {
    std::string name, phase, kind;
    std::int64_t bytes = 0;
    double seconds = 0;
};

struct DryRunDocument {
    int ranks = 1;
    int candidate = 0;
    int rank = 0;  // needs most memory; the bytes are its
    std::int64_t load_bytes = 0;
    std::int64_t adjacency_bytes = 0;
    std::int64_t arena_bytes = 0;
    std::int64_t peak_bytes = 0;
    std::optional<std::int64_t> host_peak_bytes;    // of an accelerator's host
    std::optional<std::int64_t> tuning_peak_bytes;  // while candidates are tried
    std::vector<DryRunStep> steps;
};

std::string write_dry_run(const DryRunDocument& run);

}  // namespace gnnplan::io
