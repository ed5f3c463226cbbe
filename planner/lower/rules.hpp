// The layouts that a configuration decides, per layer; lowering and search get the same answers.
#pragma once

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/sites.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan::lower {

// The resting layouts by name (see ir/layout.hpp).
enum class Place : std::uint8_t { c, r, f };
inline constexpr std::array<Place, 3> places = {Place::c, Place::r, Place::f};

const char* suffix(Place place);  // ".C", ".R", ".F"
Layout layout_at(Place place);

// The operation that a pass begins a layer's product with.
inline OpKind first_operation(Order order) { return order == Order::dense_first ? OpKind::linear : OpKind::aggregate; }

class Rules {
public:
    // Both outlive the object.
    Rules(const SiteGraph& graph, const Configuration& configuration)
        : Rules(graph, configuration, configuration.ring && !graph.trains() && configuration.on().splits_columns()) {}

    const SiteGraph& model() const { return graph_; }
    int depth() const { return graph_.depth; }
    const Configuration& configuration() const { return configuration_; }
    Order forward(int l) const { return configuration_.forward[static_cast<std::size_t>(l - 1)]; }
    Order backward(int l) const {
        return graph_.trains() ? configuration_.backward[static_cast<std::size_t>(depth() - l)] : Order::none;
    }
    std::optional<Operand> operand(int l) const {
        if (!graph_.trains()) return std::nullopt;
        return configuration_.operands[static_cast<std::size_t>(l - 1)];
    }

    // On a grid with y = 1 all resting layouts are one: a matrix in one of them is in all.
    bool places_differ() const { return configuration_.grid.y > 1; }
    // CAGNET's 1.5D: dense operands in F, their blocks dealt over y.
    bool block_distributed() const { return configuration_.sharing == Sharing::block_distributed && places_differ(); }
    // Products and linear maps of the input where it is replicated over y.
    bool column_parallel(const Site& site) const {
        return configuration_.replicated_input && places_differ() && graph_.at(site.input).kind == SiteKind::input;
    }

    // Whether the dense product of a site exchanges tiles, from columns to columns (RingGemmStep). It does where,
    // without rings, its operand would be redistributed from C for it alone and its result to C, and nobody wants
    // either of them elsewhere. `site` is one of the model's.
    bool rings(const Site& site) const;
    // Whether the dense product of any site does.
    bool any_rings() const;

    // The site's name within names of steps and tensors: its layer, and a word that tells it from others of the layer.
    std::string label(int site) const;

    // Where a product wants its dense operand and where it leaves its result.
    Place spmm_in() const { return block_distributed() ? Place::f : Place::c; }
    Place spmm_out() const { return block_distributed() ? Place::r : Place::c; }
    Place gemm_in(const Site& site) const {
        return column_parallel(site) ? Place::f : rings(site) ? Place::c : Place::r;
    }
    Place gemm_out(const Site& site) const { return column_parallel(site) || rings(site) ? Place::c : Place::r; }
    // The weight gradient's operands: T^l or H^(l-1), and G^l or A G^l.
    Place left(const Site& site) const { return gemm_in(site); }
    Place right(const Site& site) const { return gemm_out(site); }
    Place loss_place() const { return configuration_.column_loss && places_differ() ? Place::c : Place::r; }

    // Where a product or linear map wants what it reads.
    Place wanted_by(const Site& site) const;
    // Where a product, a linear map, a sum or a norm wants the value of a site that it reads.
    Place read_in(int reader, int value) const;
    // The sum of products and linear maps that a site normalises or changes element by element; of others themselves.
    int sum_below(int site) const;
    // Where the gradient of what a norm or pointwise site reads is wanted next.
    Place wanted_below(int site) const;
    // Where the backward pass of a norm is: where the gradient arrives, unless Z is elsewhere and the gradient has to
    // go there anyway.
    Place norm_place(int norm) const;
    // Where the value of a site is made. A linear map with an addend leaves its sum in gemm_out(), with two exceptions:
    // a sum with the layer's input stays where the addend is, and so does the last layer's sum if the loss wants it
    // there.
    Place made_in(int site) const;
    // Where dL/d(value) is complete: where the site that reads the value leaves it, or in R where several arrive.
    Place gradient_made_in(int site) const;
    // Where the backward pass of a product or linear map wants dL/d(value) first.
    Place gradient_wanted(const Site& site) const;

    // Whether the value that a product reads is redistributed just to be an operand of its weight gradient.
    bool moves_input(const Site& product) const;
    // Whether the value of a pointwise site exists in `place` once those that read it have what they want.
    bool exists_in(int pointwise, Place place) const;

private:
    Rules(const SiteGraph& graph, const Configuration& configuration, bool ring)
        : graph_(graph), configuration_(configuration), ring_(ring) {}
    // Whether what the product of a site multiplies by its weight is in C, and nobody else wants it in whole rows.
    bool takes_columns(int site) const;
    // Whether all who read the product's result want it in C; and whether all readers of a site's value want it there.
    bool leaves_columns(int site) const;
    bool wanted_in_columns(int site) const;
    Place wanted_by_product(const Site& reader, int value) const;
    Place wanted_by_linear(int reader, int value) const;
    const SiteGraph& graph_;
    const Configuration& configuration_;
    bool ring_;  // whether sites may ring at all
};

// Where the mask of H, the value of a pointwise site, meets the gradient of H. The mask is the bits H > 0 after a ReLU,
// and H itself after other activations.
struct MaskRule {
    Place at = Place::r;        // layout in which it is applied
    bool delayed = false;       // after the redistribution of the gradient that the backward pass needs anyway
    std::optional<Place> from;  // the mask itself moves: from here to `at`

    // The layout in which the mask is taken.
    Place taken() const { return from.value_or(at); }
};
MaskRule mask_rule(const Rules& rules, int pointwise);

}  // namespace gnnplan::lower
