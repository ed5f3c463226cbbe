#include "planner/enumerate/memoization.hpp"

#include "planner/enumerate/letters.hpp"

namespace gnnplan::enumerate {
namespace {

// Letters by layer, 1 .. L, whatever the direction of execution.
class ByLayer {
public:
    ByLayer(const Orders& forward, const Orders& backward) : forward_(forward), backward_(backward) {}

    int layers() const { return static_cast<int>(forward_.size()); }
    bool forward_is(int layer, Order order) const { return forward_[static_cast<std::size_t>(layer - 1)] == order; }
    bool backward_is(int layer, Order order) const {
        return backward_[static_cast<std::size_t>(layers() - layer)] == order;
    }

private:
    const Orders& forward_;
    const Orders& backward_;
};

using namespace letters;

// G^l reaches layer l in C and is wanted there in C: it never exists in R.
bool gradient_only_in_c(const ByLayer& orders, int layer) {
    return layer < orders.layers() && orders.backward_is(layer + 1, D) && orders.backward_is(layer, S);
}

// H^(l-1) leaves layer l - 1 in C and is wanted there in C. H^0 is placed where it is wanted.
bool input_only_in_c(const ByLayer& orders, int layer) {
    return layer > 1 && orders.forward_is(layer - 1, D) && orders.forward_is(layer, S);
}

// The mask of H^(l-1), which is in C, is needed in R: it would have to move on its own.
bool mask_moves(const ByLayer& orders, int layer) {
    return orders.backward_is(layer, S) && orders.backward_is(layer - 1, D);
}

bool keeps(const ByLayer& orders, int layer, const std::vector<std::int64_t>& widths) {
    if (!orders.forward_is(layer, S)) return false;
    if (!gradient_only_in_c(orders, layer)) return true;
    if (!input_only_in_c(orders, layer)) return false;
    const double in = static_cast<double>(widths[static_cast<std::size_t>(layer - 1)]);
    const double out = static_cast<double>(widths[static_cast<std::size_t>(layer)]);
    return out < in - (mask_moves(orders, layer) ? in / 32 : 0);
}

}  // namespace

OperandChoice paper_operands(const Orders& forward, const Orders& backward, const std::vector<std::int64_t>& widths) {
    const ByLayer orders(forward, backward);
    OperandChoice operands;
    for (int layer = 1; layer <= orders.layers(); ++layer) {
        const auto l = static_cast<std::size_t>(layer);
        const bool again = orders.forward_is(layer, D) && orders.backward_is(layer, D);
        const bool product = again ? widths[l - 1] <= widths[l] : keeps(orders, layer, widths);
        operands.push_back(product ? Operand::product : Operand::gradient);
    }
    return operands;
}

}  // namespace gnnplan::enumerate
