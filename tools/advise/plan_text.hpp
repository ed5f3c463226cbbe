// A problem, a machine and the outcome of a search in a line each.
#pragma once

#include <gnnplan/select.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// The name of a run of the schedule's main phase: "epoch", or "pass".
inline const char* time_name(Task task) { return task == Task::infer ? "pass" : "epoch"; }
// The name of the time by which plans are ranked.
inline const char* ranked_time_name(Task task) { return task == Task::infer ? "load + pass" : "epoch"; }

// "a6000x8 (preset, not measured here: expect larger error)"
std::string machine_line(const Machine& machine);
// "64 ranks on 8 nodes of 8"
std::string ranks_text(int ranks, const Machine& machine);
// "reddit (card: GNN-RDM Table V)   N=232,965  nnz=..."
std::string graph_line(const ProblemRecord& problem);

// "602-(99 x 128)-41"
std::string widths_text(const std::vector<std::int64_t>& widths);
// "appnp, 10 hops, teleport 0.1 1433-64-7", with the widths that were asked for, or without.
std::string network_text(const ModelRecord& model, bool with_widths = true);

// "needs 1.2 GiB of 900 MB (858 MiB) per rank, fits on 4 ranks"
std::string infeasible_text(const Infeasible& infeasible);

// The effect of the bound on buffers on the chosen configuration: "64 MiB of what others send to a product: ... in 12
// pieces"; "" where there is no bound.
std::string buffer_text(const Plan& plan);

// By how much the runner-up is slower than the best, as a fraction; none when nothing else fits.
std::optional<double> separation(const Selection& selection);
// How many of the ranking the model cannot tell from the best, which is one of them.
std::int64_t ties(const Selection& selection);

}  // namespace gnnplan::tools
