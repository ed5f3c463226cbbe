#include "tools/text/sampler.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/words.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::tools {

Sampling parse_sampler(const std::string& text, const std::string& where) {
    const std::vector<std::string> parts = split(text, ":");
    const auto refuse = [&](const std::string& why) -> Error {
        return {ErrorCode::usage, "'" + text + "' " + why, where,
                "e.g. walk:3000:2, node:6000, edge:4000 or cluster:20:1500"};
    };
    const auto number = [&](std::size_t i) {
        const auto value = number_from<std::int32_t>(parts[i]);
        if (!value || *value < 1) throw refuse("has a number that is not 1 to 2^31 - 1");
        return *value;
    };
    Sampling sampling;
    const std::string& name = parts.front();
    const bool two = name == "walk" || name == "cluster";
    if (name != "node" && name != "edge" && !two) throw refuse("names no sampler");
    if (parts.size() != (two ? 3U : 2U)) throw refuse("has too few or too many numbers");
    sampling.sampler = name == "node"   ? Sampler::node
                       : name == "edge" ? Sampler::edge
                       : name == "walk" ? Sampler::walk
                                        : Sampler::cluster;
    sampling.budget = number(1);
    if (name == "walk") sampling.walk_length = number(2);
    if (name == "cluster") sampling.clusters = number(2);
    return sampling;
}

}  // namespace gnnplan::tools
