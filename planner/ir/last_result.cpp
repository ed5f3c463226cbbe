#include "planner/ir/last_result.hpp"

namespace gnnplan {

bool add_last_result(SiteGraph& graph, std::size_t sums_across) {
    const auto at = [&](int site) -> Site& { return graph.sites[static_cast<std::size_t>(site)]; };
    // Linear maps before layer 1 give it other columns than the features have.
    const std::int64_t read_first = graph.in_width(1);
    for (int id = 0; id < graph.products.front(); ++id) at(id).columns_of = at(id).width == read_first ? 0 : -1;
    Site& end = graph.sites.back();
    int last = end.input;
    end.rows_of = graph.depth, end.columns_of = at(last).columns_of;
    if (at(last).kind == SiteKind::pointwise) last = at(last).input;
    const bool several_layers = at(last).addend >= 0 && at(at(last).addend).layer < at(last).layer;
    graph.results.push_back(several_layers ? at(last).input : end.input);
    std::size_t read = 0;
    for (int sum = last; several_layers && at(sum).addend >= 0; sum = at(sum).addend) ++read;
    if (read != sums_across) return false;
    if (!several_layers) return true;
    // Logits that every layer adds to have the rows of the last one.
    end.columns_of = at(end.input).columns_of = -1;
    for (; last >= 0; last = at(last).addend) at(last).rows_of = graph.depth, at(last).columns_of = -1;
    return true;
}

Site end_of(const Op& op, int logits) {
    Site end{is_loss(op.kind) ? SiteKind::loss : SiteKind::output, logits, op.layer, op.width};
    end.loss = loss_of(op.kind), end.rocauc = op.rocauc;
    return end;
}

}  // namespace gnnplan
