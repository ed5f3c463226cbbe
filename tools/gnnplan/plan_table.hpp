// What `gnnplan plan` prints for people.
#pragma once

#include "tools/gnnplan/problem.hpp"

#include <gnnplan/select.hpp>

#include <string>

namespace gnnplan::tools {

// "a6000x8 (preset, not measured here: expect larger error)"
std::string machine_line(const Machine& machine);
// "reddit (card: GNN-RDM Table V)   N=232,965  nnz=..."
std::string graph_line(const ProblemRecord& problem);
// "T1" as "ÂH0": what is kept for the backward pass; "-" when nothing is.
std::string kept_text(const Configuration& configuration);

// Header lines and the `top` best of the ranking.
std::string plan_header(const ProblemRecord& problem, const Machine& machine, const Selection& selection);
std::string plan_table(const Selection& selection, std::int64_t top, bool color);

}  // namespace gnnplan::tools
