// Building blocks of lowering: a schedule under construction, and matrices that exist in some of the resting layouts.
#pragma once

#include "planner/lower/lower.hpp"
#include "planner/lower/rules.hpp"

#include <array>
#include <optional>
#include <string>
#include <unordered_map>

namespace gnnplan::lower {

inline std::string numbered(const std::string& name, int l) { return name + std::to_string(l); }

// One matrix, in the layouts in which it exists so far.
class Copies {
public:
    bool in(Place place) const { return at_[index(place)].has_value(); }
    TensorId at(Place place) const { return *at_[index(place)]; }
    bool empty() const { return !in(Place::c) && !in(Place::r) && !in(Place::f); }
    void add(Place place, TensorId id) { at_[index(place)] = id; }
    // Where to take it from for `place`: there, else from F, which costs nothing, else from wherever it is.
    Place source_for(Place place) const;

private:
    static std::size_t index(Place place) { return static_cast<std::size_t>(place); }
    std::array<std::optional<TensorId>, 3> at_;
};

class Builder : public Rules {
public:
    Builder(const SiteGraph& model, const Configuration& configuration, const GraphShape& graph);

    Schedule take() { return std::move(schedule_); }

    // Steps and tensors of the current phase get its prefix ("" or "evaluation.").
    void begin_phase(Phase phase) { phase_ = phase; }
    // Where the steps that follow come from; what they do says which operation of the layer they serve.
    void begin(Pass pass, int l) { pass_ = pass, layer_ = l; }
    // The space of the rows of H^l, Z^l and G^l: N_l in training where only the rows that the loss needs are computed.
    int space(int l) const;
    std::int64_t rows(int l) const { return rows_in_space(space(l)); }
    std::int64_t rows_in_space(int space) const { return schedule_.spaces[static_cast<std::size_t>(space)].rows; }

    // The matrix of layer l: A^T is |N_l| x |N_(l-1)|, A is |N_(l-1)| x |N_l|. The rows of A^T may be dealt over the
    // ranks of a y-group, too (`dealt`).
    // the ranks of a y-group, too.
    TensorId adjacency(int l, bool transposed, bool dealt = false);
    // The rows of `space`, the first of the vertices.
    TensorId features(Place place, int space);
    TensorId weight(const Site& site);
    TensorId bias(const Site& pointwise);
    TensorId epsilon(const Site& product);

