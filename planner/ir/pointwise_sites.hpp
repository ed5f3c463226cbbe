// Operations on elements as sites: bias, activation and dropout, which follow each other in this order; and norms.
#pragma once

#include <gnnplan/ir/sites.hpp>

namespace gnnplan {

inline int stage_of(OpKind kind) { return kind == OpKind::bias ? 1 : kind == OpKind::dropout ? 3 : 2; }
inline int stage_of(const Site& site) {
    return site.dropout > 0 ? 3 : site.activation != Activation::none ? 2 : site.parameter >= 0 ? 1 : 0;
}

// One of the value of site `input`, with no operation yet.
inline Site pointwise_of(const Site& read, int input) {
    Site site{SiteKind::pointwise, input, read.layer, read.width};
    site.rows_of = read.rows_of, site.columns_of = read.columns_of;
    return site;
}

// Whether a norm has all of its parameters.
inline bool normalises(const Op& op) {
    return op.parameter >= 0 && op.shift >= 0 && op.keeps_running() == (op.kind == OpKind::batch_norm);
}

// The norm of the value of site `input`.
inline Site norm_of(const Op& op, const Site& read, int input) {
    Site site{SiteKind::norm, input, read.layer, read.width, op.parameter};
    site.shift = op.shift, site.running = op.running;
    site.rows_of = read.rows_of, site.columns_of = read.columns_of;
    return site;
}

// Whether a pointwise site, or the input, which is only dropped, may have the operation, too.
inline bool fits_behind(const Site& site, const Op& op) {
    const bool only_dropped = site.kind == SiteKind::input && op.kind != OpKind::dropout;
    return stage_of(op.kind) > stage_of(site) && !only_dropped;
}

inline void extend(Site& site, const Op& op) {
    if (op.kind == OpKind::dropout) site.dropout = op.layer;
    if (op.kind == OpKind::bias) site.parameter = op.parameter;
    if (stage_of(op.kind) == 2) site.activation = activation_of(op.kind);
}

}  // namespace gnnplan
