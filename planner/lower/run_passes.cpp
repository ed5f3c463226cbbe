#include "planner/lower/run_passes.hpp"

#include "planner/lower/passes.hpp"

#include <any>
#include <utility>

namespace gnnplan::lower {
namespace {

// The steps that a kind of site has in either pass, and in setup, where its aggregation can be cached.
struct SiteLowering {
    void (*forward)(Passes&, int site);
    void (*backward)(Passes&, int site);
    TensorId (*setup)(Builder&, const Site&) = nullptr;
};

SiteLowering lowering_of(const Site& site) {
    switch (site.kind) {
        case SiteKind::input: break;
        case SiteKind::product:
            switch (site.reduce) {
                case Reduce::sum:
                    if (!site.maps()) return {forward_propagation, backward_propagation};
                    return {forward_product, backward_product, setup_product};
                case Reduce::max: return {forward_max, backward_max, setup_max};
                case Reduce::attention: return {forward_attention, backward_attention};
                case Reduce::cosine: return {forward_cosine, backward_cosine};
            }
            break;
        case SiteKind::linear: return {forward_linear, backward_linear};
        case SiteKind::pointwise: return {forward_pointwise, backward_pointwise};
        case SiteKind::norm:
            if (site.over_rows()) return {forward_batch_norm, backward_batch_norm};
            return {forward_norm, backward_norm};
        case SiteKind::loss: return {forward_loss, backward_loss};
        case SiteKind::output: return {forward_output, [](Passes&, int) {}};
    }
    return {[](Passes&, int) {}, [](Passes&, int) {}};  // features are fetched where they are read
}

// Keeps the values that later segments read in the places where these, and sites that are made again, read them.
void keep_for_later(Passes& passes) {
    const auto& sites = passes.model.sites;
    for (int id = 0; id < static_cast<int>(sites.size()); ++id) {
        if (!passes.segments.outlasts(id)) continue;
        Copies& copies = passes.value(id).copies;
        Copies kept;
        for (const int reader : passes.model.readers(id)) {
            const bool later = passes.segments.of(reader) != passes.segments.of(id);
            if (!later && !passes.segments.wanted(reader)) continue;
            const Place place = passes.rules.read_in(reader, id);
            if (copies.in(place)) kept.add(place, copies.at(place));
        }
        if (!kept.empty()) copies = kept;
    }
}

// Makes the segment that ends with site `last` again, as far as its backward pass needs it.
void make_again(Passes& passes, int last) {
    const int segment = passes.segments.of(last);
    passes.again = true;
    for (int id = 0; id <= last; ++id) {
        const Site& site = passes.model.at(id);
        if (passes.segments.of(id) != segment) continue;
        const bool wanted = passes.segments.wanted(id);
        const bool operand = passes.segments.of_layers() && site.kind == SiteKind::product && site.maps();
        if (!wanted && !operand) {
            if (site.input >= 0) prepare_backward(passes, site.input);
            continue;
        }
        std::any saved = std::move(passes.value(id).saved);
        passes.value(id) = Value();
        passes.value(id).saved = std::move(saved);
        lowering_of(site).forward(passes, id);
    }
    passes.again = false;
}

}  // namespace

std::map<int, TensorId> lower_setup(Builder& builder) {
    std::map<int, TensorId> kept;
    if (!builder.rules().configuration().cached_aggregation) return kept;
    builder.begin_phase(Phase::setup);
    builder.begin(Pass::forward, 1);
    const SiteGraph& model = builder.rules().model();
    const Site& site = model.product(1);
    if (site.maps()) {
        kept[model.products.front()] = lowering_of(site).setup(builder, site);
    } else {
        setup_propagation(builder, kept);
    }
    for (const auto& [product, made] : kept) builder.cache(made);
    return kept;
}

void lower_passes(Builder& builder, bool training, std::map<int, TensorId> kept) {
    Passes passes(builder, training, std::move(kept));
    const auto& sites = passes.model.sites;
    const int count = static_cast<int>(sites.size());
    for (int site = 0; site < count; ++site) lowering_of(passes.model.at(site)).forward(passes, site);
    if (training && passes.segments.count() > 1) keep_for_later(passes);
    for (int site = count - 1; training && site >= 0; --site) {
        if (site + 1 < count && passes.segments.of(site) < passes.segments.of(site + 1)) make_again(passes, site);
        add_same(passes, site);
        lowering_of(passes.model.at(site)).backward(passes, site);
    }
}

}  // namespace gnnplan::lower
