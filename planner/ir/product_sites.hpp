// Products as sites: an aggregation, and the linear map beside it if there is one; and sums with them.
#pragma once

#include <gnnplan/ir/sites.hpp>

#include <string_view>

namespace gnnplan {

// The product of what the site `input` makes. It is as wide as the later of the two operations.
Site product_of(const Op& aggregation, const Op* linear, int input);

// The value of site `input` added in place to what site `addend` makes.
Site sum_of(int input, const Site& added_to, int addend);

// Says why a site can be no product; "" if it can be one.
std::string_view why_no_product(const SiteGraph& made, const Site& product);

}  // namespace gnnplan
