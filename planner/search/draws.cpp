#include "planner/search/draws.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <functional>

namespace gnnplan::search {

void check_draws(bool trains, const std::vector<std::int64_t>& fanout) {
    if (!trains || fanout.empty()) return;
    throw Error(ErrorCode::usage, "only an inference draws neighbours layer by layer", "`fanout`",
                "say `task infer`, or train on batches whose sampler draws neighbours");
}

Batches drawn_updates(const std::vector<std::int64_t>& fanout, const std::optional<Batches>& batches) {
    if (batches)
        throw Error(ErrorCode::usage, "updates are of batches already, which have all edges among their vertices",
                    "`fanout`", "leave out `fanout`, or `sampler`");
    if (std::ranges::adjacent_find(fanout, std::not_equal_to()) != fanout.end())
        throw Error(ErrorCode::usage, "the layers of a training share the neighbours that an update draws", "`fanout`",
                    "give one number");
    return {{.sampler = Sampler::neighbours, .budget = fanout.front()}, 1};
}

}  // namespace gnnplan::search
