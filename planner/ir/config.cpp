#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/kept.hpp>

#include <algorithm>

namespace gnnplan {

namespace {

template <class Letters>
std::string letters_of(const Letters& choices) {
    std::string letters;
    for (const auto choice : choices) letters += static_cast<char>(choice);
    return letters;
}

}  // namespace

std::string text(const Orders& orders) { return letters_of(orders); }

std::string text(const OperandChoice& operands) { return letters_of(operands); }

Orders parse_orders(std::string_view letters) {
    Orders orders;
    for (const char letter : letters) {
        if (letter != 'S' && letter != 'D' && letter != '-') {
            throw Error(ErrorCode::usage, "orders are written with S and D, not '" + std::string(1, letter) + "'",
                        std::string(letters), "S: sparse matrix first, D: dense weights first, one letter per layer");
        }
        orders.push_back(static_cast<Order>(letter));
    }
    return orders;
}

OperandChoice parse_operands(std::string_view letters) {
    OperandChoice operands;
    for (const char letter : letters) {
        if (letter != 'T' && letter != 'G') {
            throw Error(ErrorCode::usage, "operands are written with T and G, not '" + std::string(1, letter) + "'",
                        std::string(letters), "T: (A^T H)^T G, G: H^T (A G), one letter per layer");
        }
        operands.push_back(static_cast<Operand>(letter));
    }
    return operands;
}

const std::vector<std::string>& scheme_names() {
    static const std::vector<std::string> names{"rdm", "1d", "1.5d", "2d", "3d", "cut"};
    return names;
}

std::string scheme_of(const Distribution& on) {
    const Grid& grid = on.grid;
    if (on.sharing == Sharing::cut) return "cut";
    if (grid.grouped()) return "groups";
    if (grid.y == 1 && grid.z == 1) return grid.x == 1 ? "rdm" : "1d";
    if (grid.y == 1) return "1.5d";
    switch (on.sharing) {
        case Sharing::replicated: return "rdm";
        case Sharing::sharded: return grid.z == 1 ? "2d" : "3d";
        case Sharing::block_distributed: return "1.5d";
        case Sharing::cut: break;
    }
    return "";
}

std::optional<Distribution> distribution_of(std::string_view scheme, const Grid& grid) {
    if (scheme == "groups" || grid.grouped()) {
        const bool fits = scheme == "groups" && grid.grouped() && grid.z == 1;
        return fits ? std::optional(Distribution{Sharing::replicated, grid}) : std::nullopt;
    }
    const auto shared = [&](Sharing sharing) { return Distribution{grid.y > 1 ? sharing : Sharing::replicated, grid}; };
    if (scheme == "rdm") return shared(Sharing::replicated);
    if (scheme == "1d" && grid.y == 1 && grid.z == 1) return shared(Sharing::replicated);
    if (scheme == "1.5d" && (grid.y == 1 || grid.z == 1)) return shared(Sharing::block_distributed);
    if (scheme == "cut" && grid.x > 1 && grid.z == 1) return Distribution{Sharing::cut, grid};
    if ((scheme == "2d" && grid.z == 1) || scheme == "3d") return shared(Sharing::sharded);
    return std::nullopt;
}

int replication_of(std::string_view scheme, const Grid& grid) {
    if (scheme == "rdm") return grid.y;
    return scheme == "1.5d" ? grid.y * grid.z : 1;
}

Grid Configuration::grid_of_ranks() const {
    Grid numbered = grid;
    numbered.nearest = node_axis == NodeAxis::x ? Axis::x : node_axis == NodeAxis::z ? Axis::z : Axis::y;
    return numbered;
}

std::string other_results(const Configuration& configuration) {
    if (!configuration.trains_apart()) return "";
    const std::string groups =
        "results differ from full-batch training: " + std::to_string(configuration.grid.x) + " groups of ranks train ";
    const std::string page = "; docs/cuts.md says by how much)";
    if (!configuration.delay) return groups + "apart, each on its part of the graph (0c" + page;
    const std::string epochs = std::to_string(*configuration.delay);
    return groups + "on sums of each other's that are up to " + std::to_string(2 * *configuration.delay) +
           " epochs old (cd-" + epochs + page;
}

std::vector<KeptProduct> products_kept(const Configuration& configuration) {
    std::vector<KeptProduct> kept;
    for (std::size_t i = 0; i < std::min(configuration.forward.size(), configuration.operands.size()); ++i) {
        const bool across_epochs = i == 0 && configuration.cached_aggregation;
        const bool aggregated_first = configuration.forward[i] == Order::sparse_first;
        if (across_epochs || (aggregated_first && configuration.operands[i] == Operand::product))
            kept.push_back({static_cast<int>(i) + 1, across_epochs});
    }
    return kept;
}

std::vector<std::string> kept_products(const Configuration& configuration) {
    std::vector<std::string> kept;
    for (const KeptProduct& product : products_kept(configuration))
        kept.push_back("T" + std::to_string(product.layer) + (product.across_epochs ? " across epochs" : ""));
    return kept;
}

std::int64_t paper_id(const Orders& forward, const Orders& backward) {
    std::int64_t id = 0;
    for (const Orders* pass : {&backward, &forward}) {
        for (const Order order : *pass) id = 2 * id + (order == Order::dense_first ? 1 : 0);
    }
    return id;
}

}  // namespace gnnplan
