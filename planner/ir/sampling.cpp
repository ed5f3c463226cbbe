#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sampling.hpp>

#include <algorithm>
#include <string>

namespace gnnplan {

std::int64_t drawn_vertices(const Sampling& sampling, std::int64_t vertices) {
    switch (sampling.sampler) {
        case Sampler::node: return sampling.budget;
        case Sampler::edge: return 2 * sampling.budget;
        case Sampler::walk: return sampling.budget * (sampling.walk_length + 1);
        case Sampler::neighbours: return vertices;
        case Sampler::cluster: break;
    }
    return std::max<std::int64_t>(1, vertices * sampling.budget / sampling.clusters);
}

void check_sampling(const Sampling& sampling, std::int64_t vertices) {
    const auto refuse = [](const std::string& why) { throw Error(ErrorCode::usage, why, "`sampler`"); };
    if (sampling.budget < 1) refuse("a batch is made of at least one draw");
    constexpr std::int64_t few = 1'000'000, most_times = 100;
    if (const std::int64_t drawn = sampling.sampler == Sampler::cluster ? 0 : drawn_vertices(sampling, vertices);
        drawn > few && drawn / most_times > vertices)
        refuse("a batch draws " + std::to_string(drawn) +
               " vertices, more than a hundred times as many as the graph's " + std::to_string(vertices) +
               ": draw fewer");
    if (sampling.sampler == Sampler::walk && sampling.walk_length < 1) refuse("a walk has at least one step");
    if (sampling.sampler != Sampler::cluster) return;
    if (sampling.clusters < std::max<std::int64_t>(2, sampling.budget))
        refuse("a batch of " + std::to_string(sampling.budget) + " clusters cannot be drawn of " +
               std::to_string(sampling.clusters) + " parts: there are at least two, and as many as a batch has");
    if (sampling.clusters > vertices)
        refuse(std::to_string(sampling.clusters) + " parts are more than the sampled graph's " +
               std::to_string(vertices) + " vertices");
}

}  // namespace gnnplan
