#include "planner/lower/rules.hpp"

#include <gnnplan/ir/steps/spmm.hpp>

#include <algorithm>

namespace gnnplan::lower {

const char* suffix(Place place) { return place == Place::c ? ".C" : place == Place::r ? ".R" : ".F"; }

Layout layout_at(Place place) { return place == Place::c ? layout_c() : place == Place::r ? layout_r() : layout_f(); }

std::string Rules::label(int id) const {
    const Site& site = graph_.at(id);
    if (site.kind == SiteKind::norm) return label(site.input) + ".norm";
    if (site.kind == SiteKind::pointwise && graph_.result(site.layer) != id) return label(site.input) + ".inner";
    std::string name = std::to_string(site.layer);
    if (site.kind != SiteKind::linear) return name;
    if (site.parameter < 0) return name + ".residual";
    const std::string& symbol = graph_.parameter(site.parameter).symbol;
    const std::size_t dot = symbol.find('.');
    return name + (dot == std::string::npos ? ".linear" : symbol.substr(dot));
}

Place Rules::wanted_by(const Site& site) const {
    const bool sparse = site.kind == SiteKind::product && forward(site.layer) == Order::sparse_first;
    return sparse ? spmm_in() : gemm_in(site);
}

Place Rules::made_in(int id) const {
    const Site& site = graph_.at(id);
    switch (site.kind) {
        case SiteKind::input: break;
        case SiteKind::product:
            if (site.heads.average) return Place::r;
            if (!site.maps()) return spmm_out();
            return forward(site.layer) == Order::sparse_first ? gemm_out(site) : spmm_out();
        case SiteKind::linear: {
            if (site.addend < 0) return gemm_out(site);
            const Place rest = made_in(site.addend);
            const bool stays = site.parameter < 0 || (site.layer == depth() && loss_place() == rest);
            return stays ? rest : gemm_out(site);
        }
        case SiteKind::norm:
        case SiteKind::pointwise: return made_in(site.input);
        case SiteKind::loss: return loss_place();
        case SiteKind::output: return Place::r;
    }
    return Place::r;
}

Place Rules::gradient_made_in(int id) const {
    const std::vector<int> readers = graph_.readers(id);
    if (readers.size() != 1) return Place::r;
    const Site& reader = graph_.at(readers.front());
    switch (reader.kind) {
        case SiteKind::loss: return loss_place();
        case SiteKind::product: {
            if (reader.initial == id) return Place::r;
            // Layer 1 has no letter where its only order goes without saying.
            const std::optional<OnlyOrders> only = reader.only_orders();
            const Order order = only ? only->backward : backward(reader.layer);
            return order == Order::sparse_first ? Place::r : spmm_out();
        }
        case SiteKind::norm: return norm_place(readers.front());
        case SiteKind::input:
        case SiteKind::linear:
        case SiteKind::pointwise:
        case SiteKind::output: break;
    }
    return Place::r;
}

int Rules::sum_below(int site) const {
    while (graph_.at(site).kind == SiteKind::norm || graph_.at(site).kind == SiteKind::pointwise)
        site = graph_.at(site).input;
    return site;
}

// Gradients of several sites are added up in rows.
Place Rules::wanted_below(int site) const {
    const int read = graph_.at(site).input;
    if (graph_.readers(read).size() > 1) return Place::r;
    const SiteKind kind = graph_.at(read).kind;
    return kind == SiteKind::norm || kind == SiteKind::pointwise ? wanted_below(read)
                                                                 : gradient_wanted(graph_.at(read));
}

Place Rules::norm_place(int norm) const {
    const Place rest = made_in(norm);
    if (!places_differ()) return rest;
    const std::vector<int> readers = graph_.readers(norm);
    Place arrives = gradient_made_in(norm);
    if (readers.size() == 1 && graph_.at(readers.front()).kind == SiteKind::pointwise) {
        const bool masked = graph_.at(readers.front()).activation != Activation::none;
        arrives = masked ? mask_rule(*this, readers.front()).at : gradient_made_in(readers.front());
    }
    return wanted_below(norm) == rest ? rest : arrives;
}

Place Rules::gradient_wanted(const Site& site) const {
    if (site.kind != SiteKind::product) return gemm_out(site);
    if (site.heads.average) return Place::r;
    if (!site.maps()) return spmm_in();
    switch (backward(site.layer)) {
        case Order::sparse_first: return spmm_in();
        case Order::dense_first: return Place::r;
        case Order::none: return operand(site.layer) == Operand::product ? right(site) : spmm_in();
    }
    return Place::r;
}

bool Rules::moves_input(const Site& product) const {
    const bool reads_hidden = graph_.at(product.input).kind != SiteKind::input;
    if (!product.maps() || !reads_hidden || operand(product.layer) != Operand::gradient || !places_differ())
        return false;
    return made_in(product.input) != left(product) && wanted_by(product) != left(product);
}

// A linear map that is added to a product, or that makes logits of an inner layer, may read fewer rows: what it reads
// stands for itself.
bool Rules::exists_in(int pointwise, Place place) const {
    if (!places_differ() || made_in(pointwise) == place) return true;
    for (const int id : graph_.readers(pointwise)) {
        const Site& reader = graph_.at(id);
        const bool fewer_rows = configuration_.loss_rows && reader.kind == SiteKind::linear &&
                                reader.rows_of != graph_.at(pointwise).rows_of;
        if (reader.addend >= 0 || fewer_rows) continue;
        if (reader.kind != SiteKind::product && reader.kind != SiteKind::linear) continue;
        const bool product = reader.kind == SiteKind::product;
        if ((product ? wanted_by_product(reader, pointwise) : gemm_in(reader)) == place) return true;
        if (product && reader.input == pointwise && place == left(reader) && moves_input(reader)) return true;
    }
    return false;
}

bool Rules::rings(const Site& site) const {
    if (!ring_) return false;
    const bool multiplies =
        site.kind == SiteKind::product ? site.maps() : site.kind == SiteKind::linear && site.parameter >= 0;
    if (!multiplies || site.addend >= 0) return false;  // a ring adds to nothing
    const auto id = static_cast<int>(&site - graph_.sites.data());
    const Rules without(graph_, configuration_, false);
    return without.takes_columns(id) && without.leaves_columns(id);
}

bool Rules::any_rings() const {
    return std::any_of(graph_.sites.begin(), graph_.sites.end(), [&](const Site& site) { return rings(site); });
}

bool Rules::takes_columns(int id) const {
    const Site& site = graph_.at(id);
    if (site.kind == SiteKind::product && forward(site.layer) == Order::sparse_first) return !column_parallel(site);
    if (graph_.at(site.input).kind == SiteKind::input || made_in(site.input) != Place::c) return false;
    const std::vector<int> readers = graph_.readers(site.input);
    return std::all_of(readers.begin(), readers.end(), [&](int reader) {
        const Site& other = graph_.at(reader);
        if (reader == id) return true;
        if (other.kind == SiteKind::product) return wanted_by_product(other, site.input) == Place::c;
        return other.kind == SiteKind::linear && wanted_by_linear(reader, site.input) == Place::c;
    });
}

bool Rules::leaves_columns(int id) const {
    const Site& site = graph_.at(id);
    const bool transforms_first = site.kind == SiteKind::product && forward(site.layer) == Order::dense_first;
    if (!transforms_first) return wanted_in_columns(id);
    // Scores of attention are made of whole rows where y cuts heads.
    return site.reduce != Reduce::attention || !cuts_heads(configuration_.grid, site.heads.count);
}

bool Rules::wanted_in_columns(int id) const {
    const std::vector<int> readers = graph_.readers(id);
    return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](int reader) {
        const Site& site = graph_.at(reader);
        switch (site.kind) {
            case SiteKind::norm:
            case SiteKind::pointwise: return wanted_in_columns(reader);
            case SiteKind::product: return wanted_by_product(site, id) == Place::c;
            case SiteKind::linear:
                // A sum is where the value is that it is added to.
                if (site.addend == id && site.parameter < 0) return wanted_in_columns(reader);
                return wanted_by_linear(reader, id) == Place::c;
            case SiteKind::input:
            case SiteKind::loss:
            case SiteKind::output: break;
        }
        return false;
    });
}

