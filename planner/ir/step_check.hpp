// The requirements of a kind of step on its operands. Types and layouts of residents follow from their roles, which
// check_tensors has checked before.
#pragma once

#include "planner/ir/schedule_checks.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace gnnplan {

class StepCheck {
public:
    StepCheck(const Schedule& schedule, const Step& step) : schedule_(schedule), where_("step " + step.name) {}

    const Schedule& schedule() const { return schedule_; }
    const Grid& grid() const { return schedule_.grid; }
    const Tensor& at(TensorId id) const { return tensor_of(schedule_, id); }

    void require(bool condition, const char* what) const {
        if (!condition) refuse(where_, what);
    }
    void typed(TensorId id, DType dtype) const {
        require(at(id).dtype == dtype, "an operand has the wrong element type");
    }
    bool placed(TensorId id, const Layout& layout) const { return same_placement(at(id).layout, layout, grid()); }
    // As placed(), but the tensor may have been a partial sum that is complete by now; another check sees the order.
    bool sum_placed(TensorId id, const Layout& layout) const {
        return same_placement({at(id).layout.rows, at(id).layout.columns, {}}, layout, grid());
    }
    void in_layout(TensorId id, const Layout& layout) const {
        require(placed(id, layout), "an operand is in the wrong layout");
    }
    void shaped(TensorId id, std::int64_t rows, std::int64_t columns) const {
        require(at(id).rows == rows && at(id).columns == columns, "operand shapes do not fit");
    }
    void same_shape(TensorId a, TensorId b) const {
        shaped(a, at(b).rows, at(b).columns);
        require(at(a).space == at(b).space, "operands are about different rows");
    }
    void with_role(TensorId id, std::initializer_list<Role> roles) const {
        require(std::find(roles.begin(), roles.end(), at(id).role) != roles.end(), "an operand has the wrong role");
    }
    void distinct(TensorId a, TensorId b) const { require(a != b, "input and output are the same tensor"); }
    // A dense matrix of floats that is no sum over ranks yet.
    void dense(TensorId id) const {
        typed(id, DType::f32);
        with_role(id, {Role::transient, Role::cached, Role::features});
        require(at(id).layout.partial.empty(), "an operand is a partial sum");
    }
    // A matrix of floats by which rows are multiplied, whole on every rank: a parameter, or what is made of one.
    void multiplier(TensorId id) const {
        typed(id, DType::f32), with_role(id, {Role::weight, Role::transient}), in_layout(id, layout_replicated());
    }
    // Residents other than weights and moments are never written after load.
    void written(TensorId id) const { with_role(id, {Role::transient, Role::cached}); }
    // `id` has `columns` values for each nonzero of `matrix`, which are still to be summed over the axes of `partial`.
    // Where they were summed before, every rank has the whole sum now.
    void edges(TensorId id, TensorId matrix, const Axes& partial, std::int64_t columns = 1) const {
        with_role(id, {Role::edges});
        require(at(id).columns == columns, "there are other numbers of values for each nonzero");
        require(at(id).structure == matrix, "values are of the nonzeros of another matrix");
        require(partial.empty() || at(id).layout.partial == partial, "values are no sum over ranks");
    }
    // A class, or a bit for each column and whether it is known, and a subset for each row that a rank has logits of.
    void labelled(TensorId logits, TensorId labels, TensorId subset, const std::optional<TensorId>& known) const {
        dense(logits), written(logits);
        with_role(labels, {Role::labels}), with_role(subset, {Role::subset});
        of_rows(subset, logits);
        const bool bits = at(labels).dtype == DType::bits;
        bits ? of_elements(labels, logits) : of_rows(labels, logits);
        if (!known) return;
        require(bits, "only labels that are bits may be unknown");
        with_role(*known, {Role::known_labels}), of_elements(*known, logits);
    }
    // One value for each row of `matrix`, or for each of its elements, where it is.
    void of_rows(TensorId id, TensorId matrix) const {
        shaped(id, at(matrix).rows, 1), in_layout(id, {at(matrix).layout.rows, {}, {}});
        require(at(id).space == at(matrix).space, "values are about other rows");
    }
    void of_elements(TensorId id, TensorId matrix) const { same_shape(id, matrix), in_layout(id, at(matrix).layout); }
    // A row of sums that every rank has a summand of.
    void scalar(TensorId id, std::int64_t columns) const {
        written(id), typed(id, DType::f64), shaped(id, 1, columns), in_layout(id, layout_partial());
    }

private:
    const Schedule& schedule_;
    std::string where_;
};

}  // namespace gnnplan
