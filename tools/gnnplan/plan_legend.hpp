// The words of the plan table, explained below it.
#pragma once

#include "tools/advise/switch_words.hpp"

#include <gnnplan/select.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

// The last column: what is kept, then the choices; "-" when all is plain.
std::string choices_cell(const Configuration& configuration);

// Every word that such a cell can have, numbers and products left out, in the order in which cells have them.
std::vector<CellWord> cell_words();

// Explains the letters, marks and words of these rows, and no others.
std::string plan_legend(const std::vector<const RankedConfiguration*>& rows, Task task,
                        const std::vector<Objective>& objectives, std::size_t costed);

}  // namespace gnnplan::tools
