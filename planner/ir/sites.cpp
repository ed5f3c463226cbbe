#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sites.hpp>

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
    explicit SiteReader(const OpGraph& graph) : graph_(graph) {
        found_.model = graph.model;
        found_.parameters = graph.parameters;
    }

    SiteGraph read() {
        for (; next_ < graph_.ops.size(); ++next_) add(graph_.ops[next_]);
        if (!ended() || found_.depth == 0) refuse("is missing");
        return std::move(found_);
    }

private:
    // Half of a product: an aggregation that awaits its linear map, or the other way round.
    struct Half {
        OpKind kind;
        int parameter;
    };

    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(ErrorCode::usage,
                    "operation " + std::to_string(next_) + " " + what +
                        ": a layer is dropout? (aggregate linear | linear aggregate) bias? relu?, the loss comes last",
                    "model " + graph_.model, "this model needs a kind of site of its own");
    }

    bool ended() const { return !found_.sites.empty() && found_.sites.back().kind == SiteKind::loss; }
    int last() const { return static_cast<int>(found_.sites.size()) - 1; }

    void add(const Op& op) {
        const std::vector<int> before = next_ == 0 ? std::vector<int>{} : std::vector<int>{static_cast<int>(next_) - 1};
        if (op.inputs != before || ended()) refuse("does not follow the one before it");
        switch (op.kind) {
            case OpKind::input: return add_input(op);
            case OpKind::aggregate:
            case OpKind::linear: return half_ ? complete_product(op) : begin_product(op);
            case OpKind::dropout:
            case OpKind::bias:
            case OpKind::relu: return extend_pointwise(op);
            case OpKind::softmax_cross_entropy:
                require_value();
                found_.sites.push_back({SiteKind::loss, last(), op.layer, op.width});
        }
    }

    void require_value() const {
        if (found_.sites.empty() || half_) refuse("has nothing to work on");
    }

    void add_input(const Op& op) {
        if (!found_.sites.empty()) refuse("is a second input");
        found_.sites.push_back({SiteKind::input, -1, op.layer, op.width});
    }

    void begin_product(const Op& op) {
        require_value();
        half_ = Half{op.kind, op.parameter};
    }

    void complete_product(const Op& op) {
        if (op.kind == half_->kind) refuse("does not complete the product before it");
        if (op.layer != found_.depth + 1) refuse("is not the one product of its layer");
        const int weight = op.kind == OpKind::linear ? op.parameter : half_->parameter;
        half_.reset();
        found_.sites.push_back({SiteKind::product, last(), op.layer, op.width, weight});
        found_.products.push_back(last());
        ++found_.depth;
    }

    void extend_pointwise(const Op& op) {
        require_value();
        if (found_.sites.back().kind == SiteKind::product)
            found_.sites.push_back({SiteKind::pointwise, last(), found_.depth, op.width});
        Site& site = found_.sites.back();
        const bool only_dropped = site.kind == SiteKind::input && op.kind != OpKind::dropout;
        if (stage_of(op.kind) <= stage_of(site) || only_dropped) refuse("is out of its place");
        if (op.kind == OpKind::dropout) site.dropout = op.layer;
        if (op.kind == OpKind::relu) site.relu = true;
        if (op.kind == OpKind::bias) site.parameter = op.parameter;
    }

    const OpGraph& graph_;
    SiteGraph found_;
    std::optional<Half> half_;
    std::size_t next_ = 0;
};

}  // namespace

SiteGraph sites_of(const OpGraph& graph) { return SiteReader(graph).read(); }

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
        site.layer -= first - 1;
        // No layer of the window reads what ends it.
        if (site.layer == cut.depth) site.relu = false;
        if (site.dropout > 0) site.dropout = site.layer < cut.depth ? site.dropout - (first - 1) : 0;
        if (site.kind == SiteKind::product) cut.products.push_back(static_cast<int>(cut.sites.size()));
        cut.sites.push_back(site);
    }
    const int end = static_cast<int>(cut.sites.size()) - 1;
    cut.sites.push_back({SiteKind::loss, end, cut.depth, cut.at(end).width});
    return cut;
}

SiteGraph with_widths(SiteGraph graph, const std::vector<std::int64_t>& widths) {
    for (Site& site : graph.sites) {
        site.width = widths[static_cast<std::size_t>(site.layer)];
        if (site.parameter < 0) continue;
        Parameter& parameter = graph.parameters[static_cast<std::size_t>(site.parameter)];
        if (parameter.shape.size() > 1) parameter.shape.front() = widths[static_cast<std::size_t>(site.layer) - 1];
        parameter.shape.back() = site.width;
    }
    return graph;
}

}  // namespace gnnplan
