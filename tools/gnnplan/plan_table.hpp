// What `gnnplan plan` prints for people.
#pragma once

#include "tools/gnnplan/configuration_text.hpp"

#include <gnnplan/select.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// "a6000x8 (preset, not measured here: expect larger error)"
std::string machine_line(const Machine& machine);
// "reddit (card: GNN-RDM Table V)   N=232,965  nnz=..."
std::string graph_line(const ProblemRecord& problem);

// "602-(99 x 128)-41"
std::string widths_text(const std::vector<std::int64_t>& widths);

// Graph, model, machine and how large the search was.
std::string plan_header(const ProblemRecord& problem, const Machine& machine, const Selection& selection);
// The best of each scheme and the rest of the `top` fastest, what their words mean, what is not shown and why, and what
// the model cannot tell apart. `objectives`: what the search marked the front over.
std::string plan_table(const Selection& selection, const std::vector<Objective>& objectives, std::int64_t top,
                       bool color);
// Of accelerators: what loading takes on their hosts, and whether the best leaves a device some room. Else empty.
std::string memory_lines(const Selection& selection, const GraphStats& graph);

// "needs 1.2 GiB of 900 MB (858 MiB) per rank, fits on 4 ranks"
std::string infeasible_text(const Infeasible& infeasible);

// By how much the runner-up is slower than the best, as a fraction; none when nothing else fits.
std::optional<double> separation(const Selection& selection);
// How many of the ranking the model cannot tell from the best, which is one of them.
std::int64_t ties(const Selection& selection);

}  // namespace gnnplan::tools
