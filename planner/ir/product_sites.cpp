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
    if (linear != nullptr) product.parameter = linear->parameter, product.share = linear->share;
    product.rows_of = product.columns_of = aggregation.layer;
    return product;
}

Site sum_of(int input, const Site& added_to, int addend) {
    Site sum{SiteKind::linear, input, added_to.layer, added_to.width};
    sum.addend = addend;
    sum.rows_of = added_to.rows_of;
    sum.columns_of = added_to.columns_of;
    return sum;
}

std::string_view why_no_product(const SiteGraph& made, const Site& product) {
    const bool known = product.hops >= 1 && product.hops <= max_hops && product.teleport >= 0 && product.teleport <= 1;
    if (!known) return "has no such number of hops, or no such share";
    const bool plain = product.reduce == Reduce::sum && product.maps() && product.hops == 1 && !product.adds_self();
    const std::int64_t width = made.at(product.input).width;
    if (product.share != 1 && product.mapped_width() != width) return "has no square weight";
    const bool fits =
        product.initial < 0 || (product.initial != product.input && made.at(product.initial).width == width);
    if (!fits) return "adds what it reads, or what is not as wide";
    if (product.initial >= 0 && (!plain || product.teleport == 1))
        return "adds another value to what is no plain sum, or adds nothing else";
    if (product.propagates() && product.reduce != Reduce::sum) return "is no sum, which alone is made several times";
    if (product.reduce == Reduce::cosine && (product.beta < 0 || product.maps())) return "has no beta, or a linear map";
    if ((product.propagates() || !product.reorderable()) && product.adds_self())
        return "adds a vertex itself to what is no plain sum";
    return "";
}

}  // namespace gnnplan
