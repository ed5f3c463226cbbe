// Sites with heads work on matrices head by head (ir/steps/head.hpp): attention, and cosines with one head.
#pragma once

#include "planner/lower/builder.hpp"

#include <string>
#include <vector>

namespace gnnplan::lower {

class HeadSteps {
public:
    // Both outlive the object.
    HeadSteps(Builder& builder, const Site& site) : builder_(builder), site_(site) {}

    // Where matrices by heads are beside wide ones in C.
    Place place() const;
    // A matrix with a column for each head and the rows of `of`.
    TensorId by_heads(const std::string& name, TensorId of, const Layout& layout) const;
    // By heads: the sums of x * y over the columns of each head, y being like x or a parameter; partial sums where x's
    // columns are cut within heads.
    TensorId dot(const std::string& step, TensorId x, TensorId y, const std::string& out) const;
    // The same once it is summed over the ranks that have other columns of the same heads, where there are such.
    TensorId summed(const std::string& step, TensorId by_heads) const;
    void emit(const std::string& step, HeadOp op, std::vector<TensorId> in, TensorId out) const;

private:
    Builder& builder_;
    const Site& site_;
};

// Values of the nonzeros of A^T of layer `l`, where A has them.
TensorId edge_transpose(Builder& builder, const std::string& step, int l, TensorId in, const std::string& out);

}  // namespace gnnplan::lower
