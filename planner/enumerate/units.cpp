#include "planner/enumerate/units.hpp"

#include "planner/enumerate/letters.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace gnnplan::enumerate {
namespace {

using namespace letters;

// Adds up one epoch while following the layout of the matrix at hand: in R after GEMM, in C after SpMM.
class PaperCount {
public:
    explicit PaperCount(const std::vector<std::int64_t>& widths) : widths_(widths) {}

    // Forward S: SpMM and redistribution of f_(l-1); forward D: of f_l. Where the layer wants the other layout than it
    // gets, one more redistribution of f_(l-1); H^0 is wherever layer 1 wants it.
    void forward(int layer, Order order) {
        const bool input_fits = layer == 1 || in_r_ == (order != S);
        if (!input_fits) units_.redistribution += width(layer - 1);
        product(order == S ? width(layer - 1) : width(layer));
        in_r_ = order == S;
    }
    // The loss reads whole rows.
    void loss(int layers) {
        if (!in_r_) units_.redistribution += width(layers);
        in_r_ = true;
    }
    // Backward S: on G^l, leaving the gradient in R; backward D: on G^l (W^l)^T, leaving it in C.
    void backward(int layer, Order order) {
        const bool gradient_fits = in_r_ == (order != S);
        if (!gradient_fits) units_.redistribution += width(layer);
        product(order == S ? width(layer) : width(layer - 1));
        in_r_ = order == S;
    }
    // With D in both passes neither A^T H^(l-1) nor A G^l exists: one more SpMM of the narrower, there and back.
    void recompute(int layer) {
        const double narrower = std::min(width(layer - 1), width(layer));
        units_.sparse += narrower;
        units_.redistribution += 2 * narrower;
    }
    Units units() const { return units_; }

private:
    double width(int layer) const { return static_cast<double>(widths_[static_cast<std::size_t>(layer)]); }
    void product(double width) {
        units_.sparse += width;
        units_.redistribution += width;
    }

    const std::vector<std::int64_t>& widths_;
    Units units_;
    bool in_r_ = true;
};

}  // namespace

Units paper_units(const OrderPair& orders, const std::vector<std::int64_t>& widths) {
    PaperCount count(widths);
    const int layers = static_cast<int>(orders.forward.size());
    for (int layer = 1; layer <= layers; ++layer) {
        count.forward(layer, orders.forward[static_cast<std::size_t>(layer - 1)]);
    }
    count.loss(layers);
    for (int layer = layers; layer >= 1; --layer) {
        const Order order = orders.backward[static_cast<std::size_t>(layers - layer)];
        if (order != S && orders.forward[static_cast<std::size_t>(layer - 1)] != S) count.recompute(layer);
        count.backward(layer, order);
    }
    return count.units();
}

std::vector<bool> pareto_front(std::span<const Units> units) {
    // Sweep by increasing redistribution: an entry is on the front when its sparse units are below those of every entry
    // with fewer redistribution units, and the least among those with as many.
    std::vector<std::size_t> order(units.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(units[a].redistribution, units[a].sparse) <
               std::pair(units[b].redistribution, units[b].sparse);
    });
    std::vector<bool> front(units.size(), false);
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < order.size();) {
        const Units& first = units[order[i]];
        const bool on_front = first.sparse < best;
        best = std::min(best, first.sparse);
        for (; i < order.size() && units[order[i]].redistribution == first.redistribution; ++i) {
            front[order[i]] = on_front && units[order[i]].sparse == first.sparse;
        }
    }
    return front;
}

}  // namespace gnnplan::enumerate
