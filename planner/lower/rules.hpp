// What a configuration decides about layouts, per layer; the same answers for lowering and for search.
#pragma once

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/sites.hpp>

#include <array>
#include <cstdint>
#include <optional>

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
    Rules(const SiteGraph& graph, const Configuration& configuration) : graph_(graph), configuration_(configuration) {}

    const SiteGraph& model() const { return graph_; }
    int depth() const { return graph_.depth; }
    const Configuration& configuration() const { return configuration_; }
    Order forward(int l) const { return configuration_.forward[static_cast<std::size_t>(l - 1)]; }
    Order backward(int l) const { return configuration_.backward[static_cast<std::size_t>(depth() - l)]; }
    Operand operand(int l) const { return configuration_.operands[static_cast<std::size_t>(l - 1)]; }

    // On a grid with y = 1 all resting layouts are one: a matrix in one of them is in all.
    bool places_differ() const { return configuration_.grid.y > 1; }
    // CAGNET's 1.5D: dense operands in F, their blocks dealt over y.
    bool block_distributed() const { return configuration_.sharing == Sharing::block_distributed && places_differ(); }
    // Layer 1's products with the input replicated over y.
    bool column_parallel(int l) const { return l == 1 && configuration_.replicated_input && places_differ(); }

    // Where a product wants its dense operand and where it leaves its result.
    Place spmm_in() const { return block_distributed() ? Place::f : Place::c; }
    Place spmm_out() const { return block_distributed() ? Place::r : Place::c; }
    Place gemm_in(int l) const { return column_parallel(l) ? Place::f : Place::r; }
    Place gemm_out(int l) const { return column_parallel(l) ? Place::c : Place::r; }
    // The weight gradient's operands: T^l or H^(l-1), and G^l or A G^l.
    Place left(int l) const { return gemm_in(l); }
    Place right(int l) const { return gemm_out(l); }

    Place forward_in(int l) const { return forward(l) == Order::sparse_first ? spmm_in() : gemm_in(l); }
    Place activation_produced_in(int l) const { return forward(l) == Order::sparse_first ? gemm_out(l) : spmm_out(); }
    Place loss_place() const { return configuration_.column_loss && places_differ() ? Place::c : Place::r; }
    // Where U^(l-1) = dL/dH^(l-1) is produced, l > 1.
    Place gradient_produced_in(int l) const { return backward(l) == Order::sparse_first ? Place::r : spmm_out(); }
    // Where layer l's backward pass wants G^l first.
    Place gradient_wanted(int l) const;

    // Whether H^(l-1) is redistributed just to be an operand of Y^l.
    bool moves_input(int l) const;
    // Whether H^l exists in `place` once layer l + 1 has what it wants.
    bool activation_in(int l, Place place) const;

private:
    const SiteGraph& graph_;
    const Configuration& configuration_;
};

// Where the mask of H^l meets the gradient U^l.
struct MaskRule {
    Place at = Place::r;        // layout in which it is applied
    bool delayed = false;       // after the redistribution of U^l that layer l's backward needs anyway
    std::optional<Place> from;  // the mask itself moves: from here to `at`

    // The layout in which the mask is taken.
    Place taken() const { return from.value_or(at); }
};
MaskRule mask_rule(const Rules& rules, int l);

}  // namespace gnnplan::lower
