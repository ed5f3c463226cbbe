// Building blocks of lowering: a schedule under construction, and matrices that exist in some of the resting layouts.
#pragma once

#include "planner/lower/lower.hpp"

#include <array>
#include <optional>
#include <string>

namespace gnnplan::lower {

// The resting layouts by name (see ir/layout.hpp).
enum class Place : std::uint8_t { c, r, f };
inline constexpr std::array<Place, 3> places = {Place::c, Place::r, Place::f};

// The operation that a pass begins a layer's product with.
inline OpKind first_operation(Order order) { return order == Order::dense_first ? OpKind::linear : OpKind::aggregate; }

inline std::string numbered(const std::string& name, int l) { return name + std::to_string(l); }
const char* suffix(Place place);  // ".C", ".R", ".F"
Layout layout_at(Place place);

// One matrix, in the layouts in which it exists so far.
class Copies {
public:
    bool in(Place place) const { return at_[index(place)].has_value(); }
    TensorId at(Place place) const { return *at_[index(place)]; }
    void add(Place place, TensorId id) { at_[index(place)] = id; }
    // Where to take it from for `place`: there, else from F, which costs nothing, else from wherever it is.
    Place source_for(Place place) const;

private:
    static std::size_t index(Place place) { return static_cast<std::size_t>(place); }
    std::array<std::optional<TensorId>, 3> at_;
};

// What a configuration decides about layouts, per layer; the same answers for lowering and for search.
class Rules {
public:
    Rules(const std::vector<ProductLayer>& layers, const Configuration& configuration);

    int depth() const { return static_cast<int>(layers_.size()); }
    const ProductLayer& layer(int l) const { return layers_[static_cast<std::size_t>(l - 1)]; }
    const Configuration& configuration() const { return configuration_; }
    Order forward(int l) const { return configuration_.forward[static_cast<std::size_t>(l - 1)]; }
    Order backward(int l) const { return configuration_.backward[static_cast<std::size_t>(depth() - l)]; }
    Operand operand(int l) const { return configuration_.operands[static_cast<std::size_t>(l - 1)]; }

    // On a grid with y = 1 all resting layouts are one: a matrix in one of them is in all.
    bool places_differ() const { return configuration_.grid.y > 1; }
    // CAGNET's 1.5D: dense operands in F, their blocks dealt over y.
    bool dealt() const { return configuration_.sharing == Sharing::dealt && places_differ(); }
    // Layer 1's products with the input replicated over y.
    bool column_parallel(int l) const { return l == 1 && configuration_.replicated_input && places_differ(); }

    // Where a product wants its dense operand and where it leaves its result.
    Place spmm_in() const { return dealt() ? Place::f : Place::c; }
    Place spmm_out() const { return dealt() ? Place::r : Place::c; }
    Place gemm_in(int l) const { return column_parallel(l) ? Place::f : Place::r; }
    Place gemm_out(int l) const { return column_parallel(l) ? Place::c : Place::r; }
    // The weight gradient's operands: T^l or H^(l-1), and G^l or A G^l.
    Place left(int l) const { return gemm_in(l); }
    Place right(int l) const { return gemm_out(l); }

    Place forward_in(int l) const { return forward(l) == Order::sparse_first ? spmm_in() : gemm_in(l); }
    Place activation_born(int l) const { return forward(l) == Order::sparse_first ? gemm_out(l) : spmm_out(); }
    Place loss_place() const { return configuration_.column_loss && places_differ() ? Place::c : Place::r; }
    // Where U^(l-1) = dL/dH^(l-1) is born, l > 1.
    Place gradient_born(int l) const { return backward(l) == Order::sparse_first ? Place::r : spmm_out(); }
    // Where layer l's backward pass wants G^l first.
    Place gradient_wanted(int l) const;

    // Whether H^(l-1) is redistributed just to be an operand of Y^l.
    bool moves_input(int l) const;
    // Whether H^l exists in `place` once layer l + 1 has what it wants.
    bool activation_in(int l, Place place) const;

private:
    const std::vector<ProductLayer>& layers_;
    const Configuration& configuration_;
};

// Where the mask of H^l meets the gradient U^l.
struct MaskRule {
    Place at = Place::r;        // layout in which it is applied
    bool delayed = false;       // after the redistribution of U^l that layer l's backward needs anyway
    std::optional<Place> from;  // the mask itself moves: from here to `at`
};
MaskRule mask_rule(const Rules& rules, int l);

class Builder : public Rules {
public:
    Builder(const std::vector<ProductLayer>& layers, const Configuration& configuration, const GraphShape& graph);

