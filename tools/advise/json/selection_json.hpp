// The result of a search, as the JSON of tools: keys are those of plan files where they mean the same.
#pragma once

#include "planner/io/document.hpp"

#include <gnnplan/select.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

io::Document encode(const RankedConfiguration& ranked);
io::Document encode(const std::vector<RankedConfiguration>& ranked);
io::Document encode(const std::vector<Rejection>& rejected);

// gnnplan.infeasible/1
io::Document encode(const Infeasible& infeasible, const std::string& message);

// gnnplan.ranking/1: the table of `gnnplan plan`, every row of it.
io::Document encode_ranking(const Selection& selection);

}  // namespace gnnplan::tools
