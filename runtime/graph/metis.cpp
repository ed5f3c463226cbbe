#include "runtime/graph/metis.hpp"

#include "runtime/graph/partition.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#ifdef GNNPLAN_METIS
#include <metis.h>

#include <mutex>
#include <new>
#endif

namespace gnnplan::data {

#ifdef GNNPLAN_METIS

bool has_partitioner() { return true; }

std::vector<std::int32_t> metis_parts(Neighbours& graph, int parts, Weighed weighed) {
    static_assert(sizeof(idx_t) == sizeof(std::int32_t), "the build accepts a METIS with 32-bit indices only");
    idx_t vertices = checked_cast<idx_t>(graph.start.size() - 1);
    idx_t constraints = 1;
    idx_t part_count = parts;
    idx_t cut = 0;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1;
    std::vector<std::int32_t> part(graph.start.size() - 1);
    std::vector<idx_t> weights;
    if (weighed == Weighed::by_degree) {
        weights.reserve(part.size());
        for (std::int64_t v = 0; v < graph.vertices(); ++v) weights.push_back(static_cast<idx_t>(graph.degree(v) + 1));
    }

    // METIS draws from the C library's rand(), which it seeds first: ranks that are threads of one process get the same
    // parts only one after the other.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const int status = METIS_PartGraphKway(&vertices, &constraints, graph.start.data(), graph.vertex.data(),
                                           weights.empty() ? nullptr : weights.data(), nullptr, nullptr, &part_count,
                                           nullptr, nullptr, options, &cut, part.data());
    if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
    if (status != METIS_OK) throw Error(ErrorCode::unavailable, "METIS failed with status " + std::to_string(status));
    return part;
}

#else

bool has_partitioner() { return false; }

std::vector<std::int32_t> metis_parts(Neighbours& /*graph*/, int /*parts*/, Weighed /*weighed*/) {
    throw Error(ErrorCode::unavailable, "this build has no partitioner", {},
                "install libmetis-dev and build again, or plan without a partition");
}

#endif

}  // namespace gnnplan::data
