#include "planner/ir/schedule_checks.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

// Types and layouts of residents follow from their roles, which check_tensors has checked before.
class StepChecker {
public:
    StepChecker(const Schedule& schedule, const Step& step) : schedule_(schedule), where_("step " + step.name) {}

    void check(const Operation& operation) const {
        std::visit([&](const auto& s) { check(s); }, operation);
    }

private:
    void require(bool condition, const char* what) const {
        if (!condition) refuse(where_, what);
    }
    const Tensor& at(TensorId id) const { return tensor_of(schedule_, id); }
    void typed(TensorId id, DType dtype) const {
        require(at(id).dtype == dtype, "an operand has the wrong element type");
    }
    void in_layout(TensorId id, const Layout& layout) const {
        require(same_placement(at(id).layout, layout, schedule_.grid), "an operand is in the wrong layout");
    }
    void shaped(TensorId id, std::int64_t rows, std::int64_t columns) const {
        require(at(id).rows == rows && at(id).columns == columns, "operand shapes do not fit");
    }
    void same_shape(TensorId a, TensorId b) const { shaped(a, at(b).rows, at(b).columns); }
    void with_role(TensorId id, std::initializer_list<Role> roles) const {
        require(std::find(roles.begin(), roles.end(), at(id).role) != roles.end(), "an operand has the wrong role");
    }
    void distinct(TensorId a, TensorId b) const { require(a != b, "input and output are the same tensor"); }
    // What a dense step may write: residents other than weights and moments are never written after load.
    void dense(TensorId id) const {
        typed(id, DType::f32);
        with_role(id, {Role::transient, Role::cached, Role::features});
        require(at(id).layout.partial.empty(), "an operand is a partial sum");
    }
    void written(TensorId id) const { with_role(id, {Role::transient, Role::cached}); }

    bool placed(TensorId id, const Layout& layout) const {
        return same_placement(at(id).layout, layout, schedule_.grid);
    }

