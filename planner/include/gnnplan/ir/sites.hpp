// The sites of a model: groups of operations about which a plan decides as one.
//
// An aggregation and the linear map beside it are one site, the product A^T H W, which either operation may begin
// (A^T (H W) = (A^T H) W), unless it takes maxima, which are aggregated first, or attends to what the linear map has
// made. Attention by cosines is a product without a linear map, and so is a sum that none follows. A linear map that
// has no aggregation beside it is a site of its own; where a model adds its result to another value, the sum is made in
// place of that value. Consecutive elementwise operations are one site too. Every site makes one value, a matrix with a
// row for each vertex, which several sites may read; lowering, the search and the passes of an epoch walk sites, and
// never the operations again.
#pragma once

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/op_graph.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan {

enum class SiteKind : std::uint8_t {
    input,      // dropout(H^0)
    product,    // A^T H W
    linear,     // H W, or Z + H W; without a weight Z + H
    pointwise,  // dropout(activation(Z + b)); each of the three may be missing
    loss,       // of the training vertices
    norm,       // normalisation of Z + b, or of what a pointwise site makes
    output,     // the logits of all vertices, of a model that is applied and not trained
};

// The only way to make a product in both passes.
struct OnlyOrders {
    Order forward, backward;
    Operand operand;
};

struct Site {
    SiteKind kind = SiteKind::input;
    int input = -1;          // the site whose value it reads; -1: none
    int layer = 0;           // 1 .. L; 0 for the input
    std::int64_t width = 0;  // columns of its value
    int parameter = -1;      // the weight of a product or linear map, the bias of a pointwise site; -1: none
    Activation activation = Activation::none;
    int dropout = 0;                        // the layer whose dropout ends the site, which keys its draws; 0: none
    int addend = -1;                        // the site whose value Z a linear map adds its own to; -1: none
    Reduce reduce = Reduce::sum;            // of a product
    double self = 0;                        // of a product: (A + (self + e) I)^T in place of A^T
    int self_parameter = -1;                // e; -1: none
    int hops = 1;                           // of a product: how often it aggregates
    double teleport = 0;                    // and how much of what it read each of these adds (Op::teleport)
    int initial = -1;                       // the site whose value a product adds in place of that; -1: none
    double share = 1;                       // of W in what a product or linear map multiplies by (Op::share)
    int beta = -1;                          // of a product by cosines
    int shift = -1;                         // the bias of a norm, whose weight is `parameter`
    std::array<int, 2> running = {-1, -1};  // of a batch norm: mean and variance of columns; of a layer norm -1
    Heads heads = {};                       // of a product by attention, and one head of a product by cosines
    Loss loss = Loss::softmax;              // of a loss
    bool rocauc = false;                    // whether evaluations find the area under the ROC curve, too
    int rows_of = 0;                        // its value has a row for each vertex that layer `rows_of` computes
    int columns_of = 0;                     // and as many columns as layer `columns_of` makes; -1: a width of its own

    // Whether the two operations of a product may be made in either order.
    bool reorderable() const { return reduce == Reduce::sum && maps() && initial < 0; }
    // The orders of one that is not reorderable, and why, as what the layer does.
    std::optional<OnlyOrders> only_orders() const;
    std::string_view why_one_order() const;
    // The columns of its linear map's result: those of all heads.
    std::int64_t mapped_width() const { return heads.average ? heads.count * width : width; }
    // Whether a product has a linear map.
    bool maps() const { return parameter >= 0; }
    // Whether it needs something of all rows: a batch norm.
    bool over_rows() const { return running.front() >= 0; }
    // Whether it adds something of the vertex itself to what it aggregates.
    bool adds_self() const { return self != 0 || self_parameter >= 0; }
    // Whether it aggregates more than once, or adds what it read.
    bool propagates() const { return hops > 1 || (teleport > 0 && initial < 0); }
};

struct SiteGraph {
    std::string model;
    std::vector<Parameter> parameters;
    std::vector<Site> sites;  // in topological order; the input comes first, the loss or the output last
    int depth = 0;            // layers; each has one product

    const Site& at(int site) const { return sites[static_cast<std::size_t>(site)]; }
    // The product of layer `l`, 1 .. depth, and the columns of what it reads and makes.
    const Site& product(int l) const { return at(products[static_cast<std::size_t>(l - 1)]); }
    std::int64_t in_width(int l) const { return at(product(l).input).width; }
    std::int64_t out_width(int l) const { return product(l).width; }
    // Whether the value of a site is the features, or sums of them that have no weight: nobody needs its gradient.
    bool of_features(int site) const {
        while (at(site).kind == SiteKind::product && at(site).reduce == Reduce::sum && !at(site).maps())
            site = at(site).input;
        return at(site).kind == SiteKind::input;
    }
    // Whether a layer reads what neither it nor the one before it makes, so that no window holds all that it reads.
    bool reads_far() const;
    // Whether layer 1 aggregates the features themselves, and nothing that training changes.
    bool aggregates_features() const {
        return at(product(1).input).kind == SiteKind::input && product(1).self_parameter < 0;
    }
    // Whether the order of layer `l`'s products in the backward pass is chosen: layer 1 has no such products where it
    // reads the features, whose gradient nobody needs.
    bool orders_backward(int l) const {
        const bool both = product(l).reduce == Reduce::sum && product(l).maps();
        return l > 1 || (both && at(product(1).input).kind != SiteKind::input);
    }
    // Whether it ends in a loss, so that there is a backward pass.
    bool trains() const { return sites.back().kind == SiteKind::loss; }
    // Whether any layer aggregates in this way.
    bool reduces_by(Reduce reduce) const {
        return std::any_of(products.begin(), products.end(), [&](int product) { return at(product).reduce == reduce; });
    }
    // Whether a layer makes something of all neighbours of a vertex that is no sum: a maximum, or a softmax.
    bool needs_whole_neighbourhoods() const {
        return std::any_of(sites.begin(), sites.end(), [](const Site& site) { return site.reduce != Reduce::sum; });
    }
    // How often layers 1 .. `l` aggregate.
    int hops_through(int l) const {
        int hops = 0;
        for (int layer = 1; layer <= l; ++layer) hops += product(layer).hops;
        return hops;
    }
    int hops() const { return hops_through(depth); }
    // The last layer that a batch norm makes something of all rows of: it and those before it compute all of them.
    int last_over_rows() const;
    // The site whose value layer `l` leaves to the next one, or to the end.
    int result(int l) const { return results[static_cast<std::size_t>(l - 1)]; }
    // The sites that read the value of `site`, in order, be it what they add, or what they add something to.
    std::vector<int> readers(int site) const;
    const Parameter& parameter(int id) const { return parameters[static_cast<std::size_t>(id)]; }

    std::vector<int> products;  // the site of each layer's product
    std::vector<int> results;   // see result()
};

// Reads an op graph as layers of one product each. Throws Error{usage} naming the first operation that no site has a
// place for: such a model needs another kind of site.
SiteGraph sites_of(const OpGraph& graph);

// Whether an epoch performs exactly what the RDM paper counts, the unused gradient of the features included.
inline bool paper_semantics(const SiteGraph& model, const Configuration& configuration) {
    const Orders& backward = configuration.backward;
    return !backward.empty() && backward.back() != Order::none && !model.orders_backward(1);
}

// Throws Error{usage} unless every product reads the values of the matrix: those that take maxima or attend do not, so
// that weights of edges would change nothing.
void check_reads_weights(const SiteGraph& graph);

// f_0 .. f_L: what the layers read and make.
std::vector<std::int64_t> widths_of(const SiteGraph& graph);

// Layers `first` .. `last` as a model of their own, its layers numbered from 1: what they read is its input, whose rows
// stand for sums of the layer before them, too, and the end reads what the last of them leaves.
SiteGraph window(const SiteGraph& graph, int first, int last);

// The same model with other widths f_0 .. f_L.
SiteGraph with_widths(SiteGraph graph, const std::vector<std::int64_t>& widths);

}  // namespace gnnplan
