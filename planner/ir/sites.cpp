#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sites.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace gnnplan {
namespace {

// Bias, activation and dropout follow each other in this order.
int stage_of(OpKind kind) { return kind == OpKind::bias ? 1 : kind == OpKind::relu ? 2 : 3; }
int stage_of(const Site& site) { return site.dropout > 0 ? 3 : site.relu ? 2 : site.parameter >= 0 ? 1 : 0; }

// Groups operations into sites, in the order of the graph.
class SiteReader {
public:
    explicit SiteReader(const OpGraph& graph) : graph_(graph), made_(graph.ops.size()), readers_(graph.ops.size()) {
        found_.model = graph.model;
        found_.parameters = graph.parameters;
    }

    SiteGraph read() {
        for (std::size_t id = 0; id < graph_.ops.size(); ++id) {
            for (const int input : graph_.ops[id].inputs) {
                if (input >= 0 && static_cast<std::size_t>(input) < id)
                    readers_[static_cast<std::size_t>(input)].push_back(id);
            }
        }
        for (; next_ < graph_.ops.size(); ++next_) add(graph_.ops[next_]);
        if (!ended() || found_.depth == 0) refuse("is missing");
        for (next_ = 0; next_ + 1 < graph_.ops.size(); ++next_) {
            if (readers_[next_].empty()) refuse("is read by nothing");
        }
        return std::move(found_);
    }

private:
    // What an operation leaves: the value of a site, or half of a product that reads the site's.
    struct Made {
        int site = -1;
        std::optional<OpKind> half;  // an aggregation that awaits its linear map, or the other way round
        int parameter = -1;
    };

    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(ErrorCode::usage,
                    "operation " + std::to_string(next_) + " " + what +
                        ": a layer begins with dropout? (aggregate linear | linear aggregate), to which a linear map "
                        "may be added; bias? relu? and further linear maps follow, and the loss comes last",
                    "model " + graph_.model, "this model needs a kind of site of its own");
    }

    bool ended() const { return !found_.sites.empty() && found_.sites.back().kind == SiteKind::loss; }
    int push(const Site& site) {
        found_.sites.push_back(site);
        return static_cast<int>(found_.sites.size()) - 1;
    }
    Site& at(int site) { return found_.sites[static_cast<std::size_t>(site)]; }
    const Made& input_of(const Op& op, std::size_t which = 0) const {
        return made_[static_cast<std::size_t>(op.inputs[which])];
    }
    // The kind of the one operation that reads operation `id`; none where several do.
    std::optional<OpKind> reader_of(std::size_t id) const {
        return readers_[id].size() == 1 ? std::optional(graph_.ops[readers_[id].front()].kind) : std::nullopt;
    }
    void require_sole_reader(int input) const {
        if (!reader_of(static_cast<std::size_t>(input))) refuse("changes what another operation reads");
    }

    void add(const Op& op) {
        const std::size_t inputs = op.kind == OpKind::input ? 0 : op.kind == OpKind::add ? 2 : 1;
        if (op.inputs.size() != inputs || ended()) refuse("does not follow the ones before it");
        for (const int input : op.inputs) {
            if (input < 0 || static_cast<std::size_t>(input) >= next_) refuse("reads what does not come before it");
        }
        made_[next_] = made_by(op);
    }

    Made made_by(const Op& op) {
        switch (op.kind) {
            case OpKind::input: return add_input(op);
            case OpKind::aggregate:
            case OpKind::linear: return multiply(op);
            case OpKind::add: return add_to_linear(op);
            case OpKind::dropout:
            case OpKind::bias:
            case OpKind::relu: return extend_pointwise(op);
            case OpKind::softmax_cross_entropy: break;
        }
        return {push({SiteKind::loss, input_of(op).site, op.layer, op.width}), {}, -1};
    }

    Made add_input(const Op& op) {
        if (!found_.sites.empty()) refuse("is a second input");
        return {push({SiteKind::input, -1, op.layer, op.width}), {}, -1};
    }

    Made multiply(const Op& op) {
        const Made& from = input_of(op);
        if (from.half) return complete_product(op, from);
        const bool aggregates = op.kind == OpKind::aggregate;
        if (reader_of(next_) == (aggregates ? OpKind::linear : OpKind::aggregate))
            return {from.site, op.kind, op.parameter};
        if (aggregates) refuse("has no linear map beside it");
        if (found_.depth == 0 || op.layer != found_.depth) refuse("belongs to no layer that has begun");
        return {push({SiteKind::linear, from.site, op.layer, op.width, op.parameter}), {}, -1};
    }