    Schedule take() { return std::move(schedule_); }

    // Steps and tensors of the current phase get its prefix ("" or "evaluation.").
    void begin_phase(Phase phase) { phase_ = phase; }
    // Where the steps that follow come from; what they do says which operation of the layer they serve.
    void begin(Pass pass, int l) { pass_ = pass, layer_ = l; }
    // Rows of H^l, Z^l and G^l: |N_l| in training where only the rows that the loss needs are computed.
    std::int64_t rows(int l) const;

    // --- residents, created on first use ---
    // The matrix of layer l: |N_l| x |N_(l-1)| of A^T, or |N_(l-1)| x |N_l| of A.
    TensorId adjacency(int l, bool transposed);
    TensorId features(Place place);
    TensorId weight(int l);
    TensorId bias(int l);

    // --- steps; each returns the tensor it produces ---
    // A product with the adjacency, summed where the contraction side is split: in spmm_out().
    TensorId spmm(const std::string& step, int l, bool transposed, TensorId in, const std::string& out);
    TensorId gemm(const std::string& step, TensorId in, int l, bool transposed, const std::string& out);
    // `reader`: the operation that wants the result there.
    TensorId redistribute(const std::string& step, TensorId in, Place to, const std::string& out, OpKind reader);
    TensorId weight_grad(const std::string& step, TensorId left, TensorId right, int l);
    TensorId column_sum(const std::string& step, TensorId in, int l);
    // With `mask`, the bits H^l > 0 are made in the same pass and returned under that name.
    std::optional<TensorId> activate(const std::string& step, TensorId z, int l, bool training,
                                     const std::optional<std::string>& mask);
    TensorId dropout_input(const std::string& step, TensorId in, const std::string& out);
    TensorId positive_mask(const std::string& step, TensorId h, const std::string& out);
    void apply_mask(const std::string& step, TensorId g, TensorId mask, int reading_layer);
    void all_reduce(const std::string& step, TensorId tensor, OpKind op);
    void loss(TensorId logits);
    void score(TensorId logits);
    void update(int l, TensorId gradient, bool of_bias);

    // `matrix` in `place`, redistributed if it is not there yet. `name` without layout, e.g. "H1".
    TensorId at(Copies& matrix, Place place, const std::string& step, const std::string& name, OpKind reader);

    // A tensor that setup has made lives on for every epoch.
    void cache(TensorId id) { schedule_.tensors[static_cast<std::size_t>(id)].role = Role::cached; }

private:
    std::int64_t panel_columns() const;
    TensorId add(Tensor tensor);
    TensorId resident(const std::string& name, Role role, DType dtype, std::int64_t rows, std::int64_t columns,
                      const Layout& layout, int l = 0, bool transposed = false);
    TensorId transient(const std::string& name, DType dtype, std::int64_t rows, std::int64_t columns,
                       const Layout& layout);
    TensorId per_row(const std::string& name, Role role, DType dtype, const Tensor& of);
    std::optional<TensorId> vertices(const Tensor& of, bool dropout);
    void index(TensorId matrix);
    void step(const std::string& name, OpKind op, const Operation& operation);

    GraphShape graph_;
    Schedule schedule_;
    Phase phase_ = Phase::epoch;
    Pass pass_ = Pass::forward;
    int layer_ = 0;
};

// H^(l-1) after dropout while layer l is trained, where it exists; l = 1 is the features.
using Activations = std::vector<Copies>;  // index l: the input of layer l + 1; 0 is the (dropped) features
using Masks = std::vector<Copies>;        // index l: the bits H^l > 0, l = 1 .. L - 1

// What the forward pass leaves for the backward pass.
struct Forward {
    Activations activations;
    std::vector<std::optional<TensorId>> kept;  // index l: T^l in left(l)
    Masks masks;
    TensorId logits = -1;  // Z^L in loss_place(), in R for evaluation
};

// T^1 in left(1), made in setup, where the configuration caches it.
std::optional<TensorId> lower_setup(Builder& builder);

// Emits the forward pass; with `training`, dropout, masks and what the backward pass will want of the activations.
Forward lower_forward(Builder& builder, bool training, std::optional<TensorId> cached);

// The (dropped, when training) features in `place`.
TensorId input_at(Builder& builder, Copies& input, Place place, bool training);

// Emits loss, backward pass and updates.
void lower_backward(Builder& builder, Forward& forward);

}  // namespace gnnplan::lower
