// The parts of which the data of a page is put together.
#pragma once

#include "planner/io/document.hpp"
#include "tools/advise/analysis.hpp"
#include "tools/advise/json/page_json.hpp"

namespace gnnplan::tools {

// The first lines of the page: texts, and the figures in them.
io::Document encode_answer(const PageQuestion& question);
// The candidates, the best of each other scheme and the defaults of frameworks, the fastest first.
io::Document encode_race(const Plan& plan);
// The alternatives in words, in the plan's order.
io::Document encode_worth(const Plan& plan);
// Names and values of where everything comes from.
io::Document encode_provenance(const PageQuestion& question);

// The steps of the candidate that the run trained, else of the first one, as columns; of a run what was measured, too.
io::Document encode_page_steps(const PageQuestion& question, const Analysis* analysis);
// The bytes of an epoch that each rank sends and receives; of a run also those that were counted.
io::Document encode_rank_bytes(const PageQuestion& question);
// The epochs of a run as columns: loss, seconds and whatever was judged.
io::Document encode_course(const RunReport& run);

// The plan whose first candidate is the one that the run trained.
Plan as_trained(const PageQuestion& question);

}  // namespace gnnplan::tools
