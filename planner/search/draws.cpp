#include "planner/search/draws.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::search {

void check_draws(bool trains, const std::vector<std::int64_t>& fanout) {
    if (!trains || fanout.empty()) return;
    throw Error(ErrorCode::usage, "only an inference draws neighbours layer by layer", "`fanout`", "add `task infer`");
}

}  // namespace gnnplan::search
