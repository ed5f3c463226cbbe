// The requirements of a product on the tensors of its program.
#include "planner/ir/step_check.hpp"

#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/row_relay.hpp>

#include <cstdint>
#include <optional>

namespace gnnplan {
namespace {

// Lists as long as the program's, whose tensors are different ones wherever something is written.
void check_lists(const StepCheck& step, const SpmmStep& product) {
    const OperandKinds kinds = product.kinds();
    step.require(product.column_operands.size() == kinds.columns.size() &&
                     product.row_operands.size() == kinds.rows.size() && product.results.size() == kinds.results.size(),
                 "the program has other numbers of operands and results");
    for (std::size_t i = 0; i < product.results.size(); ++i) {
        for (const TensorId in : product.column_operands) step.distinct(in, product.results[i]);
        for (const TensorId in : product.row_operands) step.distinct(in, product.results[i]);
        for (std::size_t j = 0; j < i; ++j)
            step.require(product.results[j] != product.results[i], "two results are the same tensor");
    }
}

// The layout of what has the rows of the matrix.
Layout result_layout(const Grid& grid, const Tensor& matrix) {
    return {matrix.layout.rows, dense_layout(matrix).columns, partial_over(grid, matrix)};
}

// One side of a product: the rows or the columns of its matrix.
struct Side {
    Layout layout;  // of wide operands
    std::int64_t rows;
    std::optional<int> space;
    Axes partial = {};  // over which values of nonzeros are partial sums
};

class OperandCheck {
public:
    OperandCheck(const StepCheck& step, const SpmmStep& product)
        : step_(step),
          matrix_(product.matrix),
          heads_(product.attending.heads),
          width_(step.at(product.program == Program::dot ? product.column_operands.front() : product.results.front())
                     .columns) {
        if (!product.attends()) return;
        step.require(heads_ > 0 && width_ % heads_ == 0, "its heads do not share the columns");
        cut_ = cuts_heads(step.grid(), heads_);
    }

    void operand(TensorId id, OperandKind kind, const Side& side) const {
        if (kind == OperandKind::edges) return step_.edges(id, matrix_, {});
        if (kind == OperandKind::edges_by_heads) return edges_by_heads(id);
        if (kind == OperandKind::vertices) {
            step_.with_role(id, {Role::vertices});
        } else if (kind == OperandKind::wide) {
            step_.dense(id);
        } else {
            step_.typed(id, DType::f32), step_.written(id);
        }
        placed(id, kind, side, kind == OperandKind::by_heads);
    }
    void result(TensorId id, OperandKind kind, const Side& side) const {
        if (kind == OperandKind::edges) return step_.edges(id, matrix_, side.partial);
        if (kind == OperandKind::edges_by_heads) return edges_by_heads(id);
        if (step_.at(matrix_).cut()) {
            step_.with_role(id, {Role::summands});
            step_.require(step_.at(id).structure == matrix_, "summands are those of another matrix");
        } else {
            step_.written(id);
        }
        step_.typed(id, DType::f32), placed(id, kind, side, false);
    }

private:
    // Every rank has those of its own heads, as it has columns of matrices by heads.
    void edges_by_heads(TensorId id) const {
        const Axes heads = cut_ ? Axes() : dense_layout(step_.at(matrix_)).columns;
        step_.edges(id, matrix_, {}, heads_);
        step_.require(step_.at(id).layout.columns == heads, "values of edges are of other heads");
    }
    void placed(TensorId id, OperandKind kind, const Side& side, bool may_be_sum) const {
        Layout layout = side.layout;
        const bool whole_rows = kind == OperandKind::vertices || (kind != OperandKind::wide && cut_);
        if (whole_rows) layout.columns = {};
        if (kind == OperandKind::summand_by_heads && cut_) layout.partial = Axes::parse("y");
        const std::int64_t columns = kind == OperandKind::wide ? width_ : kind == OperandKind::vertices ? 1 : heads_;
        step_.require(may_be_sum ? step_.sum_placed(id, layout) : step_.placed(id, layout),
                      "an operand is in the wrong layout");
        step_.shaped(id, side.rows, columns);
        step_.require(step_.at(id).space == side.space, "operands are not about the rows and columns of the matrix");
    }

    const StepCheck& step_;
    TensorId matrix_;
    std::int64_t heads_, width_;
    bool cut_ = false;
};

void check_operands(const StepCheck& step, const SpmmStep& product) {
    const Tensor& m = step.at(product.matrix);
    Side columns{dense_layout(m), m.columns, m.column_space};
    Side rows{result_layout(step.grid(), m), m.rows, m.space};
    // Products of whole rows need no sum over y.
    const bool whole_rows = product.program == Program::dot && step.at(product.results.front()).layout.partial.empty();
    if (whole_rows) columns.layout.columns = rows.layout.columns = {};
    if (product.program == Program::dot && !whole_rows) rows.partial = Axes::parse("y");
    const OperandKinds kinds = product.kinds();
    const OperandCheck check(step, product);
    for (std::size_t i = 0; i < kinds.columns.size(); ++i)
        check.operand(product.column_operands[i], kinds.columns[i], columns);
    for (std::size_t i = 0; i < kinds.rows.size(); ++i) check.operand(product.row_operands[i], kinds.rows[i], rows);
    for (std::size_t i = 0; i < kinds.results.size(); ++i) check.result(product.results[i], kinds.results[i], rows);
}

}  // namespace

void SpmmStep::check(const StepCheck& step) const {
    step.with_role(matrix, {Role::adjacency});
    const Tensor& m = step.at(matrix);
    check_lists(step, *this);
    step.require(program == Program::sum || !contraction_axis(step.grid(), m),
                 "its program is no sum over ranks: it needs the whole contraction side on every rank");
    check_operands(step, *this);
    step.require((exchange != Exchange::none) == gathers_rows(step.grid(), m), "the exchange does not fit the grid");
    step.require(exchange == Exchange::rows || !m.cut(),
                 "parts of a cut get the rows that they need, not whole panels");
    step.require(exchange != Exchange::relayed_rows || relays_rows(step.grid(), m),
                 "its rows are not passed on from rank to rank");
    step.require(exchange != Exchange::relay || !deals_rows(m), "rows that are dealt over all ranks are not passed on");
    const bool gathers = gathers_rows(step.grid(), m) || gathers_matrix(step.grid(), m);
    step.require(gathers || !overlap, "there is nothing to overlap the product with");
    step.require(can_narrow(step.schedule()) || wire == Wire::fp32,
                 "only operands of sums travel in bf16: maxima are found again by equality, and attention weighs by "
                 "small differences");
    step.require(can_round() || !bf16, "only sums round to bf16, and with overlap or needed rows no panel is packed");
}

}  // namespace gnnplan
