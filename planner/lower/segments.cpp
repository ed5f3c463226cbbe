#include "planner/lower/segments.hpp"

#include <algorithm>

namespace gnnplan::lower {
namespace {

bool is_sum_of_products(const Site& site) { return site.kind == SiteKind::product && site.reduce == Reduce::sum; }

// Whether the gradients of a site need nothing that it makes.
bool is_linear(const Site& site) { return site.kind == SiteKind::linear || is_sum_of_products(site); }

}  // namespace

Segments::Segments(const SiteGraph& model, int remade)
    : model_(model), of_layers_(remade != remade_from_norms), wanted_(model.sites.size(), true) {
    int segment = 0;
    for (const Site& site : model.sites) {
        if (remade > 0) segment = std::max(segment, (site.layer - 1) / remade);
        if (!of_layers_ && site.kind == SiteKind::norm) ++segment;
        of_site_.push_back(segment);
    }
    if (remade > 0) want_layers();
    if (!of_layers_) want_norms();
}

// All but what stays, and sums that nothing reads a second time.
void Segments::want_layers() {
    for (int id = static_cast<int>(model_.sites.size()) - 1; id >= 0; --id) {
        const std::vector<int> readers = model_.readers(id);
        const bool read =
            std::ranges::any_of(readers, [&](int reader) { return of(reader) == of(id) && reads_again(reader, id); });
        const SiteKind kind = model_.at(id).kind;
        const bool stays = outlasts(id) && (kind == SiteKind::pointwise || kind == SiteKind::input);
        wanted_[static_cast<std::size_t>(id)] = !stays && (read || !is_linear(model_.at(id)));
    }
}

// Norms, and what changes their results element by element.
void Segments::want_norms() {
    for (int id = 0; id < static_cast<int>(model_.sites.size()); ++id) {
        const Site& site = model_.at(id);
        const bool follows = site.kind == SiteKind::pointwise && wanted(site.input);
        wanted_[static_cast<std::size_t>(id)] = (site.kind == SiteKind::norm || follows) && !outlasts(id);
    }
}

bool Segments::outlasts(int site) const {
    const std::vector<int> readers = model_.readers(site);
    return std::ranges::any_of(readers, [&](int reader) { return of(reader) > of(site); });
}

// Whether a site reads a value when it is made again, or in its backward pass.
bool Segments::reads_again(int reader, int value) const {
    const Site& site = model_.at(reader);
    if (!is_linear(site) || wanted(reader)) return wanted(reader);
    return site.parameter >= 0 && (site.input == value || site.initial == value);
}

}  // namespace gnnplan::lower
