#include "planner/ir/product_sites.hpp"

namespace gnnplan {

Site product_of(const Op& aggregation, const Op* linear, int input) {
    const bool maps_last = linear != nullptr && linear->inputs.front() > aggregation.inputs.front();
    Site product{SiteKind::product, input, aggregation.layer, maps_last ? linear->width : aggregation.width};
    product.reduce = aggregation.reduce;
    product.hops = aggregation.hops, product.teleport = aggregation.teleport;
    product.self = aggregation.self;
    product.heads = aggregation.heads;
    if (product.reduce == Reduce::cosine) {
        product.beta = aggregation.parameter, product.heads.count = 1;
    } else {
        product.self_parameter = aggregation.parameter;
    }
    if (linear != nullptr) product.parameter = linear->parameter;
    product.rows_of = product.columns_of = aggregation.layer;
    return product;
}

std::string_view why_no_product(const Site& product) {
    const bool known = product.hops >= 1 && product.hops <= max_hops && product.teleport >= 0 && product.teleport <= 1;
    if (!known) return "has no such number of hops, or no such share";
    if (product.propagates() && product.reduce != Reduce::sum) return "is no sum, which alone is made several times";
    if (product.reduce == Reduce::cosine && (product.beta < 0 || product.maps())) return "has no beta, or a linear map";
    if ((product.propagates() || !product.reorderable()) && product.adds_self())
        return "adds a vertex itself to what is no plain sum";
    return "";
}

}  // namespace gnnplan