    // --- steps; each returns the tensor it produces ---
    // A product with the adjacency, summed where the contraction side is split: in spmm_out().
    TensorId spmm(const std::string& step, int l, bool transposed, TensorId in, const std::string& out);
    // The largest in-neighbours of layer l's input and how many of them there are, in C.
    struct Maxima {
        TensorId values, ties;
    };
    Maxima spmm_max(const std::string& step, int l, TensorId in, const std::string& out);
    // The gradient of what they were taken of, `own`, from that of the values, divided by the ties.
    TensorId spmm_max_back(const std::string& step, int l, TensorId shares, TensorId values, TensorId own,
                           const std::string& out);
    // The sums of attention over layer l's in-neighbours, and in training what its backward pass wants of them.
    struct Attended {
        TensorId sums;
        std::optional<TensorId> log_total, by_target{}, scores{};
    };
    Attended attend(const std::string& step, const Site& product, TensorId h, TensorId source, TensorId target,
                    bool training);
    // The gradients of h (for given weights) and of source, made from dL/d(sums); `inner` is <gradient, sums> by heads.
    struct AttendedBack {
        TensorId h, source;
    };
    // With `scores`, where A has its nonzeros, target and source are not read.
    struct AttendBackOperands {
        TensorId gradient, target, log_total, inner, h, source;
        std::optional<TensorId> scores;
    };
    AttendedBack attend_back(const std::string& step, const Site& product, const AttendBackOperands& in);
    // By heads: the sums of x * y over the columns of each head, y being like x or a parameter; partial sums where x's
    // columns are cut within heads.
    TensorId head_dot(const std::string& step, const Site& product, TensorId x, TensorId y, const std::string& out);
    // The same once it is summed over the ranks that have other columns of the same heads, where there are such.
    TensorId summed(const std::string& step, TensorId by_heads);
    // wide += by_heads * parameter.
    void head_spread(const std::string& step, const Site& product, TensorId wide, TensorId by_heads,
                     TensorId parameter);
    // The gradient of a parameter by heads: the sums over rows of wide * by_heads.
    TensorId head_fold(const std::string& step, const Site& product, TensorId wide, TensorId by_heads, int parameter);
    // The mean over heads, in R, and what goes back from it.
    TensorId head_mean(const std::string& step, const Site& product, TensorId wide, const std::string& out);
    TensorId head_share(const std::string& step, const Site& product, TensorId narrow, const std::string& out);
    TensorId copy(const std::string& step, TensorId in, const std::string& out);
    // x / |x|, and what goes back from it into `gradient`, from that of `unit`; `squares` and `inner` are by heads.
    TensorId head_unit(const std::string& step, const Site& product, TensorId x, TensorId squares,
                       const std::string& out);
    struct UnitBack {
        TensorId of_unit, unit, inner, squares;
    };
    void head_unit_back(const std::string& step, const Site& product, const UnitBack& in, TensorId gradient);
    // <y_v, x_u> for the nonzeros of layer l's matrix A^T: x has the rows that the layer reads, y those that it makes,
    // both where the configuration makes scores. The result is already summed over ranks.
    TensorId edge_dot(const std::string& step, int l, TensorId x, TensorId y, const std::string& out);
    // The softmax of beta * scores in each row.
    TensorId edge_softmax(const std::string& step, const Site& product, TensorId scores, const std::string& out);
    // `gradient` of the weights becomes that of the scores. Returns what goes back to beta by rows.
    struct SoftmaxBack {
        TensorId scores, weights, inner, gradient;
    };
    TensorId edge_softmax_back(const std::string& step, const Site& product, const SoftmaxBack& in,
                               const std::string& out);
    // Values of A^T where A has them.
    TensorId edge_transpose(const std::string& step, int l, TensorId in, const std::string& out);
    // A product with these values in place of the matrix's own.
    TensorId edge_sum(const std::string& step, int l, bool transposed, TensorId values, TensorId in,
                      const std::string& out);
    // The gradient of beta, the sum of what goes back to it by rows, and its update.
    void update_beta(const std::string& step, const Site& product, TensorId by_rows);
    // Where operands of edge_dot are.
    Place scores_place() const;
    // Where matrices by heads are beside wide ones in C.
    Place by_heads(const Site& product) const {
        return cuts_heads(configuration().grid, product.heads.count) ? Place::f : Place::c;
    }
    TensorId weight_of(int parameter_id) { return parameter(parameter_id, Role::weight); }

