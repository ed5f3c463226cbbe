#include "planner/lower/rules.hpp"

namespace gnnplan::lower {

const char* suffix(Place place) { return place == Place::c ? ".C" : place == Place::r ? ".R" : ".F"; }

Layout layout_at(Place place) { return place == Place::c ? layout_c() : place == Place::r ? layout_r() : layout_f(); }

std::string Rules::label(int id) const {
    const Site& site = graph_.at(id);
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
        case SiteKind::product: return backward(reader.layer) == Order::sparse_first ? Place::r : spmm_out();
        case SiteKind::input:
        case SiteKind::linear:
        case SiteKind::pointwise:
        case SiteKind::output: break;
    }
    return Place::r;
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
        if (wanted_by(reader) == place) return true;
        if (reader.kind == SiteKind::product && place == left(reader) && moves_input(reader)) return true;
    }
    return false;
}

MaskRule mask_rule(const Rules& rules, int pointwise) {
    const Place made_in = rules.gradient_made_in(pointwise);
    const Place wanted = rules.gradient_wanted(rules.model().at(rules.model().at(pointwise).input));
    if (rules.exists_in(pointwise, made_in)) return {made_in, false, {}};
    if (rules.exists_in(pointwise, Place::f)) return {made_in, false, Place::f};  // out of F nothing moves
    if (wanted != made_in && rules.exists_in(pointwise, wanted)) return {wanted, true, {}};
    return {made_in, false, rules.made_in(pointwise)};
}

}  // namespace gnnplan::lower
