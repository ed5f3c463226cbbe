#include "planner/enumerate/ring.hpp"

namespace gnnplan::enumerate {

std::vector<bool> ring_choices(bool trains, const Distribution& on, std::optional<bool> pinned) {
    const bool applies = !trains && on.splits_columns();
    std::vector<bool> choices;
    for (const bool ring : {false, true}) {
        if (ring == pinned.value_or(ring) && (applies || !ring)) choices.push_back(ring);
    }
    return choices;
}

}  // namespace gnnplan::enumerate