Place Rules::read_in(int reader, int value) const {
    const Site& site = graph_.at(reader);
    if (site.kind == SiteKind::product) return wanted_by_product(site, value);
    return site.kind == SiteKind::linear ? wanted_by_linear(reader, value) : made_in(value);
}

Place Rules::wanted_by_product(const Site& reader, int value) const {
    return reader.initial == value ? gemm_in(reader) : wanted_by(reader);
}

Place Rules::wanted_by_linear(int reader, int value) const {
    const Site& site = graph_.at(reader);
    if (site.addend == value) return made_in(reader);
    return site.parameter < 0 ? made_in(site.addend) : gemm_in(site);
}

MaskRule mask_rule(const Rules& rules, int pointwise) {
    const Place made_in = rules.gradient_made_in(pointwise);
    const Site& changed = rules.model().at(rules.model().at(pointwise).input);
    const Place wanted = rules.wanted_below(pointwise);
    if (rules.exists_in(pointwise, made_in)) return {made_in, false, {}};
    if (rules.exists_in(pointwise, Place::f)) return {made_in, false, Place::f};  // out of F nothing moves
    // The gradients of a norm's parameters count each row once, as whole rows of F would not.
    const bool counts_twice = changed.kind == SiteKind::norm && wanted == Place::f;
    if (wanted != made_in && !counts_twice && rules.exists_in(pointwise, wanted)) return {wanted, true, {}};
    return {made_in, false, rules.made_in(pointwise)};
}

}  // namespace gnnplan::lower