    TensorId gemm(const std::string& step, TensorId in, const Site& site, bool transposed, const std::string& out);
    // The same, added to what `onto` holds.
    void gemm_onto(const std::string& step, TensorId in, const Site& site, bool transposed, TensorId onto);
    // sum += other, elementwise.
    void add_to(const std::string& step, TensorId sum, TensorId other);
    // gradient /= ties, 0 where there are none.
    void divide(const std::string& step, TensorId gradient, TensorId ties);
    // The vertices' own part of a product: sum += (self + e) own.
    void add_self(const std::string& step, const Site& product, TensorId sum, TensorId own);
    // The gradient of a product's e, <left, right>, both in R or both in C, and its update.
    void update_epsilon(const std::string& step, const Site& product, TensorId left, TensorId right);
    // `reader`: the operation that wants the result there. Its rows are those of `space`, if one is given: rows that
    // the space lacks are left out, and rows that only the space has are zero.
    TensorId redistribute(const std::string& step, TensorId in, Place to, const std::string& out, OpKind reader,
                          std::optional<int> space = {});
    TensorId weight_grad(const std::string& step, TensorId left, TensorId right, int site);
    TensorId column_sum(const std::string& step, TensorId in, int pointwise);
    // With `mask`, the bits H^l > 0 are made in the same pass and returned under that name.
    std::optional<TensorId> activate(const std::string& step, TensorId z, const Site& pointwise, bool training,
                                     const std::optional<std::string>& mask);
    TensorId dropout_input(const std::string& step, TensorId in, const std::string& out);
    TensorId positive_mask(const std::string& step, TensorId h, const std::string& out);
    void apply_mask(const std::string& step, TensorId g, TensorId mask, const Site& pointwise);
    // The same after other activations: `h` is what the site made, and none where it has no activation.
    void activation_gradient(const std::string& step, TensorId g, std::optional<TensorId> h, const Site& pointwise);
    void all_reduce(const std::string& step, TensorId tensor, OpKind op);
    void loss(TensorId logits);
    void score(TensorId logits);
    // Declares the result of an inference.
    void output(TensorId logits) { schedule_.output = logits; }
    // Sums the gradient of a parameter over the ranks and takes a step of the optimiser.
    void reduce_and_update(TensorId parameter, TensorId gradient, OpKind op);

    // `matrix` in `place`, redistributed if it is not there yet. `name` without layout, e.g. "H1".
    TensorId at(Copies& matrix, Place place, const std::string& step, const std::string& name, OpKind reader);

    // A tensor that setup has made lives on for every epoch.
    void cache(TensorId id) { schedule_.tensors[static_cast<std::size_t>(id)].role = Role::cached; }

private:
    std::int64_t panel_columns() const;
    TensorId add(Tensor tensor);
    void update(TensorId parameter, TensorId gradient, OpKind op);
    struct Rows {
        std::int64_t count;
        std::optional<int> space = {};
    };
    static Rows rows_of(const Tensor& tensor) { return {tensor.rows, tensor.space}; }
    Rows rows_in(int space) const { return {rows_in_space(space), space}; }
    // A product over the nonzeros of layer l's matrix with operands and results yet to come.
    SpmmStep spmm_step(int l, bool transposed);
    // The same of a product of rows, as the configuration has scores made.
    SpmmStep dot_step(int l);
    TensorId spmm_result(const SpmmStep& product, const std::string& name, TensorId like);
    // A value for each nonzero of a product's matrix, and a float for each of its rows.
    TensorId edges_of(TensorId matrix, const std::string& name, const Axes& partial = {});
    // Values by heads for each nonzero.
    TensorId edges_by_heads(TensorId matrix, const std::string& name, const Site& product);
    TensorId by_rows_of(TensorId matrix, const std::string& name);
    // A float for each row of `like` and each head.
    TensorId heads_like(const std::string& name, const Tensor& like, const Site& product, const Layout& layout);
    void head(const std::string& step, HeadOp op, const Site& product, std::vector<TensorId> in, TensorId out);
    TensorId resident(const std::string& name, Role role, DType dtype, Rows rows, std::int64_t columns,
                      const Layout& layout);
    TensorId transient(const std::string& name, DType dtype, Rows rows, std::int64_t columns, const Layout& layout);
    TensorId parameter(int id, Role role);
    TensorId per_row(const std::string& name, Role role, DType dtype, const Tensor& of);
    std::optional<TensorId> vertices(const Tensor& of, bool dropout);
    void index(TensorId matrix);
    void step(const std::string& name, OpKind op, const Operation& operation);

    GraphShape graph_;
    Schedule schedule_;
    std::unordered_map<std::string, TensorId> by_name_;  // the first tensor of each name
    Phase phase_ = Phase::epoch;
    Pass pass_ = Pass::forward;
    int layer_ = 0;
};

}  // namespace gnnplan::lower
