#include "tools/advise/pytorch/pytorch_words.hpp"

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

constexpr auto S = Order::sparse_first;
constexpr auto D = Order::dense_first;

// P stands for several products with A.
std::string matrix_of(const Site& product) { return product.propagates() ? "P" : "A"; }
std::string hops_text(const Site& product) {
    if (!product.propagates()) return "";
    const std::string times = product.hops == 1 ? "once" : fmt::format("{} times", product.hops);
    if (product.teleport == 0) return fmt::format(", where P multiplies by A {}", times);
    return fmt::format(", where P multiplies by A {}, each time with {} of x added to {} of that", times,
                       product.teleport, 1 - product.teleport);
}

// V stands for what the identity takes part in.
std::string mixed_text(const Site& product, const std::string& w) {
    if (product.share == 1) return "";
    return fmt::format(", where V has {:.3g} of {} and {:.3g} of I", product.share, w, 1 - product.share);
}

LayerWords words_with_initial(const Site& product, const std::string& x, const std::string& w) {
    const std::string v = product.share == 1 ? w : "V";
    return {fmt::format("T @ {}, where T has {} of A @ {} and {} of h0, what is made before layer 1{}", v,
                        1 - product.teleport, x, product.teleport, mixed_text(product, w)),
            fmt::format("{}.grad = {} * A.T @ (g @ {}.T); h0.grad adds {} * g @ {}.T; {}.grad = T.T @ g", x,
                        1 - product.teleport, v, product.teleport, v, v)};
}

// The words of a layer that has one order only; autograd takes the transpose of each product, the last one first.
LayerWords words_of_one_order(const Site& product, bool cached, const std::string& x, const std::string& w) {
    const std::string of_weight = w + ".grad = M.T @ g";
    switch (product.reduce) {
        case Reduce::sum:
            if (cached) return {fmt::format("A @ {}, made once", x), ""};
            if (product.initial >= 0) return words_with_initial(product, x, w);
            return {fmt::format("{} @ {}{}", matrix_of(product), x, hops_text(product)),
                    fmt::format("{}.grad = {}.T @ g", x, matrix_of(product))};
        case Reduce::max:
            if (cached) return {fmt::format("M @ {}, where M = maxima(A, X) is made once", w), of_weight};
            if (x == "X")
                return {fmt::format("M @ {}, where M = maxima(A, X) takes the largest in-neighbour in each column", w),
                        of_weight};
            return {fmt::format("M @ {}, where M = maxima(A, {}) takes the largest in-neighbour in each column", w, x),
                    fmt::format("{}; M.grad = g @ {}.T, which goes to the largest", of_weight, w)};
        case Reduce::attention:
            return {fmt::format("P @ y, where y = {} @ {} and P has the softmax of each edge's score", x, w),
                    fmt::format("y.grad = P.T @ g and what the scores add; {}.grad = {}.T @ y.grad", w, x)};
        case Reduce::cosine:
            return {fmt::format("P @ {}, where P has the softmax of each edge's beta * cosine", x),
                    fmt::format("{}.grad = P.T @ g and what the cosines add", x)};
    }
    return {};
}

LayerWords words_of_sum(const Site& product, const LayerOrders& orders, const std::string& x,
                        const std::string& weight) {
    const std::string w = product.share == 1 ? weight : "V";
    const std::string a = matrix_of(product), hops = hops_text(product) + mixed_text(product, weight);
    if (orders.cached)
        return {fmt::format("({0} @ X) @ {1}, of which {0} @ X is made once{2}", a, w, hops),
                fmt::format("{}.grad = ({} @ X).T @ g", w, a)};
    LayerWords words;
    const std::string first = fmt::format("({} @ {}) @ {}", a, x, w), second = fmt::format("{} @ ({} @ {})", a, x, w);
    words.forward = (orders.forward == S ? first : second) + hops;
    const std::string ag = "(" + a + ".T @ g)";
    if (orders.backward == S) words.backward = fmt::format("{}.grad = {} @ {}.T; ", x, ag, w);
    if (orders.backward == D) words.backward = fmt::format("{}.grad = {}.T @ (g @ {}.T); ", x, a, w);
    words.backward += orders.operand == Operand::product ? fmt::format("{}.grad = ({} @ {}).T @ g", w, a, x)
                                                         : fmt::format("{}.grad = {}.T @ {}", w, x, ag);
    return words;
}

// X of the features, x of a layer's result, else what the layer's first map is called.
std::string operand_of(const SiteGraph& model, const Site& product) {
    int id = product.input;
    while (model.at(id).kind == SiteKind::pointwise && model.at(id).layer == product.layer) id = model.at(id).input;
    const Site& read = model.at(id);
    if (read.kind == SiteKind::input) return "X";
    if (read.kind != SiteKind::linear || read.layer != product.layer) return "x";
    const std::string& symbol = model.parameter(read.parameter).symbol;  // "W1.pool"
    const std::size_t dot = symbol.find('.');
    return dot == std::string::npos ? "x" : symbol.substr(dot + 1);
}

}  // namespace

std::string kept_words(const Site& product) {
    if (product.reduce == Reduce::max) return "maxima(A, X)";
    return product.maps() ? matrix_of(product) + " @ X" : "A @ X, A @ (A @ X) and so on";
}

LayerOrders layer_orders(const Configuration& configuration, const SiteGraph& model, int layer) {
    const auto at = static_cast<std::size_t>(layer - 1);
    LayerOrders orders{configuration.forward[at]};
    const int product = model.products[at];
    orders.cached = configuration.cached_aggregation && (layer == 1 || model.of_features(product));
    orders.backwards = !configuration.backward.empty();
    if (!orders.backwards) return orders;
    orders.backward = configuration.backward[configuration.backward.size() - at - 1];
    orders.operand = configuration.operands[at];
    // Autograd takes the transpose of each forward product, the last one first.
    const Order natural = orders.forward == S ? D : S;
    orders.autograd = !model.product(layer).reorderable() || orders.cached ||
                      ((orders.operand == Operand::product) == (orders.forward == S) &&
                       (orders.backward == natural || orders.backward == Order::none));
    return orders;
}

LayerWords layer_words(const Configuration& configuration, const SiteGraph& model, int layer) {
    const Site& product = model.product(layer);
    const LayerOrders orders = layer_orders(configuration, model, layer);
    const std::string x = operand_of(model, product);
    const std::string w = product.maps() ? model.parameter(product.parameter).symbol : "";
    LayerWords words =
        product.reorderable() ? words_of_sum(product, orders, x, w) : words_of_one_order(product, orders.cached, x, w);
    if (!orders.backwards) words.backward.clear();
    return words;
}

}  // namespace gnnplan::tools
