// A publication as a sweep: the runs of its main figure, and the figures printed of them beside those predicted.
#pragma once

#include "tools/advise/sweep/sweep_question.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// Its cases, what they are shown along, and what competes; a variation of `asked` takes the place of one of the same
// name, and others come behind.
std::vector<Variation> variations_of(const catalog::PaperFigure& publication, const std::vector<Variation>& asked);

// The question with what holds for all runs of the publication.
Question with_settings(Question question, const catalog::PaperFigure& publication);

// Puts the printed figures to the points that are runs of the publication: of its machine, and with nothing else
// varied.
void add_printed(Sweep& sweep, const catalog::PaperFigure& publication);

}  // namespace gnnplan::tools
