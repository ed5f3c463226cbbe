// Configurations of the paper space, built as the search builds them.
#pragma once

#include "planner/enumerate/memoization.hpp"
#include "planner/enumerate/orders.hpp"
#include "planner/enumerate/units.hpp"
#include "planner/lower/lower.hpp"

#include <gnnplan/models.hpp>

namespace gnnplan::lower {

inline Configuration configuration(const enumerate::OrderPair& orders, const std::vector<std::int64_t>& widths,
                                   int ranks, int replication) {
    Configuration c;
    c.id = paper_id(orders.forward, orders.backward);
    c.grid = {ranks / replication, replication, 1};
    c.forward = orders.forward;
    c.backward = orders.backward;
    c.operands = enumerate::paper_operands(orders.forward, orders.backward, widths);
    c.exchange = c.grid.x > 1 ? Exchange::panels : Exchange::none;
    return c;
}

inline Schedule lowered(const enumerate::OrderPair& orders, const std::vector<std::int64_t>& widths, int ranks,
                        int replication, std::int64_t vertices = 100, bool bias = false) {
    return lower(sites_of(models::gcn(widths, bias)), configuration(orders, widths, ranks, replication),
                 {vertices, true, {}, 0});
}

}  // namespace gnnplan::lower
