// A model in a few words, without its widths.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <string>

namespace gnnplan::tools {

// "sage max, residual with bias".
std::string model_text(const ModelRecord& model);

// Says what the model is trained and judged by, where that is not a softmax: ", several labels a vertex ranked by
// ROC-AUC".
std::string loss_text(const ModelRecord& model);

// A model's name as papers write it: "GCN", "GraphSAGE".
std::string model_title(const std::string& name);

}  // namespace gnnplan::tools
