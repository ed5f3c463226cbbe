// What is searched for a problem, as people say it, and what that amounts to.
#pragma once

#include "tools/advise/problem.hpp"

#include <gnnplan/select.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gnnplan::tools {

// What is searched; unset: everything.
struct SearchFlags {
    std::string space = "full";
    std::optional<std::string> scheme, forward, backward, grid;
    std::optional<std::int64_t> replication;
    std::map<std::string, std::string> switches;  // by key, as flags spell their values (switch_words.hpp)
    std::int64_t memory = 0;                      // bytes per rank; 0: the machine's
    std::int64_t buffer = 0;                      // bytes of a product's buffers; 0: any
};

struct ProblemFlags {
    ShapeFlags shape;
    PreparationFlags preparation;
    ModelFlags model;
    std::string machine;  // "": the default, default_machine()
    SearchFlags search;
};

// Throws Error{usage} when --partition has no graph to partition.
void check_partition(const ProblemFlags& flags);
LoadedProblem load_problem(const ProblemFlags& flags);

// "2x3" or "2x3x2". Throws Error{usage}.
Grid parse_grid(const std::string& text);
SearchSpace parse_space(const std::string& name);
SelectOptions select_options(const SearchFlags& flags);

}  // namespace gnnplan::tools
