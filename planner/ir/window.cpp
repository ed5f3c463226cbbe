// Layers of a model as a model of their own.
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sites.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace gnnplan {
namespace {

// Copies sites into a window, under the numbers that they have there.
class Window {
public:
    Window(const SiteGraph& graph, int first, int last)
        : graph_(graph), before_(first - 1), input_(first > 1 ? graph.result(first - 1) : 0) {
        cut_ = {graph.model, {}, {}, last - first + 1, {}, {}};
        number_of_[input_] = 0;
        Site input{SiteKind::input, -1, 0, graph.at(input_).width};
        input.dropout = graph.at(input_).dropout > 0 ? 1 : 0;
        if (first == 1) input.columns_of = graph.at(input_).columns_of;
        cut_.sites.push_back(input);
        const int sites = static_cast<int>(graph.sites.size());
        for (int id = input_ + 1; id < sites; ++id) {
            const Site& site = graph.at(id);
            const bool ends = id + 1 == sites;
            if (!ends && site.layer >= first && site.layer <= last) add(id);
        }
        for (int l = first; l <= last; ++l) cut_.results.push_back(number_of_.at(graph.result(l)));
    }

    // No layer of the window reads what ends it.
    SiteGraph take() {
        const int end = static_cast<int>(cut_.sites.size()) - 1;
        Site& last = cut_.sites.back();
        if (last.kind == SiteKind::pointwise) last.activation = Activation::none, last.dropout = 0;
        Site ending{graph_.sites.back().kind, end, cut_.depth, last.width};
        ending.loss = graph_.sites.back().loss, ending.rocauc = graph_.sites.back().rocauc;
        ending.rows_of = cut_.depth;
        ending.columns_of = last.columns_of;
        cut_.sites.push_back(ending);
        return std::move(cut_);
    }

private:
    void add(int id) {
        Site site = graph_.at(id);
        const auto known = [&](int other) { return other >= 0 && number_of_.contains(other); };
        const bool before = graph_.at(site.input).layer == before_;
        ensure(known(site.input) || before, "a layer reads what neither it nor the one before it makes");
        site.input = known(site.input) ? number_of_.at(site.input) : number_of_.at(input_);
        site.addend = known(site.addend) ? number_of_.at(site.addend) : -1;
        site.layer -= before_;
        site.rows_of = std::min(site.rows_of - before_, cut_.depth);
        if (site.columns_of >= 0) site.columns_of -= before_;
        if (site.dropout > 0) site.dropout -= before_;
        site.parameter = parameter(site.parameter);
        site.self_parameter = parameter(site.self_parameter);
        site.beta = parameter(site.beta);
        site.shift = parameter(site.shift);
        for (int& running : site.running) running = parameter(running);
        site.heads.source = parameter(site.heads.source);
        site.heads.target = parameter(site.heads.target);
        number_of_[id] = static_cast<int>(cut_.sites.size());
        if (site.kind == SiteKind::product) cut_.products.push_back(number_of_[id]);
        cut_.sites.push_back(site);
    }

    // Only parameters of these layers are copied: a deep network has many.
    int parameter(int id) {
        if (id < 0) return id;
        cut_.parameters.push_back(graph_.parameters[static_cast<std::size_t>(id)]);
        return static_cast<int>(cut_.parameters.size()) - 1;
    }

    const SiteGraph& graph_;
    int before_;  // layers before the window
    int input_;   // the site that the window reads
    SiteGraph cut_;
    std::map<int, int> number_of_;
};

}  // namespace

SiteGraph window(const SiteGraph& graph, int first, int last) { return Window(graph, first, last).take(); }

SiteGraph with_widths(SiteGraph graph, const std::vector<std::int64_t>& widths) {
    for (Site& site : graph.sites) {
        if (site.columns_of >= 0) site.width = widths[static_cast<std::size_t>(site.columns_of)];
        if (site.parameter < 0) continue;
        Parameter& parameter = graph.parameters[static_cast<std::size_t>(site.parameter)];
        if (parameter.shape.size() > 1) parameter.shape.front() = graph.at(site.input).width;
        parameter.shape.back() = site.mapped_width();
        for (const int of_norm : {site.shift, site.running.front(), site.running.back()}) {
            if (of_norm >= 0) graph.parameters[static_cast<std::size_t>(of_norm)].shape.back() = site.width;
        }
        for (const int by_head : {site.heads.source, site.heads.target}) {
            if (by_head < 0) continue;
            auto& shape = graph.parameters[static_cast<std::size_t>(by_head)].shape;
            shape.back() = site.mapped_width() / site.heads.count;
        }
    }
    return graph;
}

}  // namespace gnnplan
