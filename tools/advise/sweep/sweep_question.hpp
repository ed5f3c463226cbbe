// The question of a point of a sweep, and the answer.
#pragma once

#include "tools/advise/sweep/sweep.hpp"
#include "tools/ask/problem.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

struct Question {
    const LoadedProblem* loaded = nullptr;  // of the graph and the network below
    Shape shape;
    SelectOptions search;
    Machine machine;
    GraphReading reading = {};
    Network network = {};
    std::optional<int> ranks_per_node = {};  // of whatever machine; unset: as many as in its profile
};
SelectResult answer(const Question& question);
// The answer where runs treat their features otherwise than `chosen`, which answers the question, expects.
std::optional<SelectResult> answer_otherwise(const Question& question, const Configuration& chosen);

// The graphs that the points of a sweep ask about. Each is read once for each network and drawing that needs another
// matrix of it, and stays as long as this does.
class SweepGraphs {
public:
    using Read = std::function<LoadedProblem(const Question&)>;
    explicit SweepGraphs(Read read) : read_(std::move(read)) {}

    // Throws what `read` throws, and tries again when it is asked again.
    const LoadedProblem& of(const Question& question);

private:
    Read read_;
    std::map<std::string, LoadedProblem> loaded_;
};

// Answers every combination. A point that cannot be planned says why; throws Error{usage} when none can be and not for
// lack of memory. `progress` is told which point is next and how many there are.
using Progress = std::function<void(std::size_t point, std::size_t points)>;
Sweep run_sweep(const Question& question, std::vector<Variation> variations, SweepGraphs& graphs,
                const Progress& progress);

}  // namespace gnnplan::tools
