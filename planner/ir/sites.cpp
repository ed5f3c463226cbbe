#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sites.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace gnnplan {
std::optional<OnlyOrders> Site::only_orders() const {
    switch (reduce) {
        case Reduce::sum:
            if (!maps()) return OnlyOrders{Order::sparse_first, Order::dense_first, Operand::gradient};
            if (initial >= 0) return OnlyOrders{Order::sparse_first, Order::dense_first, Operand::product};
            break;
        case Reduce::max: return OnlyOrders{Order::sparse_first, Order::dense_first, Operand::product};
        case Reduce::attention: return OnlyOrders{Order::dense_first, Order::sparse_first, Operand::gradient};
        case Reduce::cosine: return OnlyOrders{Order::sparse_first, Order::dense_first, Operand::gradient};
    }
    return std::nullopt;
}

std::string_view Site::why_one_order() const {
    switch (reduce) {
        case Reduce::sum:
            if (!maps()) return "aggregates alone: the linear maps of its model stand before or behind it";
            return initial >= 0 ? "adds H^0 between its products" : "";
        case Reduce::max: return "takes maxima, which are no sums";
        case Reduce::attention: return "attends to what its weights have made of the features";
        case Reduce::cosine: return "weighs edges by cosines, and has no linear map";
    }
    return "";
}

std::vector<int> SiteGraph::readers(int site) const {
    std::vector<int> found;
    for (int id = site + 1; id < static_cast<int>(sites.size()); ++id) {
        const Site& other = at(id);
        if (other.input == site || other.addend == site || other.initial == site) found.push_back(id);
    }
    return found;
}

bool SiteGraph::reads_far() const {
    return std::any_of(sites.begin() + 1, sites.end(), [&](const Site& site) {
        const bool ends = site.kind == SiteKind::loss || site.kind == SiteKind::output;
        return site.initial >= 0 || (!ends && at(site.input).layer + 1 < site.layer);
    });
}

int SiteGraph::last_over_rows() const {
    int last = 0;
    for (const Site& site : sites) last = site.over_rows() ? std::max(last, site.layer) : last;
    return last;
}

void check_reads_weights(const SiteGraph& graph) {
    for (int l = 1; l <= graph.depth; ++l) {
        const Reduce reduce = graph.product(l).reduce;
        if (reduce == Reduce::sum) continue;
        const char* why =
            reduce == Reduce::max ? "takes maxima, whatever edges weigh" : "weighs edges by attention alone";
        throw Error(ErrorCode::usage, "layer " + std::to_string(l) + " of " + graph.model + " " + why, "`edge-weights`",
                    "leave `edge-weights` out; gcn, gin, and sage with mean, sum or gcn read them");
    }
}

std::vector<std::int64_t> widths_of(const SiteGraph& graph) {
    std::vector<std::int64_t> widths{graph.in_width(1)};
    for (int l = 1; l <= graph.depth; ++l) widths.push_back(graph.out_width(l));
    return widths;
}

}  // namespace gnnplan
