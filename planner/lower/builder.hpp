// A schedule under construction: its tensors, its steps, and matrices that exist in some of the resting layouts. It
// knows no kind of site: each site file makes its own steps of these (passes.hpp).
#pragma once

#include "planner/lower/lower.hpp"
#include "planner/lower/rules.hpp"

#include <gnnplan/base/error.hpp>

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace gnnplan::lower {

inline std::string numbered(const std::string& name, int l) { return name + std::to_string(l); }

// A matrix as the forward pass multiplies by it, A^T or W, or its transpose, A or W^T, as the backward pass does.
enum class Direction : std::uint8_t { forward, backward };

// Whether the rows of an adjacency are split over x alone, or dealt over the ranks of each y-group, too.
enum class RowSplit : std::uint8_t { over_x, over_all };

// One matrix, in the layouts in which it exists so far.
class Copies {
public:
    bool in(Place place) const { return at_[index(place)].has_value(); }
    TensorId at(Place place) const {
        ensure(in(place), "a value is not where it is read");
        return *at_[index(place)];
    }
    bool empty() const { return !in(Place::c) && !in(Place::r) && !in(Place::f); }
    void add(Place place, TensorId id) { at_[index(place)] = id; }
    // Where to take it from for `place`: there, else from F, which costs nothing, else from wherever it is.
    Place source_for(Place place) const;

private:
    static std::size_t index(Place place) { return static_cast<std::size_t>(place); }
    std::array<std::optional<TensorId>, 3> at_;
};

class Builder {
public:
    // `model` and `configuration` outlive the object.
    Builder(const SiteGraph& model, const Configuration& configuration, const GraphShape& graph);

    Schedule take() { return std::move(schedule_); }

    const Rules& rules() const { return rules_; }
    // A tensor made before. Making another one ends the reference.
    const Tensor& tensor(TensorId id) const { return tensor_of(schedule_, id); }

    // The tensor that the current phase has made under this name, the first time.
    std::optional<TensorId> made_before(const std::string& name) const {
        const auto known = by_name_.find(in_phase(name));
        return known == by_name_.end() ? std::nullopt : std::optional(known->second);
    }

    // Steps and tensors of the current phase get its prefix ("" or "evaluation.").
    void begin_phase(Phase phase) { phase_ = phase; }
    // Where the steps that follow come from; what they do says which operation of the layer they serve.
    void begin(Pass pass, int l) { pass_ = pass, layer_ = l; }
    // The space of the rows of H^l, Z^l and G^l: N_l in training where only the rows that the loss needs are computed,
    // but for layers up to the last one of which something is made of all rows.
    // With `hop`, those of what layer l + 1 has made after so many of its aggregations.
    int space(int l, int hop = 0) const;
    std::int64_t rows_in_space(int space) const { return schedule_.spaces[static_cast<std::size_t>(space)].rows; }

    // Whether rows that train are clones of vertices.
    bool has_clones() const { return schedule_.numbering.has_clones(); }
    // After how many epochs the clones that this phase works on get sums of each other's; none where they do not.
    std::optional<int> delay() const { return in_groups() ? schedule_.numbering.delay : std::nullopt; }

    // --- residents, created on first use ---
    // The matrix of layer l: |N_l| x |N_(l-1)| of A^T, or |N_(l-1)| x |N_l| of A; or, of a layer that aggregates
    // several times, that of its aggregation `hop` from 1.
    TensorId adjacency(int l, Direction direction, int hop = 1, RowSplit split = RowSplit::over_x);
    // The rows of `space`, the first of the vertices.
    TensorId features(Place place, int space);
    // Parameters of the model, by their index: matrices, and vectors.
    TensorId weight(int parameter) { return resident_parameter(parameter, Role::weight); }
    TensorId bias(int parameter) { return resident_parameter(parameter, Role::bias); }
    // A label, subset, vertex number or weight in the loss (by `role`) for each row of `of`, where its rows are; or, of
    // logits in R or C or by columns over all ranks, `by_column` a bit for each element.
    TensorId per_row(Role role, TensorId of, bool by_column = false);
    // The numbers that key the draws of dropout in the rows of `of`; none where rows have the vertices' own numbers.
    std::optional<TensorId> draw_keys(TensorId of);

    // --- transients ---
    // As many rows and columns as `of`, in its layout.
    TensorId like(const std::string& name, TensorId of, DType dtype = DType::f32);
    // The rows of `of`, with other columns and in another layout.
    TensorId beside(const std::string& name, TensorId of, std::int64_t columns, const Layout& layout,
                    Role role = Role::transient);
    // A matrix of which every rank has a summand.
    TensorId summand(const std::string& name, std::int64_t rows, std::int64_t columns, DType dtype = DType::f32);
    // `columns` values for each nonzero of `matrix`, which are split over `split`, and partial sums over `partial`.
    TensorId edges(const std::string& name, TensorId matrix, std::int64_t columns = 1, const Axes& split = {},
                   const Axes& partial = {});
    // A rank's summands of a product with `matrix`, of a cut, as wide as `like`.
    TensorId summands(const std::string& name, TensorId matrix, TensorId like);
    // The result of a product, as wide as `like`, in spmm_out().
    TensorId result_of(const SpmmStep& product, const std::string& name, TensorId like);

    // --- steps ---
    void step(const std::string& name, OpKind op, const Operation& operation);
    // A product over the nonzeros of layer l's matrix, as the configuration exchanges rows for it; the caller says what
    // its program is, and its operands and results.
    SpmmStep product(int l, Direction direction, int hop = 1);
    // A step of setup in which ranks ask each other for the rows that they need of operands of `matrix`. With `targets`
    // of a cut, they tell each other the rows that they have summands of.
    void request_rows(RowRequestStep request);
    // `in` in the layout of `to`, under the name `out` with a suffix, or `in` itself if it is there. `reader`: the
    // operation that wants the result there. Its rows are those of `space`, if one is given: rows that the space lacks
    // are left out, and rows that only the space has are zero.
    TensorId redistribute(const std::string& step, TensorId in, Place to, const std::string& out, OpKind reader,
                          std::optional<int> space = {});
    // `matrix` in `place`, redistributed if it is not there yet. `name` without layout, e.g. "H1".
    TensorId at(Copies& matrix, Place place, const std::string& step, const std::string& name, OpKind reader);
    // A step of the optimiser, with a gradient that is summed over the ranks (reduce_and_update() in dense.hpp).
    void update(TensorId parameter, TensorId gradient, OpKind op);

    // A tensor that setup has made lives on for every epoch.
    void cache(TensorId id) { schedule_.tensors[static_cast<std::size_t>(id)].role = Role::cached; }
    // The logits that an inference is for.
    void output(TensorId logits) { schedule_.output = logits; }

private:
    struct Rows {
        std::int64_t count;
        std::optional<int> space = {};
    };
    Rows rows_of(TensorId id) const { return {tensor(id).rows, tensor(id).space}; }
    Rows rows_in(int space) const { return {rows_in_space(space), space}; }
    const Configuration& configuration() const { return rules_.configuration(); }
    std::int64_t widest_product() const;
    std::int64_t panel_columns() const;
    std::int64_t longest_contraction() const;
    // Whether the steps of this phase work on the graphs of groups: those that train.
    bool in_groups() const { return schedule_.grid.grouped() && phase_ != Phase::evaluation; }
    // Tells the names of rows from that of all vertices.
    std::string suffix_of(const Rows& rows) const;
    Layout adjacency_layout() const;
    std::string adjacency_name(bool transposed, const Rows& rows, const Rows& columns, int sample) const;
    TensorId next_tensor() const { return static_cast<TensorId>(schedule_.tensors.size()); }
    TensorId resident(const std::string& name, Role role, DType dtype, Rows rows, std::int64_t columns,
                      const Layout& layout);
    TensorId resident_parameter(int id, Role role);
    TensorId transient(const std::string& name, DType dtype, Rows rows, std::int64_t columns, const Layout& layout);
    TensorId belonging(const std::string& name, Role role, TensorId matrix, std::int64_t columns, const Layout& layout);
    std::string in_phase(const std::string& name) const;

    Rules rules_;
    int over_rows_;  // after so many aggregations there is a row for each vertex, whatever rows the loss needs
    GraphShape graph_;
    Schedule schedule_;
    std::unordered_map<std::string, TensorId> by_name_;  // the first tensor of each name
    std::unordered_set<std::string> step_names_;
    Phase phase_ = Phase::epoch;
    Pass pass_ = Pass::forward;
    int layer_ = 0;
};

}  // namespace gnnplan::lower
