// The flags that `plan` and `sweep` share: the problem, the machine, and what is pinned.
#pragma once

#include "planner/io/outputs.hpp"
#include "tools/gnnplan/problem_words.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// The heading of flags of the graph in --help.
inline constexpr const char* graph_heading = "Graph";
inline constexpr const char* task_heading = "Task";
inline constexpr const char* model_heading = "Model";
inline constexpr const char* training_heading = "Training";
inline constexpr const char* machine_heading = "Machine";
inline constexpr const char* pin_heading = "Pin a choice";
inline constexpr const char* output_heading = "Output";

void add_shape_flags(CLI::App& command, Shape& flags, const char* graph_type, std::int64_t max_ranks);
void add_preparation_flags(CLI::App& command, PreparationFlags& flags);
void add_index_base(CLI::App& command, std::string& value);  // --index-base

void add_problem_flags(CLI::App& command, ProblemFlags& flags);
// The files that loading such a problem reads; a card or a preset may stand for a file.
std::vector<io::NamedFile> files_read(const ProblemFlags& flags);
// --space and --scheme, which `enumerate` has, too.
void add_space_flags(CLI::App& command, std::string& space, std::optional<std::string>& scheme);

}  // namespace gnnplan::tools
