#include "planner/io/sampling_words.hpp"

#include "planner/io/enum_names.hpp"

namespace gnnplan::io {

std::vector<std::pair<std::string, std::string>> words_of(const std::optional<Batches>& batches) {
    if (!batches) return {{"the batches' sampler", "none"}};
    const Sampling& sampling = batches->sampling;
    std::string sampler = std::string(name_of(sampling.sampler)) + ":" + std::to_string(sampling.budget);
    if (sampling.sampler == Sampler::walk) sampler += ":" + std::to_string(sampling.walk_length);
    if (sampling.sampler == Sampler::cluster) sampler += ":" + std::to_string(sampling.clusters);
    return {{"the batches' sampler", sampler},
            {"the batches' number for an update", std::to_string(batches->per_update)},
            {"the batches' coverage", std::to_string(sampling.coverage)},
            {"the batches' weighing by coefficients", sampling.coefficients ? "on" : "off"},
            {"the batches' graph", sampling.training_graph ? "train" : "all"},
            {"the batches' seed", std::to_string(sampling.seed)}};
}

}  // namespace gnnplan::io
