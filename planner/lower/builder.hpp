// Building blocks of lowering: a schedule under construction, and matrices that exist in one or both resting layouts.
#pragma once

#include "planner/lower/lower.hpp"

#include <array>
#include <optional>
#include <string>

namespace gnnplan::lower {

// The two resting layouts by name (see ir/layout.hpp).
enum class Place : std::uint8_t { c, r };

inline Place other(Place place) { return place == Place::c ? Place::r : Place::c; }
// Where an S or D product wants its dense operand, and where it leaves its result.
inline Place operand_place(Order order) { return order == Order::sparse_first ? Place::c : Place::r; }
inline Place result_place(Order order) { return other(operand_place(order)); }

// One matrix, in the layouts in which it exists so far.
class Copies {
public:
    bool in(Place place) const { return at_[index(place)].has_value(); }
    TensorId at(Place place) const { return *at_[index(place)]; }
    void add(Place place, TensorId id) { at_[index(place)] = id; }

private:
    static std::size_t index(Place place) { return static_cast<std::size_t>(place); }
    std::array<std::optional<TensorId>, 2> at_;
};

class Builder {
public:
    Builder(const std::vector<ProductLayer>& layers, const Configuration& configuration, const GraphShape& graph);

    const std::vector<ProductLayer>& layers() const { return layers_; }
    const ProductLayer& layer(int l) const { return layers_[static_cast<std::size_t>(l - 1)]; }
    int depth() const { return static_cast<int>(layers_.size()); }
    const Configuration& configuration() const { return configuration_; }
    Order forward(int l) const { return configuration_.forward[static_cast<std::size_t>(l - 1)]; }
    Order backward(int l) const { return configuration_.backward[static_cast<std::size_t>(depth() - l)]; }
    bool keeps(int l) const;
    // On a grid with y = 1 layouts C and R are one: a matrix in either is in both.
    bool places_differ() const { return schedule_.grid.y > 1; }

    Schedule take() { return std::move(schedule_); }

    // Steps and tensors of the current phase get its prefix ("" or "evaluation.").
    void begin_phase(Phase phase);

    // --- residents, created on first use ---
    TensorId adjacency(bool transposed);
    TensorId features(Place place);
    TensorId labels();
    TensorId subset();
    TensorId weight(int l);
    TensorId bias(int l);

    // --- steps; each returns the tensor it produces ---
    TensorId spmm(const std::string& step, bool transposed, TensorId in, const std::string& out);
    TensorId gemm(const std::string& step, TensorId in, int l, bool transposed, const std::string& out);
    TensorId redistribute(const std::string& step, TensorId in, Place to, const std::string& out);
    TensorId weight_grad(const std::string& step, TensorId left, TensorId right, int l);
    TensorId column_sum(const std::string& step, TensorId in, int l);
    void activate(const std::string& step, TensorId z, int l, bool training);
    TensorId dropout_input(const std::string& step, TensorId in, const std::string& out);
    TensorId positive_mask(const std::string& step, TensorId h, const std::string& out);
    void apply_mask(const std::string& step, TensorId g, TensorId mask, int reading_layer);
    void all_reduce(const std::string& step, TensorId tensor);
    void loss(TensorId logits);
    void score(TensorId logits);
    void update(int l, TensorId gradient, bool of_bias);

    // `matrix` in `place`, redistributed if it is not there yet. `name` without layout, e.g. "H1".
    TensorId at(Copies& matrix, Place place, const std::string& step, const std::string& name);

private:
    TensorId add(Tensor tensor);
    TensorId resident(const std::string& name, Role role, DType dtype, std::int64_t rows, std::int64_t columns,
                      const Layout& layout, int l = 0, bool transposed = false);
    TensorId transient(const std::string& name, DType dtype, std::int64_t rows, std::int64_t columns,
                       const Layout& layout);
    void step(const std::string& name, const Operation& operation);

    const std::vector<ProductLayer>& layers_;
    const Configuration& configuration_;
    GraphShape graph_;
    Schedule schedule_;
    Phase phase_ = Phase::epoch;
};

inline std::string numbered(const std::string& name, int l) { return name + std::to_string(l); }
inline const char* suffix(Place place) { return place == Place::c ? ".C" : ".R"; }

// H^(l-1) after dropout while layer l is trained, where it exists; l = 1 is the features.
using Activations = std::vector<Copies>;  // index l: the input of layer l + 1; 0 is the (dropped) features
using Masks = std::vector<Copies>;        // index l: the bits H^l > 0, l = 1 .. L - 1

// What the forward pass leaves for the backward pass.
struct Forward {
    Activations activations;
    std::vector<std::optional<TensorId>> kept;  // index l: T^l in R
    Masks masks;
    TensorId logits = -1;  // Z^L in R
};

// Emits the forward pass; with `training`, dropout, masks and what the backward pass will want of the activations.
Forward lower_forward(Builder& builder, bool training);

// The (dropped, when training) features in `place`.
TensorId input_at(Builder& builder, Copies& input, Place place, bool training);

// Emits loss, backward pass and updates.
void lower_backward(Builder& builder, Forward& forward);

// Where the mask of H^l meets the gradient U^l.
struct MaskRule {
    Place at = Place::r;        // layout in which it is applied
    bool delayed = false;       // after the redistribution of U^l that layer l's backward needs anyway
    std::optional<Place> from;  // the mask itself moves: from here to `at`
};
MaskRule mask_rule(const Builder& builder, int l);

// Whether H^(l-1) is redistributed just to be an operand of Y^l.
bool moves_input(const Builder& builder, int l);

}  // namespace gnnplan::lower
