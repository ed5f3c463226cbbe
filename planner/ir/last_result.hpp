// The last layer's result, and the end, among the sites of a model.
#pragma once

#include <gnnplan/ir/sites.hpp>

#include <cstddef>

namespace gnnplan {

// Adds what layer L leaves to `graph.results`, and says whose rows and columns the ends of the model have: logits to
// which every layer adds are sums across layers. False unless all `sums_across` of them make the logits.
bool add_last_result(SiteGraph& graph, std::size_t sums_across);

// The loss, or the output, that an operation makes of these logits.
Site end_of(const Op& op, int logits);

}  // namespace gnnplan
