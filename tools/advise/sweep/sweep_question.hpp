// The question of a point of a sweep, and the answer.
#pragma once

#include "tools/advise/sweep/sweep.hpp"
#include "tools/ask/problem.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct Question {
    const LoadedProblem* loaded = nullptr;
    Shape shape;
    SelectOptions search;
    Machine machine;
};
SelectResult answer(const Question& question);
// The answer where runs treat their features otherwise than `chosen`, which answers the question, expects.
std::optional<SelectResult> answer_otherwise(const Question& question, const Configuration& chosen);

// "ranks=2,4,8". Throws Error{usage} that says which names and values there are.
Variation parse_variation(const std::string& text);
// The names of --vary.
std::vector<std::string> variation_names();

// The question with the settings `at`.
Question with_settings(Question question, const std::vector<Variation>& variations, const std::vector<std::size_t>& at);

// Answers every combination. A point that cannot be planned says why; throws Error{usage} when none can be and not for
// lack of memory. `progress` is told which point is next and how many there are.
using Progress = std::function<void(std::size_t point, std::size_t points)>;
Sweep run_sweep(const Question& question, std::vector<Variation> variations, const Progress& progress);

}  // namespace gnnplan::tools
