// The question to select(): which network, on which graph, on which machine.
#pragma once

#include <gnnplan/catalog.hpp>
#include <gnnplan/select.hpp>

#include <memory>
#include <optional>
#include <string>

namespace gnnplan {

// The problem of a question. `question` has to say the model, with its widths f_0 .. f_L, and the ranks; it may say
// task, fanout, loading and the settings of runs. Everything that follows from graph and model is filled in: sizes,
// self loops, normalisation (the model's, unless one is asked for) and operations. Of a directed graph that is to be
// symmetrised (`graph.symmetrised`), no edge is taken to have its reverse yet. The problem keeps the graph. Throws
// Error{usage} for a model that there is not, and for sizes that no graph has.
Problem make_problem(ProblemRecord question, const GraphSizes& graph, std::optional<Normalisation> normalisation = {});

// The same on statistics of your own. They are of the matrix that the model multiplies by, with self loops where
// models::matrix_of() says so.
Problem make_problem(ProblemRecord question, std::shared_ptr<const GraphStats> graph,
                     std::optional<Normalisation> normalisation = {});

// Adds to what select() has found for a network with linear maps before layer 1 what they cost: the alternative `pre`,
// the fastest of all without them, which may keep A^T X over epochs. Adds nothing where there is no such plan.
void add_plan_without_maps(Selection& selection, Problem problem, const Machine& machine, SelectOptions options);

// The machine that `gnnplan plan --machine` takes: the file of a profile, or a preset's name, e.g. "a6000x8". "" is the
// machine that plans are made for when none is named: calibrated(ranks), and "cpu-node" where nothing was measured.
// "cuda" is the calibration of this machine's GPUs. Throws Error{missing_input} where there is neither file nor preset,
// or no such calibration, and Error{data} where the file is no profile.
Machine find_machine(const std::string& name_or_file, int ranks = 1);

}  // namespace gnnplan
