// The kernel of a product's program, on one piece of the product.
#pragma once

#include "runtime/exec/handlers.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::exec {

// The operands and results of a program, in the order of its lists: the rows of column operands that a piece meets, and
// the rank's rows of row operands and results.
struct Views {
    std::vector<kernels::ConstMatrix> columns;
    std::vector<kernels::Matrix> rows, results;
};

class ProgramKernels {
public:
    // Both outlive the object.
    ProgramKernels(const SpmmStep& step, const StepContext& context) : step_(step), context_(context) {}

    // The operands of the program by their names.
    template <template <class, class> class Operands>
    Operands<kernels::ConstMatrix, kernels::Matrix> named(const Views& views) const {
        using Named = Operands<kernels::ConstMatrix, kernels::Matrix>;
        return step_.named<Named>(views.columns, views.rows, views.results);
    }

    // Begins a piece: `of_edges` are the values of its nonzeros that the program makes or reads, if it does, and `last`
    // says whether it is the last piece.
    void begin_piece(kernels::Matrix of_edges, bool last) { of_edges_ = of_edges, last_ = last; }
    // The program on that piece, or a part of it. If `accumulate`, the results hold those of earlier pieces.
    void compute(const kernels::Csr& nonzeros, const Views& views, bool accumulate, kernels::PanelRoom room) const;

private:
    void attend(const kernels::Csr& nonzeros, const Views& views, bool accumulate) const;
    void attend_back(const kernels::Csr& nonzeros, const Views& views, bool accumulate) const;
    bool drops(bool may_drop) const { return may_drop && context_.settings.training; }
    // `wide` and `by_heads` are a wide operand and one by heads.
    kernels::Attention attention(TensorId wide, TensorId by_heads) const;
    template <class Vertices>
    kernels::AttentionDropout dropout(TensorId by_heads, const Vertices& rows, const Vertices& columns) const;

    const SpmmStep& step_;
    const StepContext& context_;
    kernels::Matrix of_edges_;
    bool last_ = false;
};

}  // namespace gnnplan::exec
