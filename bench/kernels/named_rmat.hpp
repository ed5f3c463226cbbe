// R-MAT graphs that benchmarks of sparse products have names for.
#pragma once

#include "runtime/generate/generate.hpp"

#include <gnnplan/base/error.hpp>

#include <string>

namespace gnnplan::bench {

inline data::RmatOptions named_rmat(const std::string& graph) {
    if (graph == "arxiv") return {.vertices = 170'000, .nonzeros = 2'490'000, .seed = 1};
    if (graph == "mid") return {.vertices = 233'000, .nonzeros = 28'500'000, .seed = 1};  // 23.2M without duplicates
    const auto colon = graph.find(':');
    if (colon == std::string::npos) throw Error(ErrorCode::usage, "arxiv, mid or VERTICES:NONZEROS expected", graph);
    return {.vertices = std::stoll(graph.substr(0, colon)), .nonzeros = std::stoll(graph.substr(colon + 1)), .seed = 1};
}

}  // namespace gnnplan::bench