    void check(const SpmmStep& s) const {
        with_role(s.matrix, {Role::adjacency});
        const Tensor& matrix = at(s.matrix);
        dense(s.in), distinct(s.in, s.out);
        typed(s.out, DType::f32), written(s.out);
        in_layout(s.in, dense_layout(matrix));
        Layout product{Axes::parse("x"), dense_layout(matrix).columns, {}};
        const std::optional<Axis> axis = contraction_axis(schedule_.grid, matrix);
        if (axis) product.partial = Axes::parse(*axis == Axis::y ? "y" : "z");
        in_layout(s.out, product);
        shaped(s.in, matrix.columns, at(s.out).columns), shaped(s.out, matrix.rows, at(s.in).columns);
        require((s.exchange != Exchange::none) == gathers_rows(schedule_.grid), "the exchange does not fit the grid");
        const bool gathers = gathers_rows(schedule_.grid) || gathers_matrix(schedule_.grid, matrix);
        require(gathers || !s.overlap, "there is nothing to overlap the product with");
        require(packs_panels(s.exchange, s.overlap) || !s.bf16, "with overlap or needed rows no panel is packed");
    }
    void check(const IndexStep& s) const {
        with_role(s.matrix, {Role::adjacency});
        require(gathers_rows(schedule_.grid), "the grid has no rows to ask for");
        require(!at(s.matrix).structure, "the matrix uses another one's nonzeros, whose rows are asked for");
    }
    void check(const ReduceScatterStep& s) const {
        distinct(s.in, s.out), written(s.in), written(s.out), typed(s.in, DType::f32), typed(s.out, DType::f32);
        same_shape(s.in, s.out);
        const Layout& layout = at(s.in).layout;
        require(layout.partial.size() == 1, "its input is no sum over one axis");
        const Layout out{Axes::parse(layout.rows.text() + layout.partial.text()), layout.columns, {}};
        in_layout(s.out, out);
        require(schedule_.grid.extent(layout.partial[0]) > 1, "there is nothing to sum over");
    }
    void check(const GemmStep& s) const {
        dense(s.in), dense(s.out), written(s.out), distinct(s.in, s.out);
        with_role(s.weight, {Role::weight});
        const bool by_rows = placed(s.in, layout_r()) && placed(s.out, layout_r());
        const bool by_columns = placed(s.in, layout_f()) && placed(s.out, layout_c()) && !s.transposed;
        require(by_rows || by_columns, "an operand is in the wrong layout");
        const Tensor& w = at(s.weight);
        shaped(s.in, at(s.out).rows, s.transposed ? w.columns : w.rows);
        shaped(s.out, at(s.in).rows, s.transposed ? w.rows : w.columns);
    }
    void check(const RedistributeStep& s) const {
        written(s.out), distinct(s.in, s.out), same_shape(s.in, s.out);
        with_role(s.in, {Role::transient, Role::cached, Role::features});
        require(at(s.in).dtype == at(s.out).dtype, "element types differ");
        require(at(s.in).dtype == DType::f32 || at(s.in).dtype == DType::bits, "only f32 and bits are redistributed");
        for (const TensorId id : {s.in, s.out}) {
            const bool rests = placed(id, layout_c()) || placed(id, layout_r()) || placed(id, layout_f());
            require(rests, "only layouts C, R and F are redistributed");
        }
    }
    void check(const WeightGradStep& s) const {
        dense(s.left), dense(s.right), written(s.gradient), typed(s.gradient, DType::f32);
        const bool by_rows = placed(s.left, layout_r()) && placed(s.right, layout_r());
        const bool by_columns = placed(s.left, layout_f()) && placed(s.right, layout_c());
        require(by_rows || by_columns, "an operand is in the wrong layout");
        in_layout(s.gradient, layout_partial());
        require(at(s.left).rows == at(s.right).rows, "operand shapes do not fit");
        shaped(s.gradient, at(s.left).columns, at(s.right).columns);
    }
    void check(const AllReduceStep& s) const {
        written(s.tensor), in_layout(s.tensor, layout_partial());
        require(at(s.tensor).dtype == DType::f32 || at(s.tensor).dtype == DType::f64, "only floats are summed");
    }
    void check(const MapStep& s) const {
        dense(s.tensor);
        const bool has_operand = s.operand.has_value();
        const bool has_out = s.out.has_value();
        if (s.vertices) {
            with_role(*s.vertices, {Role::vertices}), shaped(*s.vertices, at(s.tensor).rows, 1);
            in_layout(*s.vertices, {at(s.tensor).layout.rows, {}, {}});
            require(s.op == MapOp::activate || s.op == MapOp::dropout, "only dropout is keyed by vertices");
        }
        switch (s.op) {
            case MapOp::activate:
                written(s.tensor);
                if (has_operand) with_role(*s.operand, {Role::bias}), shaped(*s.operand, 1, at(s.tensor).columns);
                if (has_out) mask_of(s.tensor, *s.out);
                return;
            case MapOp::dropout:
                require(!has_operand && has_out, "dropout takes an output and no operand");
                with_role(s.tensor, {Role::features});
                dense(*s.out), written(*s.out), same_shape(s.tensor, *s.out);
                return in_layout(*s.out, at(s.tensor).layout);
            case MapOp::positive_mask:
                require(!has_operand && has_out, "positive_mask takes an output and no operand");
                return mask_of(s.tensor, *s.out);
            case MapOp::apply_mask:
                written(s.tensor), require(has_operand && !has_out, "apply_mask takes an operand and no output");
                typed(*s.operand, DType::bits), same_shape(s.tensor, *s.operand);
                return in_layout(*s.operand, at(s.tensor).layout);
            case MapOp::column_sum:
                require(!has_operand && has_out, "column_sum takes an output and no operand");
                typed(*s.out, DType::f32), written(*s.out), shaped(*s.out, 1, at(s.tensor).columns);
                require(placed(s.tensor, layout_r()) || placed(s.tensor, layout_c()),
                        "replicated rows would count twice");
                return in_layout(*s.out, layout_partial());
        }
    }
    void mask_of(TensorId tensor, TensorId mask) const {
        typed(mask, DType::bits), written(mask), same_shape(tensor, mask);
        in_layout(mask, at(tensor).layout);
    }
    // One label for each row that a rank has logits of.
    void labelled(TensorId logits, TensorId labels, TensorId subset) const {
        dense(logits), written(logits);
        with_role(labels, {Role::labels}), with_role(subset, {Role::subset});
        for (const TensorId id : {labels, subset}) {
            shaped(id, at(logits).rows, 1), in_layout(id, {at(logits).layout.rows, {}, {}});
        }
    }
    void scalar(TensorId id, std::int64_t columns) const {
        written(id), typed(id, DType::f64), shaped(id, 1, columns), in_layout(id, layout_partial());
    }
    void check(const LossStep& s) const {
        labelled(s.logits, s.labels, s.subset), scalar(s.loss, 1);
        require(placed(s.logits, layout_r()) || placed(s.logits, layout_c()), "an operand is in the wrong layout");
    }
    void check(const ScoreStep& s) const {
        labelled(s.logits, s.labels, s.subset), scalar(s.counts, 3), in_layout(s.logits, layout_r());
    }
    void check(const UpdateStep& s) const {
        with_role(s.weight, {Role::weight, Role::bias}), with_role(s.gradient, {Role::transient});
        for (const TensorId id : {s.moment1, s.moment2}) {
            with_role(id, {Role::moment}), same_shape(id, s.weight);
        }
        distinct(s.moment1, s.moment2);
        typed(s.gradient, DType::f32), in_layout(s.gradient, layout_partial()), same_shape(s.gradient, s.weight);
    }

    const Schedule& schedule_;
    std::string where_;
};

void check_ids(const Schedule& schedule, const Step& step, const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
        if (id < 0 || static_cast<std::size_t>(id) >= schedule.tensors.size()) {
            refuse("step " + step.name, "it names tensor " + std::to_string(id) + ", which does not exist");
        }
    }
}

}  // namespace

void check_step(const Schedule& schedule, const Step& step) {
    const Operands operands = operands_of(step.operation);
    check_ids(schedule, step, operands.reads);
    check_ids(schedule, step, operands.writes);
    StepChecker(schedule, step).check(step.operation);
}

}  // namespace gnnplan