    Made complete_product(const Op& op, const Made& half) {
        if (op.layer != found_.depth + 1) refuse("is not the one product of its layer");
        const int weight = op.kind == OpKind::linear ? op.parameter : half.parameter;
        const int site = push({SiteKind::product, half.site, op.layer, op.width, weight});
        found_.products.push_back(site);
        ++found_.depth;
        return {site, {}, -1};
    }

    // A sum is made in place of the value that comes first.
    Made add_to_linear(const Op& op) {
        const int first = std::min(input_of(op, 0).site, input_of(op, 1).site);
        const int second = std::max(input_of(op, 0).site, input_of(op, 1).site);
        for (const int input : op.inputs) require_sole_reader(input);
        const bool fits = first >= 0 && at(first).kind == SiteKind::product && at(second).kind == SiteKind::linear &&
                          at(second).addend < 0 && at(first).layer == at(second).layer;
        if (!fits) refuse("adds something else than a linear map to the product before it");
        if (at(first).width != at(second).width) refuse("adds matrices of different widths");
        at(second).addend = first;
        return {second, {}, -1};
    }

    Made extend_pointwise(const Op& op) {
        require_sole_reader(op.inputs.front());
        int id = input_of(op).site;
        const SiteKind kind = at(id).kind;
        if (kind == SiteKind::product || kind == SiteKind::linear)
            id = push({SiteKind::pointwise, id, at(id).layer, op.width});
        Site& site = at(id);
        const bool only_dropped = site.kind == SiteKind::input && op.kind != OpKind::dropout;
        if (stage_of(op.kind) <= stage_of(site) || only_dropped) refuse("is out of its place");
        if (op.kind == OpKind::dropout) site.dropout = op.layer;
        if (op.kind == OpKind::relu) site.relu = true;
        if (op.kind == OpKind::bias) site.parameter = op.parameter;
        return {id, {}, -1};
    }

    const OpGraph& graph_;
    SiteGraph found_;
    std::vector<Made> made_;                         // by each operation
    std::vector<std::vector<std::size_t>> readers_;  // of each operation
    std::size_t next_ = 0;
};

}  // namespace

SiteGraph sites_of(const OpGraph& graph) { return SiteReader(graph).read(); }

int SiteGraph::result(int l) const {
    return l < depth ? products[static_cast<std::size_t>(l)] - 1 : static_cast<int>(sites.size()) - 2;
}

std::vector<int> SiteGraph::readers(int site) const {
    std::vector<int> found;
    for (int id = site + 1; id < static_cast<int>(sites.size()); ++id) {
        if (at(id).input == site || at(id).addend == site) found.push_back(id);
    }
    return found;
}

std::vector<std::int64_t> widths_of(const SiteGraph& graph) {
    std::vector<std::int64_t> widths{graph.in_width(1)};
    for (int l = 1; l <= graph.depth; ++l) widths.push_back(graph.out_width(l));
    return widths;
}

SiteGraph window(const SiteGraph& graph, int first, int last) {
    SiteGraph cut{graph.model, graph.parameters, {}, last - first + 1, {}};
    const int before = graph.product(first).input;
    const int input = graph.at(before).dropout > 0 ? 1 : 0;
    cut.sites.push_back({SiteKind::input, -1, 0, graph.at(before).width, -1, false, input});
    const int moved = 1 - graph.products[static_cast<std::size_t>(first - 1)];
    for (int id = before + 1; graph.at(id).kind != SiteKind::loss && graph.at(id).layer <= last; ++id) {
        Site site = graph.at(id);
        site.input += moved;
        if (site.addend >= 0) site.addend += moved;
        site.layer -= first - 1;
        if (site.dropout > 0) site.dropout -= first - 1;
        if (site.kind == SiteKind::product) cut.products.push_back(static_cast<int>(cut.sites.size()));
        cut.sites.push_back(site);
    }
    // No layer of the window reads what ends it.
    cut.sites.back().relu = false;
    cut.sites.back().dropout = 0;
    const int end = static_cast<int>(cut.sites.size()) - 1;
    cut.sites.push_back({SiteKind::loss, end, cut.depth, cut.at(end).width});
    return cut;
}

SiteGraph with_widths(SiteGraph graph, const std::vector<std::int64_t>& widths) {
    for (Site& site : graph.sites) {
        site.width = widths[static_cast<std::size_t>(site.layer)];
        if (site.parameter < 0) continue;
        Parameter& parameter = graph.parameters[static_cast<std::size_t>(site.parameter)];
        if (parameter.shape.size() > 1) parameter.shape.front() = graph.at(site.input).width;
        parameter.shape.back() = site.width;
    }
    return graph;
}

}  // namespace gnnplan
